"""Score adapted checkpoints by the number of labelled pairs, against word counts and the largest class.

    python -m trainers few-labels nli-two-sided --data DATA --out docs/few-labels.json

For SICK, MSRP and Quora: pairs are drawn from the training file three times, and scored on the dev file. SICK's classes
are the checkpoint's, so its classifier is corrected (without the term that keeps old answers); the others' are new.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.adaptation.adapt import Examples, fit
from core.adaptation.baselines import baselines
from core.adaptation.features import feature_vectors
from core.checkpoint import Checkpoint, open_checkpoint
from core.data import Dataset, read
from core.files import json_text, write_whole
from core.progress import bar
from trainers.commands import as_typed
from trainers.options import add_options, data_folder


class FewLabels(NamedTuple):
    """A data set: the file to draw from, and the file to score on."""

    name: str
    train: str
    dev: str


SOURCES = (
    FewLabels("SICK", "sick/SICK_train.txt", "sick/SICK_trial.txt"),
    FewLabels("MSRP", "msrp/msr-para-train.tsv", "msrp/msr-para-val.tsv"),
    FewLabels("Quora", "quora/train_18k.tsv", "quora/dev_1k.tsv"),
)
COUNTS = (25, 100, 300, 3000)
DRAWS = 3
_SEED = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers few-labels`."""
    add_options(parser, "checkpoint", "--data")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the JSON file to write")


def run(args: argparse.Namespace) -> int:
    """Score each data set and write the file."""
    checkpoint, folder = open_checkpoint(args.checkpoint, args.class_names), data_folder(args.data)
    rows = []
    for source in SOURCES:
        for row in scored(checkpoint, source, read(folder / source.train), read(folder / source.dev)):
            print("  ".join(f"{name} {value}" for name, value in row.items()))
            rows.append(row)
    command = as_typed("trainers few-labels", args.checkpoint, data="DATA", out=str(args.out))
    write_whole(args.out, json_text({"command": command, "draws": DRAWS, "rows": rows}))
    return 0


def scored(checkpoint: Checkpoint, source: FewLabels, train: Dataset, dev: Dataset) -> list[dict[str, object]]:
    """One row per number of pairs: the mean accuracy over the draws, their range, and the baselines of the first draw
    at that number."""
    pairs, gold = ([(row.first, row.second) for row in dev.rows], [row.label or "" for row in dev.rows])
    with bar(len(pairs)) as shown:
        features = feature_vectors(checkpoint, pairs, shown.update)
    known = [row for row in train.rows if row.label is not None]
    found = []
    for count in COUNTS:
        right = []
        for draw in range(DRAWS):
            drawn = [known[row] for row in np.random.default_rng(_SEED + draw).permutation(len(known))[:count]]
            own, labels = [(row.first, row.second) for row in drawn], [row.label or "" for row in drawn]
            examples = Examples.of(checkpoint, own, labels)
            linear, _ = fit(checkpoint, examples, keep=0)
            best = linear.logits(features).argmax(1).tolist()
            right.append(
                float(np.mean([examples.classes[place] == label for place, label in zip(best, gold, strict=True)]))
            )
            if not draw:
                others = baselines(own, labels, pairs, gold, ("first", "second"))
        found.append(
            {
                "data": f"{source.name}, {len(pairs):,} dev pairs",
                "labelled pairs": count,
                "accuracy": round(float(np.mean(right)), 4),
                "lowest": round(min(right), 4),
                "highest": round(max(right), 4),
                "majority": round(others[0].score, 4),
                "TF-IDF with word overlap": round(others[1].score, 4),
            }
        )
    return found
