"""The attention matrix with its ribbons between the sentences; for attention over windows, a list.

A final state that looks at words is a matrix of one row, and its ribbons begin at the word that it comes after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.panels.panel import Number, Panel, Payload, significant
from core.evidence import AttentionMap, Explanation, FilterProvenance, Matrix
from core.evidence.attention_map import NO_WORD, SIMILARITY, WORD_COLUMNS
from core.evidence.record import the
from core.wording import percent

Column = tuple[float | None, ...]
SPECIAL = "special tokens"
"""What stands at the column of a transformer's pieces that belong to no word."""
_DIGITS = 4
"""Behind the point of a head's weights: one of sixty words by sixty, in both directions, is 50 kB."""


@dataclass(frozen=True)
class NullWord:
    """The column of the null word: the same numbers as of the words."""

    word: str
    weights: Column
    scores: Column
    values: Column


@dataclass(frozen=True)
class WordMap(Payload):
    """What the matrix and the ribbons draw. ``values`` are what the cells show, from ``low`` to ``high``; ``weights``
    are always what the model used; ``none`` is None in a model without a null word. ``crossed``: for each row the rows
    that look across it, and ``crossings`` its q as the model used it; None in a model that does not count them. ``of``:
    whose attention it is, of a model from elsewhere; its ``values`` are left to the browser, which has the weights, and
    ``stays`` says what a transformer's words give to other than the columns' words."""

    units: str
    weights: Matrix
    scores: Matrix
    values: Matrix
    none: NullWord | None
    apart: bool
    low: float
    high: float
    crossed: tuple[tuple[int, ...], ...] | None = None
    crossings: Column | None = None
    of: str = ""
    stays: str = ""


@dataclass(frozen=True)
class WindowMap(Payload):
    """Where each window of ``width`` words looks. A line: first word of the window, first word of the other text's most
    looked-at window (None where no window is like it), their cosine, and the share that it has in the mix."""

    units: str
    width: int
    lines: tuple[tuple[float | None, ...], ...]


def payloads(records: Sequence[AttentionMap], explanation: Explanation, show: str) -> list[Payload]:
    """A matrix for each map over words, a list for each map over windows. A map over phrases is not drawn here."""
    words = [matrix(record, explanation, show) for record in records if record.units in WORD_COLUMNS]
    filters: FilterProvenance | None = explanation.find(FilterProvenance)
    if filters is None:
        return [*words]
    return [*words, *(windows(record, filters.width) for record in records if record.units == "windows")]


def matrix(record: AttentionMap, explanation: Explanation, show: str) -> WordMap:
    """The matrix of a map over words; its cells ``show`` weight, column or score."""
    if not record.scores:
        return of_weights(record, show)
    values: Matrix = record.weights
    null_scores = (record.null_score,) * len(record.null)
    null: Sequence[float | None] = record.null
    if show == "score":
        values, null = record.scores, null_scores
    elif show == "column":
        values, null = rescaled(record.weights), _shares(record.null)
    flat = [value for row in (*values, null) for value in row if value is not None]
    low = min(flat) if show == "score" else 0.0
    columns = (significant(column) for column in (record.null, null_scores, null))
    return WordMap(
        record.units,
        compact(record.weights),
        compact(record.scores),
        compact(values),
        NullWord(NO_WORD, *columns) if record.null else None,
        record.apart,
        low,
        max(max(flat), low + 1e-9),
        None if record.crossed_by is None else tuple(tuple(record.crossing(i)) for i in range(len(record.weights))),
        None if record.crossings is None else significant(record.crossings),
        rows=record.rows,
        columns=record.columns,
        show=show,
        lead=lead(record, explanation),
    )


def of_weights(record: AttentionMap, show: str) -> WordMap:
    """The matrix of a model from elsewhere, which has weights alone. Its scale runs to the largest weight on a word:
    special tokens often have most of it, and all words would be dark beside them."""
    show = "column" if show == "column" and record.units != SIMILARITY else "weight"
    shown = rescaled(record.weights) if show == "column" else record.weights
    special = tuple(round(weight, _DIGITS) for weight in record.null)
    alike = record.units == SIMILARITY
    return WordMap(
        record.units,
        tuple(tuple(round(weight, _DIGITS) for weight in row) for row in record.weights),
        (),
        (),
        NullWord(SPECIAL if record.own else NO_WORD, special, (), special) if special else None,
        record.apart,
        min(map(min, shown)) if alike else 0.0,
        max(max(map(max, shown)), 1e-9),
        of=record.name,
        stays=stays(record) if record.own else "",
        rows=record.rows,
        columns=record.columns,
        show=show,
    )


def stays(record: AttentionMap) -> str:
    """Where the attention of a transformer's words goes on average, in a sentence."""
    own, special = (sum(shares) / len(shares) for shares in (record.own, record.null))
    across = max(0.0, 1 - own - special)
    return (
        f"On average a word of {the(record.rows)} gives {percent(own)} to its own sentence, {percent(special)} to "
        f"special tokens, and {percent(across)} to {the(record.columns)}."
    )


def windows(record: AttentionMap, width: int) -> WindowMap:
    """Where each window of the rows' text looks."""
    lines = []
    for i, (scores, weights) in enumerate(zip(record.scores, record.weights, strict=True)):
        best = max(range(len(weights)), key=weights.__getitem__)
        lines.append((i, best if weights[best] > 0 else None, *significant((scores[best], weights[best]))))
    return WindowMap(record.units, width, tuple(lines), rows=record.rows, columns=record.columns)


def rescaled(weights: Matrix) -> Matrix:
    """The weights, each column divided by its sum: whose weight a word of the columns gets. Not what a model used."""
    return tuple(zip(*map(_shares, zip(*weights, strict=True)), strict=True))


def _shares(column: Sequence[float]) -> list[float]:
    total = sum(column)
    return [weight / total if total > 0 else 0.0 for weight in column]


def lead(record: AttentionMap, explanation: Explanation) -> float | None:
    """How far the best score of a row lies above its next one, on average, of several contexts in each, and of those in
    its window alone; None where no row has two."""
    rows = [scores[one] for i, scores in enumerate(record.scores) for one in record.softmaxes(explanation, i)]
    leads = [best - second for scores in rows if len(scores) > 1 for *_, second, best in [sorted(scores)]]
    return sum(leads) / len(leads) if leads else None


def compact(values: Sequence[Sequence[Number]]) -> tuple[tuple[Number, ...], ...]:
    """Each number as :func:`significant` has it."""
    return tuple(map(significant, values))


PANEL = Panel(("attention_map",), "main", payloads)
