"""The attention matrix with its ribbons between the sentences; for attention over windows, a list.

A final state that looks at words is a matrix of one row, and its ribbons begin at the word that it comes after.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.panels.attention_map.first_word import telling_word
from app.panels.panel import Panel, Payload
from core.evidence import AttentionMap, Explanation, FilterProvenance, Matrix
from core.evidence.attention_map import NO_WORD, WORD_COLUMNS


def payloads(records: Sequence[AttentionMap], explanation: Explanation, show: str) -> list[Payload]:
    """A matrix for each map over words, a list for each map over windows. A map over phrases is not drawn here."""
    words = [matrix(record, explanation, show) for record in records if record.units in WORD_COLUMNS]
    return words + [drawn for record in records if (drawn := windows(record, explanation)) is not None]


def matrix(record: AttentionMap, explanation: Explanation, show: str) -> Payload:
    """What the matrix and the ribbons draw.

    ``values`` are what the cells show (``show``: weight, column or score); ``weights`` are always what the model used.
    ``none`` has the same of the null word's column, in a model that has one.
    """
    values: Matrix = record.weights
    null_scores = [record.null_score] * len(record.null)
    null: Sequence[float | None] = record.null
    if show == "score":
        values, null = record.scores, null_scores
    elif show == "column":
        values, null = rescaled(record.weights), _shares(record.null)
    flat = [value for row in (*values, null) for value in row if value is not None]
    low = min(flat) if show == "score" else 0.0
    return {
        "units": record.units,
        "rows": record.rows,
        "columns": record.columns,
        "show": show,
        "weights": compact(record.weights),
        "scores": compact(record.scores),
        "values": compact(values),
        "none": {
            "word": NO_WORD,
            "weights": _rounded(record.null),
            "scores": _rounded(null_scores),
            "values": _rounded(null),
        }
        if record.null
        else None,
        "apart": record.apart,
        "low": low,
        "high": max(max(flat), low + 1e-9),
        "lead": lead(record, explanation),
        "focus": telling_word(record, explanation),
    }


def windows(record: AttentionMap, explanation: Explanation) -> Payload | None:
    """Where each window of the rows' text looks, or None for a map over other units.

    A line is a list: first word of the window, first word of the other text's most looked-at window (None where no
    window is like it), their cosine, and the share that it has in the mix. Windows have ``width`` words.
    """
    filters: FilterProvenance | None = explanation.find(FilterProvenance)
    if record.units != "windows" or filters is None:
        return None
    lines: list[list[float | None]] = []
    for i, (scores, weights) in enumerate(zip(record.scores, record.weights, strict=True)):
        best = max(range(len(weights)), key=weights.__getitem__)
        lines.append([i, best if weights[best] > 0 else None, *compact([[scores[best], weights[best]]])[0]])
    return {
        "units": record.units,
        "rows": record.rows,
        "columns": record.columns,
        "width": filters.width,
        "lines": lines,
    }


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


def compact(values: Sequence[Sequence[float]]) -> list[list[float]]:
    """Six significant digits: what a figure can show, at a third of the characters."""
    return [[float(f"{value:.6g}") for value in row] for row in values]


def _rounded(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None else float(f"{value:.6g}") for value in values]


PANEL = Panel(("attention_map",), "main", payloads)
