"""Pair each text of a data file with those nearest to it, and let checkpoints label the pairs: more for a small model
to learn from its teachers than their data hold (Bucilă et al. 2006, "Model compression").

    PAIRLENS_CHECKPOINTS=runs python -m trainers.paper near-pairs para-two-sided-seed1 para-two-sided-seed2 \\
        DATA/quora/train_18k.tsv --without DATA/quora/dev_1k.tsv --out DATA/made/quora-near.csv

For tasks whose two texts are of one kind, such as questions that may be paraphrases. A pair of the file is not made
again, nor one with a text of ``--without``. Which text is first is drawn. The file is a CSV table
``id,sentence1,sentence2,label``; the label is the class with the largest mean probability. Equal files, checkpoints and
seed give equal bytes.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from core.checkpoint import open_checkpoint
from core.data import Dataset, Example, read
from core.data.dataset import DataError
from core.errors import RunError
from core.evaluation.predict import classify
from core.files import check_writable, whole_file
from trainers.options import add_options, columns, pick_device

FARTHEST = 0.8
"""Cosine distance of TF-IDF up to which texts count as near."""
BLOCK = 2000
"""Texts whose neighbours are looked for at once: their distances to all texts are in memory together."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.paper near-pairs`."""
    parser.add_argument("checkpoints", metavar="CHECKPOINT", nargs="+", help="a shipped name or a checkpoint folder")
    parser.add_argument("file", metavar="FILE", type=Path, help="a data file of pairs, with or without labels")
    parser.add_argument("--out", type=Path, required=True, metavar="OUT.csv", help="file to write")
    parser.add_argument("--without", type=Path, metavar="FILE", help="a data file whose texts are left out")
    parser.add_argument("--nearest", type=int, default=3, metavar="N", help="neighbours of a text (default: 3)")
    parser.add_argument("--seed", type=int, default=1, help="of the order in a pair and of the pairs (default: 1)")
    add_options(parser, "--device", "--columns")


def run(args: argparse.Namespace) -> int:
    """Pair, label and write."""
    if args.nearest < 1:
        raise RunError(f"--nearest must be at least 1, got {args.nearest}")
    check_writable(args.out, "--out")
    checkpoints = [open_checkpoint(name) for name in args.checkpoints]
    labels = checkpoints[0].labels
    if any(checkpoint.labels != labels for checkpoint in checkpoints):
        raise RunError("the checkpoints have different classes; give checkpoints of one task")
    left_out = set(_texts(read(args.without, labelled=False))) if args.without else set()
    dataset = read(args.file, labelled=False, columns=columns(args.columns))
    known = {frozenset((row.first, row.second)) for row in dataset.rows}
    texts = sorted(set(_texts(dataset)) - left_out)
    rows = pairs(texts, known, args.nearest, args.seed)
    if not rows:
        raise DataError(f"no two texts of {args.file.name} are near each other that are not a pair already")
    made = Dataset(args.file.name, dataset.layout, tuple(rows))
    device = pick_device(args.device)
    chances = np.mean([classify(checkpoint, made, device) for checkpoint in checkpoints], axis=0)
    with whole_file(args.out) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "sentence1", "sentence2", "label"))
        for row, number in zip(rows, chances.argmax(1), strict=True):
            writer.writerow((row.id, row.first, row.second, labels[number]))
    shares = ", ".join(f"{label} {share:.1%}" for label, share in zip(labels, chances.mean(0), strict=True))
    print(f"{len(rows):,} pairs of {len(texts):,} texts written to {args.out} ({shares})", file=sys.stderr)
    return 0


def pairs(texts: list[str], known: set[frozenset[str]], nearest: int, seed: int) -> list[Example]:
    """The pairs of each text and its ``nearest`` neighbours by the cosine of TF-IDF over words and pairs of words, less
    the ``known`` ones, each once."""
    near = {frozenset((texts[i], texts[j])) for i, j in _neighbours(texts, nearest)} - known
    drawn = random.Random(seed)
    ordered = sorted(sorted(pair) for pair in near)
    drawn.shuffle(ordered)
    rows = []
    for number, pair in enumerate(ordered, 1):
        drawn.shuffle(pair)
        rows.append(Example(f"near-{number}", pair[0], pair[1], None))
    return rows


def _neighbours(texts: list[str], nearest: int) -> Iterator[tuple[int, int]]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.neighbors import NearestNeighbors

    if len(texts) < 2:
        return
    vectors = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\b\w+\b").fit_transform(texts)
    index = NearestNeighbors(n_neighbors=min(nearest + 1, len(texts)), metric="cosine", algorithm="brute").fit(vectors)
    for start in range(0, len(texts), BLOCK):
        distances, numbers = index.kneighbors(vectors[start : start + BLOCK])
        for row, column in zip(*np.nonzero(distances < FARTHEST), strict=True):
            i, j = start + int(row), int(numbers[row, column])
            if i != j:
                yield i, j


def _texts(dataset: Dataset) -> list[str]:
    return [text for row in dataset.rows for text in (row.first, row.second)]
