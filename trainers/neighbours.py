"""Index a checkpoint's training rows by the classifier's input vectors, for the Explore page.

    python -m trainers neighbours nli-two-sided --data DATA --rows 20000

Rows are sampled at random from the training sets on the checkpoint's card. The index contains their texts, so it stays
on this machine: in the folder PAIRLENS_NEIGHBOURS, by default pairlens/neighbours in the user's cache folder.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

import numpy as np

from core.checkpoint import Checkpoint, open_checkpoint
from core.data import Dataset
from core.errors import RunError
from core.evaluation.predict import check_texts, prepare_rows, unit_vectors
from core.neighbours import TrainingRow, save
from core.progress import bar
from core.reading.tokens import tokenize
from trainers.commands import as_typed
from trainers.options import add_options, data_folder
from trainers.recipe import from_dict
from trainers.training_data import read_source

ROWS = 20_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers neighbours`."""
    add_options(parser, "checkpoint", "--data")
    parser.add_argument("--rows", type=int, default=ROWS, metavar="N", help=f"rows to index, 0 for all ({ROWS:,})")
    parser.add_argument("--seed", type=int, default=0, help="for sampling (0)")


def run(args: argparse.Namespace) -> int:
    """Read, sample, compute, write. Raises RunError for a checkpoint whose card lists no training data."""
    if args.rows < 0 or args.seed < 0:
        raise RunError("--rows and --seed want whole numbers from 0")
    checkpoint = open_checkpoint(args.checkpoint, args.class_names)
    whole, names = _training_rows(checkpoint, data_folder(args.data))
    numbers = np.arange(len(whole.rows))
    if 0 < args.rows < len(numbers):
        numbers = np.sort(np.random.default_rng(args.seed).choice(numbers, args.rows, replace=False))
    drawn = dataclasses.replace(whole, rows=tuple(whole.rows[i] for i in numbers))
    rows = [
        TrainingRow(row.first, row.second, row.label or "", names[i])
        for i, row in zip(numbers, drawn.rows, strict=True)
    ]
    made_by = as_typed("trainers neighbours", checkpoint.name, **args.given)
    folder = save(checkpoint, rows, _vectors(checkpoint, drawn), len(whole.rows), made_by)
    print(f"{checkpoint.name}: {len(rows):,} of {len(whole.rows):,} training rows, written to {folder}")
    return 0


def _training_rows(checkpoint: Checkpoint, data: Path) -> tuple[Dataset, list[str]]:
    """All distinct rows that the model can read, and the name of each row's data set."""
    if "recipe" not in checkpoint.card:
        raise RunError(f"the card of {checkpoint.name} has no recipe, so its training data are not known")
    labels = set(checkpoint.labels)
    rows, names, seen = [], [], set()
    sets = []
    for source in from_dict(checkpoint.card["recipe"]).train:
        if not (data / source.path).is_file():
            print(f"{source.name} is not at {source.path} in the data folder: its rows are left out", file=sys.stderr)
            continue
        dataset = read_source(data, source)
        check_texts(checkpoint, dataset)
        sets.append(dataset)
        for row in dataset.rows:
            known = row.first, row.second, row.label
            texts = (row.first,) if dataset.single else (row.first, row.second)
            if row.label in labels and known not in seen and all(map(tokenize, texts)):
                seen.add(known)
                rows.append(row)
                names.append(source.name)
    if not rows:
        raise RunError(f"no training row of {checkpoint.name} is in the data folder: give another --data")
    return dataclasses.replace(sets[0], rows=tuple(rows)), names


def _vectors(checkpoint: Checkpoint, dataset: Dataset) -> np.ndarray:
    """The vectors of all rows, ``[N, F]``."""
    with bar(len(dataset.rows)) as shown:
        return unit_vectors(prepare_rows(checkpoint, dataset), lambda done: shown.update(done - shown.n))
