"""Compare checkpoints to adapt: cross-validated scores of new classifiers on their features of labelled pairs.

    python -m trainers readers events.csv --columns first=Text,second=Other,label=Verdict
    python -m trainers readers events.csv nli-esim guest-minilm

Then `python -m trainers adapt` the best one. At most 2,000 rows are used, drawn at random.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from core.adaptation.readers import SUGGESTED, reader_score, said, sampled
from core.checkpoint import load_named
from core.data import read
from core.errors import RunError
from core.evaluation.predict import check_texts
from core.progress import bar
from trainers.options import add_options, columns


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers readers`."""
    parser.add_argument("file", metavar="FILE", type=Path, help="labelled pairs, in any layout or with --columns")
    known = f"checkpoints to compare (default: {' '.join(SUGGESTED)})"
    parser.add_argument("checkpoints", nargs="*", metavar="CHECKPOINT", default=SUGGESTED, help=known)
    add_options(parser, "--columns")


def run(args: argparse.Namespace) -> int:
    """Read, cross-validate, print."""
    dataset = read(args.file, columns=columns(args.columns))
    labelled = [row for row in dataset.rows if row.label is not None]
    if not labelled:
        raise RunError(f"{dataset.name} has no labels: name the column of labels with --columns")
    rows = [labelled[at] for at in sampled(len(labelled))]
    scores = []
    for name in args.checkpoints:
        checkpoint = load_named(name)
        check_texts(checkpoint, dataset)
        with bar(len(rows)) as shown:
            scores.append(
                reader_score(
                    checkpoint,
                    [(row.first, row.second) for row in rows],
                    [row.shown_label for row in rows],
                    [row.group or "" for row in rows] if dataset.ranking else [],
                    shown.update,
                )
            )
    print(said(scores))
    return 0
