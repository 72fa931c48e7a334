"""Measure the faithfulness of a model's explanations on a data file, by erasing words and changing attention.

    python -m trainers faithfulness nli-two-sided ../shared/data/snli/snli_1.0_dev.jsonl
    python -m trainers faithfulness nli-esim FILE --rows 100 --json
    python -m trainers faithfulness pretrained/nli-esim FILE --card "SNLI dev"

For each method: sufficiency and comprehensiveness (DeYoung et al. 2020) compared with the mean of random orders; also
how often permuted attention changes the verdict, and Kendall's τ-b between link weights and effects. All with 95 %
intervals over the rows. --card writes the figures to the checkpoint's card under this data set name.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from core.checkpoint import open_checkpoint
from core.data import read
from core.effects.faithfulness import faithfulness
from core.effects.question import Question
from core.errors import RunError
from core.evaluation import faithfulness_table
from core.evaluation.intervals import mean_of
from core.evaluation.predict import check_texts
from core.evidence.faithfulness import STEPS, Faithfulness
from core.json_types import JsonMapping, JsonObject
from core.progress import bar
from core.reading.reader import PairError
from trainers.card import report
from trainers.commands import as_typed
from trainers.options import add_options, columns
from trainers.tables import text
from trainers.training_data import sample


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers faithfulness`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", metavar="FILE", type=Path, help="a data file; its labels are not read")
    parser.add_argument("--rows", type=int, default=500, help="sample size (default: %(default)s; 0: all rows)")
    parser.add_argument("--seed", type=int, default=1, help="for random orders and permutations (default: 1)")
    add_options(parser, "--json", "--card", "--columns")


def run(args: argparse.Namespace) -> int:
    """Measure row by row, print, and write the card if requested."""
    checkpoint = open_checkpoint(args.checkpoint, args.class_names)
    dataset = sample(read(args.file, columns=columns(args.columns), labelled=False), args.rows)
    check_texts(checkpoint, dataset)
    measured = []
    with bar(len(dataset.rows)) as shown:
        for number, row in enumerate(dataset.rows):
            with contextlib.suppress(PairError):  # a text without words
                asked = Question(checkpoint, row.first, row.second)
                measured.append(faithfulness(asked, seed=args.seed + number))
            shown.update()
    if not measured:
        raise RunError(f"{checkpoint.name} can read no row of {args.file.name}; give a file with sentences")
    figures = {"rows": len(measured), "seed": args.seed, **summary(measured)}
    figures["command"] = as_typed("trainers faithfulness", checkpoint.name, args.file.name, **args.given)
    return report(checkpoint, args, "faithfulness", figures, table)


def summary(measured: Sequence[Faithfulness]) -> JsonObject:
    """Means over rows with 95 % intervals: curves and their mean (AOPC) by method, effects of moved attention."""
    ways = {}
    for way in measured[0].curves:
        curves = [row.curves[way] for row in measured if way in row.curves]
        ways[way] = {
            name: {
                "steps": dict(
                    zip(STEPS, np.mean([getattr(curve, name) for curve in curves], axis=0).tolist(), strict=True)
                ),
                **mean_of([curve.aopc[number] for curve in curves]),
            }
            for number, name in enumerate(("sufficiency", "comprehensiveness"))
        }
    moved = [row.moved for row in measured if row.moved is not None]
    by_verdict: dict[str, list[float]] = {}
    for row in measured:
        if row.moved is not None:
            by_verdict.setdefault(row.verdict, []).append(row.moved.changed / row.moved.permutations)
    taus = [float(np.mean([tau for tau in row.tau_b if tau is not None])) for row in measured if any(row.tau_b)]
    return {
        "ways": ways,
        "permutations": mean_of([one.changed / one.permutations for one in moved]) if moved else None,
        "permutations_by_verdict": {name: mean_of(by_verdict[name]) for name in sorted(by_verdict)},
        "tau_b": mean_of(taus) if taus else None,
    }


def table(result: JsonMapping) -> str:
    """The result as text, with methods sorted by comprehensiveness."""
    stored = cast(faithfulness_table.Stored, {result["file"]: result})
    shown = text(faithfulness_table.table(stored))
    return f"{result['checkpoint']}, mean and 95 % interval\n\n{shown}\n\n{faithfulness_table.in_words(stored)}"
