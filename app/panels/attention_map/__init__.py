"""The attention matrix with its ribbons between the sentences; for attention over windows, a list.

A final state that looks at words is a matrix of one row, and its ribbons begin at the word that it comes after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


@dataclass(frozen=True)
class WordMap(Payload):
    """What the matrix and the ribbons draw. ``weights`` are always what the model used: the browser makes of them, or
    of ``scores``, what the cells show. ``none`` is None in a model without a null word. ``crossed``: for each row the
    rows that look across it, and ``crossings`` its q as the model used it; None in a model that does not count them.
    ``of``: whose attention it is, of an external model, which has weights alone; ``stays`` says what a
    transformer's words give to other than the columns' words."""

    units: str
    weights: Matrix
    scores: Matrix
    none: NullWord | None
    apart: bool
    crossed: tuple[tuple[int, ...], ...] | None
    crossings: Column | None
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
    """The matrix of a map over words; its cells ``show`` weight, column or score, of an external model never
    score, and of states that are alike or not their cosines."""
    short: Callable[[Sequence[float]], tuple[float, ...]] = significant if record.scores else _rounded
    if not record.scores:
        show = "column" if show == "column" and record.units != SIMILARITY else "weight"
    null = NullWord(
        SPECIAL if record.own else NO_WORD,
        short(record.null),
        significant((record.null_score,) * len(record.null)),
    )
    return WordMap(
        record.units,
        tuple(map(short, record.weights)),
        compact(record.scores),
        null if record.null else None,
        record.apart,
        None if record.crossed_by is None else tuple(tuple(record.crossing(i)) for i in range(len(record.weights))),
        None if record.crossings is None else significant(record.crossings),
        "" if record.scores else record.name,
        stays(record) if record.own else "",
        rows=record.rows,
        columns=record.columns,
        show=show,
        lead=lead(record, explanation),
    )


def _rounded(weights: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(weight, _DIGITS) for weight in weights)


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
