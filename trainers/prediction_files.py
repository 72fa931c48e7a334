"""Writes predictions as CSV or JSON lines, as they arrive."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from core.data import Dataset
from core.files import whole_file

FORMATS = (".csv", ".jsonl")
_COLUMNS = ("id", "first", "second", "label", "predicted")

Add = Callable[[int, Dataset, Sequence[np.ndarray]], None]
"""Writes a part's rows with the first checkpoint's probabilities ``[N, C]``; parts arrive in order."""


@contextmanager
def row_file(path: Path, labels: Sequence[str]) -> Iterator[Add]:
    """Writes to a file in one of the ``FORMATS``, chosen by suffix, which appears once it is complete. Raises FileError
    if the operating system refuses."""
    with whole_file(path) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, [*_COLUMNS, *_probability_columns(labels)])
        if path.suffix == ".csv":
            table.writeheader()

        def add(number: int, dataset: Dataset, probabilities: Sequence[np.ndarray]) -> None:
            records = predictions(labels, dataset, probabilities[0])
            if path.suffix == ".csv":
                table.writerows(records)
            else:
                file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)

        yield add


def predictions(labels: Sequence[str], dataset: Dataset, probabilities: np.ndarray) -> Iterator[dict[str, object]]:
    """One flat record per row: id, first, second, label (empty if there is none), predicted, and p_CLASS for each
    class. ``predicted`` is the score for a model with one output."""
    for row, chances in zip(dataset.rows, probabilities, strict=True):
        numbers = [float(f"{p:.6g}") for p in chances]
        predicted = labels[int(chances.argmax())] if len(labels) > 1 else numbers[0]
        texts = row.id, row.first, row.second, row.shown_label, predicted
        record: dict[str, object] = dict(zip(_COLUMNS, texts, strict=True))
        yield {**record, **dict(zip(_probability_columns(labels), numbers, strict=False))}


def _probability_columns(labels: Sequence[str]) -> list[str]:
    """The names of the probability columns; empty for a score."""
    return [f"p_{label}" for label in labels] if len(labels) > 1 else []
