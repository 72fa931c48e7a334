"""The attention matrix, the ribbons between the sentences and the attentive context of a word."""

from __future__ import annotations

import math
from typing import Any

from core.evidence import AttentionMap, AttentiveContext, Explanation, FilterProvenance, Matrix, Sentence


def sentence(side: Sentence) -> dict[str, Any]:
    """A side's words: text and, where the word table has no row for it, a mark."""
    return {
        "role": side.role,
        "tokens": [token.text for token in side.tokens],
        "unknown": [i for i, token in enumerate(side.tokens) if token.unknown],
        "truncated": side.truncated,
    }


def payload(explanation: Explanation, show: str) -> dict[str, Any] | None:
    """What the matrix and the ribbons draw, or None for a model without attention.

    ``values`` are what the cells show (``show``: weight, column or score); ``weights`` are always what the model used.
    """
    record = explanation.word_attention
    if record is None:
        return None
    values = record.weights
    if show == "score":
        values = record.scores
    elif show == "column":
        values = column_normalised(record.scores)
    flat = [value for row in values for value in row]
    low = min(flat) if show == "score" else 0.0
    return {
        "rows": record.rows,
        "columns": record.columns,
        "show": show,
        "weights": compact(record.weights),
        "scores": compact(record.scores),
        "values": compact(values),
        "low": low,
        "high": max(max(flat), low + 1e-9),
        "overridden": record.overridden,
    }


def windows(explanation: Explanation) -> dict[str, Any] | None:
    """Where each window of the judged text looks, or None for a model without attention over windows.

    A line is a list: first word of the window, first word of the other text's most looked-at window (None where no
    window is like it), their cosine, and the share that it has in the mix. Windows have ``width`` words.
    """
    record = next((r for r in explanation.evidence if isinstance(r, AttentionMap) and r.units == "windows"), None)
    filters: FilterProvenance | None = explanation.find(FilterProvenance)
    if record is None or filters is None:
        return None
    lines: list[list[float | None]] = []
    for i, (scores, weights) in enumerate(zip(record.scores, record.weights, strict=True)):
        best = max(range(len(weights)), key=weights.__getitem__)
        found = weights[best] > 0
        lines.append([i, best if found else None, float(f"{scores[best]:.6g}"), float(f"{weights[best]:.6g}")])
    return {"rows": record.rows, "columns": record.columns, "width": filters.width, "lines": lines}


def column_normalised(scores: Matrix) -> Matrix:
    """Softmax of the scores down each column: who would look at a context word. Not what a model used."""
    columns = []
    for column in zip(*scores, strict=True):
        top = max(column)
        shares = [math.exp(score - top) for score in column]
        total = sum(shares)
        columns.append([share / total for share in shares])
    return tuple(zip(*columns, strict=True))


def default_row(explanation: Explanation) -> int | None:
    """The judged word that looks at one place most sharply: what is told before anything is selected."""
    record = explanation.word_attention
    if record is None:
        return None
    tokens = explanation.sentence(record.rows).tokens
    worth = [max(row) * (1 if len(token.text) > 3 else 0.25) for row, token in zip(record.weights, tokens, strict=True)]
    return max(range(len(worth)), key=worth.__getitem__)


def nearest(explanation: Explanation) -> dict[str, Any]:
    """Nearest words of the attentive contexts that were asked for, by row."""
    record: AttentiveContext | None = explanation.find(AttentiveContext)
    if record is None:
        return {}
    return {
        str(row): {"words": list(found.nearest), "similarity": [round(s, 3) for s in found.similarity]}
        for row, found in enumerate(record.nearest)
        if found is not None
    }


def compact(values: Matrix) -> list[list[float]]:
    """Six significant digits: what a figure can show, at a third of the characters."""
    return [[float(f"{value:.6g}") for value in row] for row in values]
