"""Slices: rows that share a value of a column, and a model's score on each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from core.desk.columns import RunColumn
from core.desk.filters import literal, quoted
from core.desk.run import Run, column_of
from core.desk.table import RunTable
from core.evaluation.intervals import bootstrap_mean, wilson
from core.evaluation.scores import precisions

MOST_VALUES = 20
"""A column with more values makes no slices."""


@dataclass(frozen=True)
class Slice:
    """Rows with a value (``value``, for people) of ``dimension``; ``expression`` is the filter that shows them."""

    dimension: str
    value: str
    expression: str
    rows: int
    """How many there are."""


@dataclass(frozen=True)
class SliceScore:
    """The score on a slice's ``items`` (rows, or the questions of a ranking set): its mean (accuracy, or average
    precision) with the 95 % interval, the mean of the other items, and ``weight``: |error in the slice − error outside|
    · √items."""

    slice: Slice
    items: int
    score: float
    low: float
    high: float
    outside: float
    weight: float


@dataclass(frozen=True)
class _Group:
    """A slice with the number and the sum of its items' scores, and of a ranking set the scores themselves."""

    slice: Slice
    items: int
    total: float
    scores: Sequence[float]


def slices(table: RunTable) -> list[Slice]:
    """All slices that are neither empty nor all rows."""
    return [group.slice for group in _groups(table, "CAST(NULL AS DOUBLE)")]


def scored(run: Run, model: int, table: RunTable) -> list[SliceScore]:
    """The model's score on each slice, the most telling first. The rows must have labels (:attr:`Run.labelled`)."""
    if run.ranks(model):
        rows, scores = _questions(run, model)
        asked = pa.table({"row": rows, "score": scores})
        groups = _groups(table, "score", asked)
    else:
        scores = run.right(model)[run.judged].astype(float)
        right = table.columns[column_of("right", model)].sql
        groups = _groups(table, f"CASE WHEN judged THEN CAST({right} AS DOUBLE) END")
    items, total = len(scores), float(scores.sum())
    found = [_score(group, items, total) for group in groups if 0 < group.items < items]
    return sorted(found, key=lambda score: -score.weight)


def _score(group: _Group, items: int, total: float) -> SliceScore:
    mean, outside = group.total / group.items, (total - group.total) / (items - group.items)
    low, high = bootstrap_mean(np.array(group.scores)) if group.scores else wilson(group.total, group.items)
    return SliceScore(group.slice, group.items, mean, low, high, outside, abs(mean - outside) * math.sqrt(group.items))


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


def _groups(table: RunTable, score: str, asked: pa.Table | None = None) -> list[_Group]:
    """The slices of every dimension. ``score``: an item's score in SQL, NULL for rows that do not count; ``asked``: a
    table of scores by row that it reads."""
    return [
        group
        for name, column in table.columns.items()
        if column.dimension
        for group in _of_column(table, name, column, score, asked)
        if 0 < group.slice.rows < table.rows
    ]


def _of_column(table: RunTable, name: str, column: RunColumn, score: str, asked: pa.Table | None) -> list[_Group]:
    value, bounds = column.sql, list[object]()
    if column.bounds:
        cases = " ".join(f"WHEN {column.sql} <= ? THEN {place}" for place in range(len(column.bounds)))
        value, bounds = f"CASE {cases} ELSE {len(column.bounds)} END", [*column.bounds]
    elif column.kind == "set":
        value = f"unnest({column.sql})"
    elif column.kind == "text":
        value = f"coalesce({column.sql}, '')"
    known = f"WHERE {column.sql} IS NOT NULL" if column.kind in ("number", "yes") else ""
    rows = "{rows}" if asked is None else "(SELECT * FROM {rows} LEFT JOIN asked USING (row))"
    listed = "list(score ORDER BY row) FILTER (score IS NOT NULL)" if asked is not None else "CAST(NULL AS DOUBLE[])"
    most = (
        f"LIMIT {MOST_VALUES + 1}" if column.kind == "text" or (column.kind == "number" and not column.bounds) else ""
    )
    sql = (
        f"SELECT value, count(*), count(score), coalesce(sum(score), 0), {listed} "
        f"FROM (SELECT row, {value} AS value, {score} AS score FROM {rows} {known}) GROUP BY value {most}"
    )
    more = {} if asked is None else {"asked": asked}
    found = zip(*(values.to_pylist() for values in table.query(sql, bounds, **more).columns), strict=True)
    groups = sorted(found, key=lambda group: (group[0] is not True, group[0]) if column.kind == "yes" else group[0])
    if most and not 1 < len(groups) <= MOST_VALUES:
        return []
    return [
        _Group(Slice(column.dimension, *words, rows), items, total, scores or ())
        for value, rows, items, total, scores in groups
        if (words := _words(name, column, value)) is not None
    ]


def _words(name: str, column: RunColumn, value: object) -> tuple[str, str] | None:
    """A value for people, and the filter that shows its rows; None where it makes no slice."""
    if column.bounds:
        return _range(name, column, int(value))  # type: ignore[call-overload]
    if column.kind == "yes":
        return ("yes", name) if value else None if column.rare else ("no", f"not {name}")
    if column.kind == "number":
        return f"{value:g}", f"{quoted(name)} = {value:g}"
    text = str(value)
    shown = text if len(text) <= 60 or column.kind == "set" else text[:59] + "…"
    return shown or "(empty)", f"{quoted(name)} = {literal(text)}"


def _range(name: str, column: RunColumn, place: int) -> tuple[str, str]:
    low = column.bounds[place - 1] if place else -math.inf
    high = column.bounds[place] if place < len(column.bounds) else math.inf
    above, below = f"{quoted(name)} > {low:g}", f"{quoted(name)} <= {high:g}"
    expression = below if low == -math.inf else above if high == math.inf else f"{above} and {below}"
    return _between(low, high, share=column.bounds[-1] < 1), expression


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
