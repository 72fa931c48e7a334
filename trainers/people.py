"""Measure how often word effects agree with the words that people give as reasons.

    python -m trainers people nli-two-sided DATA/snli/esnli_dev.jsonl
    python -m trainers people nli-esim FILE --rows 200 --methods dropped integrated-gradients --json
    python -m trainers people pretrained/nli-two-sided FILE --half 1 --card "e-SNLI dev"

The file has human explanations or marked words for each pair, in e-SNLI's or ERASER's columns. A content word is named
by people if at least two of three explanations use its stem. For each side and label, over the correctly classified
pairs: is the word with the largest effect named (P@1), and how high do all named ones rank (average precision)? Every
method is compared with chance and with the words missing from the other text. --half keeps the rows whose id has this
CRC-32 modulo 2: alternative weights of `taken-away` were tuned on half 0, so half 1 is for reporting. --card writes the
figures to the checkpoint's card under this data set name.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np

from core.card import CardPeople
from core.checkpoint import open_checkpoint
from core.data import read
from core.data.labels import Scale
from core.effects import METHODS, Question
from core.errors import RunError
from core.evaluation import people_table
from core.evaluation.faithfulness_table import interval
from core.evaluation.people import Agreement, agreements, half_of, summary
from core.evaluation.predict import check_texts
from core.json_types import JsonMapping, JsonObject
from core.progress import bar
from trainers.card import report
from trainers.commands import as_typed
from trainers.options import add_options, check_labels, columns, mapped, named_by, scales_of
from trainers.tables import text
from trainers.training_data import sample

ROWS = 500


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers people`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", metavar="FILE", type=Path, help="pairs with people's explanations or marked words")
    parser.add_argument("--rows", type=int, default=ROWS, help="sample size (default: %(default)s; 0: all rows)")
    parser.add_argument("--half", type=int, choices=(0, 1), help="only the rows of this half, by a hash of their ids")
    parser.add_argument("--methods", nargs="+", action="extend", choices=METHODS, metavar="METHOD",
                        help=f"{', '.join(METHODS)} (default: all)")  # fmt: skip
    add_options(parser, "--label", "--card", "--json", "--columns")


def run(args: argparse.Namespace) -> int:
    """Measure pair by pair, print, and write the card if requested."""
    checkpoint = open_checkpoint(args.checkpoint, args.class_names)
    (scale,) = scales_of([checkpoint], mapped(args.counts_as))
    dataset = read(args.file, named=named_by([checkpoint], scale.counts_as), columns=columns(args.columns))
    check_texts(checkpoint, dataset)
    check_labels(checkpoint, scale, dataset.name, {*dataset.labels})
    if args.half is not None:
        dataset = dataclasses.replace(dataset, rows=tuple(row for row in dataset.rows if half_of(row.id) == args.half))
    dataset = sample(dataset, args.rows)
    found, right = list[Agreement](), 0
    with bar(len(dataset.rows)) as shown:
        for row, place in zip(dataset.rows, scale.of([row.label for row in dataset.rows]).tolist(), strict=True):
            asked = Question(checkpoint, row.first, row.second)
            if _answer(scale, asked) == place:
                right += 1
                found += agreements(asked, dataclasses.replace(row, label=scale.names[place]), args.methods or METHODS)
            shown.update()
    if not found:
        raise RunError(
            f"no pair of {args.file.name} that {checkpoint.name} judges right has words that people name; give a file "
            "with explanations or marked words"
        )
    figures: JsonObject = {"rows": len(dataset.rows), "judged_right": right, "sides": summary(found)}
    figures["command"] = as_typed("trainers people", checkpoint.name, args.file.name, **args.given)
    return report(checkpoint, args, "people", figures, lambda result: "\n".join(lines(result)))


def _answer(scale: Scale, asked: Question) -> int:
    """The index of the model's answer on the scale."""
    return int(scale.sums(np.array([asked.explanation.probabilities])).argmax())


def lines(result: JsonMapping) -> Iterator[str]:
    """The result as text: one table per side."""
    yield f"{result['checkpoint']}: {result['judged_right']:,} of {result['rows']:,} pairs judged right"
    for name, labels in result["sides"].items():
        items = ", ".join(f"{label} {own['items']:,}" for label, own in labels.items())
        yield f"\nThe {name} ({items}):"
        figures = cast(CardPeople, {**result, "sides": {name: labels}})
        yield text([{**row} for row in people_table.table({result["file"]: figures}, interval)])
