"""Parts of a data set that have something in common, and how a model does on each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from core.desk.columns import RunColumn
from core.desk.filters import literal, quoted
from core.desk.run import Run
from core.evaluation.intervals import bootstrap_mean, wilson
from core.evaluation.scores import precisions

MOST_VALUES = 20
"""A column with more values makes no slices."""
Interval = Callable[[np.ndarray], tuple[float, float]]


@dataclass(frozen=True)
class Slice:
    """Rows with a value (``value``, for people) of ``dimension``; ``expression`` is the filter that shows them."""

    dimension: str
    value: str
    expression: str
    rows: np.ndarray
    """bool ``[N]``."""


@dataclass(frozen=True)
class SliceScore:
    """A slice's items (rows, or the questions of a ranking set), their mean score (accuracy, or average precision) with
    its 95 % interval, the others' mean, and ``weight``: |error in the slice − error outside| · √items."""

    slice: Slice
    items: int
    score: float
    low: float
    high: float
    outside: float
    weight: float


def slices(columns: Mapping[str, RunColumn]) -> list[Slice]:
    """All slices of the rows that are neither empty nor everything."""
    parts = [part for name, column in columns.items() for part in _of_column(name, column)]
    return [part for part in parts if 0 < part.rows.sum() < len(part.rows)]


def scored(run: Run, model: int, parts: list[Slice]) -> list[SliceScore]:
    """How this model does on each slice, the most telling first. The rows must have labels (:attr:`Run.labelled`)."""
    if run.ranks(model):
        questions, precision = _questions(run, model)
        scores = [_scored(part, part.rows[questions], precision, bootstrap_mean) for part in parts]
    else:
        rows, right = run.judged, run.right(model)[run.judged].astype(float)
        scores = [_scored(part, part.rows[rows], right, _wilson) for part in parts]
    return sorted((score for score in scores if score is not None), key=lambda score: -score.weight)


def _wilson(right: np.ndarray) -> tuple[float, float]:
    return wilson(float(right.sum()), len(right))


def _scored(part: Slice, inside: np.ndarray, items: np.ndarray, interval: Interval) -> SliceScore | None:
    own, others = items[inside], items[~inside]
    if not len(own) or not len(others):
        return None
    low, high = interval(own)
    mean, outside = float(own.mean()), float(others.mean())
    return SliceScore(part, len(own), mean, low, high, outside, abs(mean - outside) * math.sqrt(len(own)))


def _questions(run: Run, model: int) -> tuple[np.ndarray, np.ndarray]:
    """The first row of every question that has a right answer, and the average precision of its answers. A question
    belongs to the slices of that row."""
    groups, right, chances = run.answers(model)
    answered = {group for group, hit in zip(groups, right, strict=True) if hit}
    first: dict[str, int] = {}
    for row, group in zip(np.flatnonzero(run.judged).tolist(), groups, strict=True):
        if group in answered:
            first.setdefault(group, row)
    return np.array(list(first.values()), dtype=int), precisions(groups, right, chances)


def _of_column(name: str, column: RunColumn) -> Iterator[Slice]:
    if not column.dimension:
        return
    if column.bounds:
        yield from _numbers(name, column)
    elif column.kind == "yes":
        yield Slice(column.dimension, "yes", name, column.values)
        if not column.rare:
            yield Slice(column.dimension, "no", f"not {name}", ~column.values)
    elif column.kind == "set":
        for item in sorted(set().union(*column.values)):
            own = np.array([item in items for items in column.values], dtype=bool)
            yield Slice(column.dimension, item, f"{quoted(name)} = {literal(item)}", own)
    else:
        yield from _values(name, column)


def _numbers(name: str, column: RunColumn) -> Iterator[Slice]:
    low = -math.inf
    for high in (*column.bounds, math.inf):
        inside = (column.values > low) & (column.values <= high)
        above, below = f"{quoted(name)} > {low:g}", f"{quoted(name)} <= {high:g}"
        expression = below if low == -math.inf else above if high == math.inf else f"{above} and {below}"
        yield Slice(column.dimension, _between(low, high, share=column.bounds[-1] < 1), expression, inside)
        low = high


def _between(low: float, high: float, share: bool) -> str:
    """The bounds in words: ≤ 5, 6–10, > 50; shares in per cent."""
    if share:
        if high == math.inf:
            return "all" if low > 0.99 else f"> {100 * low:.0f} %"
        if high <= 0:
            return "none"
        least = "0" if low == -math.inf else f"{100 * low:.0f}"
        return f"{least}–{min(100 * high, 99):.0f} %"
    if high == math.inf:
        return f"> {low:g}"
    if low == -math.inf:
        return f"≤ {high:g}"
    return f"{low + 1:g}–{high:g}" if high > low + 1 else f"{high:g}"


def _values(name: str, column: RunColumn) -> Iterator[Slice]:
    numbers = column.kind == "number"
    known = np.unique(column.values[~np.isnan(column.values)]) if numbers else sorted({*column.values})
    if 1 < len(known) <= MOST_VALUES:
        for value in known:
            shown = f"{value:g}" if numbers else value if len(value) <= 60 else value[:59] + "…"
            expression = f"{quoted(name)} = {shown if numbers else literal(value)}"
            yield Slice(column.dimension, shown or "(empty)", expression, column.values == value)
