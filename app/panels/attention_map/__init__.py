"""The attention matrix with its ribbons between the sentences; for attention over windows, a list."""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.panels.panel import Panel, Payload
from core.evidence import AttentionMap, Explanation, FilterProvenance, Matrix


def payloads(records: Sequence[AttentionMap], explanation: Explanation, show: str) -> list[Payload]:
    """A matrix for each map over words, a list for each map over windows. A map over phrases is not drawn here."""
    words = [matrix(record, explanation, show) for record in records if record.units == "words"]
    return words + [drawn for record in records if (drawn := windows(record, explanation)) is not None]


def matrix(record: AttentionMap, explanation: Explanation, show: str) -> Payload:
    """What the matrix and the ribbons draw.

    ``values`` are what the cells show (``show``: weight, column or score); ``weights`` are always what the model used.
    """
    values = record.weights
    if show == "score":
        values = record.scores
    elif show == "column":
        values = column_normalised(record.scores)
    flat = [value for row in values for value in row]
    low = min(flat) if show == "score" else 0.0
    return {
        "units": record.units,
        "rows": record.rows,
        "columns": record.columns,
        "show": show,
        "weights": compact(record.weights),
        "scores": compact(record.scores),
        "values": compact(values),
        "low": low,
        "high": max(max(flat), low + 1e-9),
        "focus": sharpest_row(record, explanation),
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
    return {"units": record.units, "rows": record.rows, "columns": record.columns, "width": filters.width,
            "lines": lines}  # fmt: skip


def column_normalised(scores: Matrix) -> Matrix:
    """Softmax of the scores down each column: who would look at a context word. Not what a model used."""
    columns = []
    for column in zip(*scores, strict=True):
        top = max(column)
        shares = [math.exp(score - top) for score in column]
        total = sum(shares)
        columns.append([share / total for share in shares])
    return tuple(zip(*columns, strict=True))


def sharpest_row(record: AttentionMap, explanation: Explanation) -> int:
    """The word that looks at one place most sharply: the row shown before anything is selected."""
    tokens = explanation.sentence(record.rows).tokens
    worth = [max(row) * (1 if len(token.text) > 3 else 0.25) for row, token in zip(record.weights, tokens, strict=True)]
    return max(range(len(worth)), key=worth.__getitem__)


def compact(values: Sequence[Sequence[float]]) -> list[list[float]]:
    """Six significant digits: what a figure can show, at a third of the characters."""
    return [[float(f"{value:.6g}") for value in row] for row in values]


PANEL = Panel(("attention_map",), "main", payloads)
