"""Writes predictions as CSV or JSON lines, as they arrive."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from core.data import Dataset, Example
from core.data.layouts import plain
from core.files import whole_file

FORMATS = (".csv", ".jsonl")
_COLUMNS = ("id", "first", "second", "label", "predicted")
_TRUNCATED = "truncated"
_NUMBERS = re.compile(r"index|idx|row|line|.*id")
"""Columns by which the predictions can be joined with other files, such as GLUE's ``index`` (:func:`plain`)."""

Add = Callable[[int, Dataset, Sequence[np.ndarray], Sequence[np.ndarray]], None]
"""Writes a part's rows with the first checkpoint's probabilities ``[N, C]`` and truncated rows, bool ``[N]``; parts
arrive in order."""


@contextmanager
def row_file(path: Path, labels: Sequence[str]) -> Iterator[Add]:
    """Writes to a file in one of the ``FORMATS``, chosen by suffix, which appears once it is complete. Raises FileError
    if the operating system refuses."""
    with whole_file(path) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
        table: csv.DictWriter[str] | None = None

        def add(
            number: int, dataset: Dataset, probabilities: Sequence[np.ndarray], truncated: Sequence[np.ndarray]
        ) -> None:
            nonlocal table
            records = predictions(labels, dataset, probabilities[0], truncated[0])
            if path.suffix != ".csv":
                file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
                return
            if table is None:
                own = dict.fromkeys(name for row in dataset.rows for name in _numbers(row))
                names = dict.fromkeys([*_COLUMNS, *_probability_columns(labels), _TRUNCATED, *own])
                table = csv.DictWriter(file, [*names], extrasaction="ignore")
                table.writeheader()
            table.writerows(records)

        yield add


def predictions(
    labels: Sequence[str], dataset: Dataset, probabilities: np.ndarray, truncated: np.ndarray
) -> Iterator[dict[str, object]]:
    """One flat record per row: id, first, second, label (empty if there is none), predicted, p_CLASS for each class,
    whether the row was truncated, and the file's numbers and ids of the row. ``predicted`` is the score for a model
    with one output."""
    for row, chances, cut in zip(dataset.rows, probabilities, truncated.tolist(), strict=True):
        numbers = [float(f"{p:.6g}") for p in chances]
        predicted = labels[int(chances.argmax())] if len(labels) > 1 else numbers[0]
        texts = row.id, row.first, row.second, row.shown_label, predicted
        record: dict[str, object] = dict(zip(_COLUMNS, texts, strict=True))
        record |= dict(zip(_probability_columns(labels), numbers, strict=False))
        yield {**_numbers(row), **record, _TRUNCATED: cut}


def _numbers(row: Example) -> dict[str, str]:
    """The row's numbers and ids in the file, by their columns."""
    return {name: text for name, text in row.columns.items() if _NUMBERS.fullmatch(plain(name))}


def _probability_columns(labels: Sequence[str]) -> list[str]:
    """The names of the probability columns; empty for a score."""
    return [f"p_{label}" for label in labels] if len(labels) > 1 else []
