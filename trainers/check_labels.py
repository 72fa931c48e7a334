"""Check labels: list the rows of a file whose label is least probable by a model that learned from the other rows.

    python -m trainers check-labels nli-two-sided FILE --out suspects.csv
    python -m trainers check-labels nli-two-sided FILE --noise 0.1

The classifier is fitted to the checkpoint's features in five folds; rows with a text in common are in one fold. --noise
tells how well this works on FILE: it changes this share of the labels to others at random, and prints how many of them
are found, and the area under the ROC curve (1: all changed labels come first, .5: chance).
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

import numpy as np

from core.adaptation.features import feature_vectors
from core.adaptation.label_check import injected, of_features
from core.checkpoint import open_checkpoint
from core.data import Example, read
from core.errors import RunError
from core.evaluation.predict import check_texts
from core.files import check_writable, write_whole
from core.json_types import JsonObject
from core.progress import bar
from core.spreadsheet import csv_text
from core.wording import counted
from trainers.options import add_options, columns
from trainers.tables import told

_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers check-labels`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", metavar="FILE", type=Path, help="labelled pairs, in any layout or with --columns")
    parser.add_argument("--noise", type=float, metavar="SHARE", help="the share of labels to change and find again")
    parser.add_argument("--rows", type=int, metavar="N", help="use N rows, drawn at random")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all rows with the probabilities as CSV")
    add_options(parser, "--columns", "--json")


def run(args: argparse.Namespace) -> int:
    """Read, fit, print."""
    if args.noise is not None and not 0 < args.noise < 1:
        raise RunError("--noise must be between 0 and 1")
    if args.out:
        check_writable(args.out, "--out")
    checkpoint = open_checkpoint(args.checkpoint, args.class_names)
    dataset = read(args.file, columns=columns(args.columns))
    check_texts(checkpoint, dataset)
    rows = _drawn(dataset.rows, args.rows)
    pairs, labels = [(row.first, row.second) for row in rows], [row.label or "" for row in rows]
    with bar(len(rows)) as shown:
        features = feature_vectors(checkpoint, pairs, lambda done: shown.update(done - shown.n))
    if args.noise is not None:
        found = asdict(injected(features, pairs, labels, args.noise))
        print(told(found, _experiment(found), args.json))
        return 0
    chances = of_features(features, pairs, labels)
    order = np.argsort(chances, kind="stable").tolist()
    table = [(rows[at].id, f"{chances[at]:.4f}", rows[at].shown_label, rows[at].first, rows[at].second) for at in order]
    if args.out:
        write_whole(args.out, csv_text(["id", "label_p", "label", "first", "second"], table))
    shown_rows = "\n".join("  ".join(line) for line in table[:_SHOWN])
    listed: JsonObject = {"rows": [{"id": id, "label_p": float(p), "label": label} for id, p, label, *_ in table]}
    print(told(listed, shown_rows, args.json))
    return 0


def _drawn(rows: tuple[Example, ...], most: int | None) -> list[Example]:
    if most is None or most >= len(rows):
        return [*rows]
    return [rows[at] for at in np.sort(np.random.default_rng(0).permutation(len(rows))[:most])]


def _experiment(found: JsonObject) -> str:
    return (
        f"{counted(found['changed'], 'label')} of {found['rows']:,} changed: AUC {found['auc']:.3f}; of the "
        f"{found['changed']:,} rows with the least probable labels, {found['share']:.0%} are changed ones"
    )
