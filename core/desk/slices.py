"""Slices: rows that share a value of a column or that a saved filter selects, and a model's score on each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from core.desk.columns import SLICE, Cells, RunColumn
from core.desk.filters import FilterError, compiled, literal, quoted
from core.desk.leakage import without_leaks
from core.desk.run import Run, column_of
from core.desk.table import MOST_VALUES, Condition, RunTable
from core.evaluation.intervals import bootstrap_mean, wilson
from core.evaluation.scores import precisions


@dataclass(frozen=True)
class Slice:
    """Rows with one value (``value``, for display) of ``dimension``; ``expression`` is the filter for them."""

    dimension: str
    value: str
    expression: str
    rows: int
    """Number of rows."""


@dataclass(frozen=True)
class SliceScore:
    """The score on a slice's ``items`` (rows, or the questions of a ranking set): its mean (accuracy, or average
    precision) with the 95 % interval, the mean over the other items, ``weight``: |error in the slice − error outside| ·
    √items, and ``p`` as in :meth:`Items.p_values`; ``q``: p adjusted for all slices scored together with this one
    (Benjamini & Hochberg 1995). Both are NaN if the slice is too small for the test."""

    slice: Slice
    items: int
    score: float
    low: float
    high: float
    outside: float
    weight: float
    p: float
    q: float = math.nan

    @property
    def expression(self) -> str:
        """The filter for its rows."""
        return self.slice.expression


@dataclass(frozen=True)
class Share:
    """Rows that share two values (``names``, such as a word and its text): ``hits`` among ``rows``, with the 95 %
    interval of their share (Wilson). ``expression`` is the filter for these rows or for the hits."""

    names: tuple[str, str]
    rows: int
    hits: int
    low: float
    high: float
    expression: str

    @classmethod
    def of(cls, names: tuple[str, str], rows: int, hits: int, expression: str) -> Share:
        """The share with its interval."""
        return cls(names, rows, hits, *wilson(hits, rows), expression)

    @property
    def score(self) -> float:
        """The share of hits."""
        return self.hits / self.rows


@dataclass(frozen=True)
class Items:
    """The items over which a model's score is averaged: the rows with a label, or the questions of a ranking set.
    ``rows`` and ``scores`` ``[I]``: each item's row (a question's first one) and whether the model is right (or the
    average precision)."""

    rows: np.ndarray
    scores: np.ndarray
    ranks: bool

    @classmethod
    def of(cls, run: Run, model: int) -> Items:
        """All items in a run, which must have labels (:attr:`Run.labelled`)."""
        if run.ranks(model):
            return cls(*_questions(run, model), ranks=True)
        rows = np.flatnonzero(run.judged)
        return cls(rows, run.right(model)[rows].astype(float), ranks=False)

    @property
    def mean(self) -> tuple[float, float, float]:
        """The mean of the scores, 0 if there are none, with its 95 % interval."""
        total, count = float(self.scores.sum()), len(self.scores)
        return total / max(1, count), *(bootstrap_mean(self.scores) if self.ranks else wilson(total, count))

    def kept(self, some: np.ndarray) -> Items:
        """Some of the items, chosen by a mask ``[I]``."""
        return replace(self, rows=self.rows[some], scores=self.scores[some])

    def p_values(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Two-sided p-values for ``counts`` items with these sums of scores differing from the others by chance: the
        normal approximation of the permutation test, which for right and wrong answers is Pearson's χ² times (I - 1) /
        I. NaN if fewer than five right or wrong ones are expected inside or outside (Cochran 1954)."""
        from scipy.special import ndtr  # type: ignore[import-untyped]  # here, so that Explore starts without it

        number, mean = len(self.scores), self.scores.mean()
        others = number - counts
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = self.scores.std() * np.sqrt(others / counts / max(1, number - 1))
            p = 2 * ndtr(-np.abs(totals / counts - mean) / spread)
        known = np.minimum(counts, others) * min(mean, 1 - mean) >= 5
        return np.where(known, p, np.nan)

    def on(self, part: Slice, mask: np.ndarray) -> SliceScore:
        """The score on a slice whose items a mask ``[I]`` selects."""
        scores = self.scores[mask]
        return self.scored(part, len(scores), float(scores.sum()), scores)

    def scored(self, part: Slice, count: int, total: float, scores: np.ndarray) -> SliceScore:
        """The score on a slice with this number of items and this sum of scores; for a ranking set also the scores."""
        mean, others = total / count, len(self.scores) - count
        outside = (float(self.scores.sum()) - total) / others if others else math.nan
        low, high = bootstrap_mean(scores) if self.ranks else wilson(total, count)
        p = float(self.p_values(np.array([count]), np.array([total]))[0])
        return SliceScore(part, count, mean, low, high, outside, abs(mean - outside) * math.sqrt(count), p)


def adjusted(scores: Sequence[SliceScore]) -> list[SliceScore]:
    """The scores with their q-values, as one family of tests."""
    return [replace(one, q=q) for one, q in zip(scores, q_values(np.array([one.p for one in scores])), strict=True)]


def q_values(p: np.ndarray) -> list[float]:
    """Benjamini & Hochberg's adjusted p-values; NaN stays NaN and does not count as a test."""
    from scipy.stats import false_discovery_control  # type: ignore[import-untyped]  # as above

    q, known = np.full(len(p), np.nan), ~np.isnan(p)
    if known.any():
        q[known] = false_discovery_control(p[known])
    return list(q.tolist())


@dataclass(frozen=True)
class _Group:
    """A slice with the number of its items and the sum of their scores; for a ranking set also the scores."""

    slice: Slice
    items: int
    total: float
    scores: Sequence[float]


def slices(table: RunTable) -> list[Slice]:
    """All slices except those with no rows or all rows."""
    return [group.slice for group in _groups(table, "CAST(NULL AS DOUBLE)")]


def scored(run: Run, model: int, table: RunTable) -> list[SliceScore]:
    """The model's score on each slice, the most significant first, without columns that leak the answer other than
    labels and tags. The rows must have labels (:attr:`Run.labelled`)."""
    right = table.columns[column_of("right", model)].sql
    items, table = Items.of(run, model), without_leaks(run, model, table, keep=("gold", "tags"))
    if items.ranks:
        groups = _groups(table, "score", pa.table({"row": items.rows, "score": items.scores}))
    else:
        groups = _groups(table, f"CASE WHEN judged THEN CAST({right} AS DOUBLE) END")
    found = [
        items.scored(group.slice, group.items, group.total, np.array(group.scores))
        for group in groups
        if 0 < group.items < len(items.rows)
    ]
    return sorted(adjusted(found), key=lambda score: -score.weight)


def saved(run: Run, model: int, masks: Mapping[str, np.ndarray]) -> dict[str, SliceScore]:
    """The model's score on each saved slice (bool ``[N]`` by name) that has any item; as in :func:`scored`."""
    items, found = Items.of(run, model), []
    for name, mask in masks.items():
        if (inside := mask[items.rows]).any():
            found.append(items.on(Slice("slice", name, quoted(SLICE + name), int(mask.sum())), inside))
    return {score.slice.value: score for score in adjusted(found)}


def with_slices(
    table: RunTable, slices: Mapping[str, str], known: Mapping[str, np.ndarray] = MappingProxyType({})
) -> tuple[RunTable, dict[str, np.ndarray], dict[str, FilterError]]:
    """The table with one column per saved slice (its filter by name), the slices' rows (bool ``[N]``), and the errors
    of invalid ones. A slice may refer to others. ``known``: the rows of slices that need not be computed."""
    masks = dict(known)
    table = _joined(table, slices, {name: pa.array(mask) for name, mask in known.items()}) if known else table
    while True:
        conditions, errors = dict[str, Condition](), dict[str, FilterError]()
        for name in slices.keys() - masks.keys():
            try:
                conditions[name] = compiled(slices[name], table.columns)
            except FilterError as error:
                errors[name] = error
        if not conditions:
            return table, {name: masks[name] for name in slices if name in masks}, errors
        found = dict(zip(conditions, table.masks(list(conditions.values())).columns, strict=True))
        masks |= {name: column.to_numpy() for name, column in found.items()}
        table = _joined(table, slices, found)


def _joined(table: RunTable, slices: Mapping[str, str], found: Mapping[str, pa.Array]) -> RunTable:
    """The table with these slices' columns."""
    columns = {
        SLICE + name: Cells(RunColumn("yes", f"saved slice: {slices[name]}"), column) for name, column in found.items()
    }
    return table.joined(f"slices{len(table.dense)}", None, columns)


def _questions(run: Run, model: int) -> tuple[np.ndarray, np.ndarray]:
    """The first row of every question with a right answer, and the average precision of its answers. A question belongs
    to the slices of that row."""
    groups, right, chances = run.answers(model)
    answered = {group for group, hit in zip(groups, right, strict=True) if hit}
    first: dict[str, int] = {}
    for row, group in zip(np.flatnonzero(run.judged).tolist(), groups, strict=True):
        if group in answered:
            first.setdefault(group, row)
    return np.array(list(first.values()), dtype=int), precisions(groups, right, chances)


def _groups(table: RunTable, score: str, asked: pa.Table | None = None) -> list[_Group]:
    """The slices of every dimension. ``score``: an item's score in SQL, NULL for rows that do not count; ``asked``: a
    table of scores by row for that expression."""
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
    """A value in words, and the filter for its rows; None if it makes no slice."""
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
