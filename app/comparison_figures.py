"""Figures of Compare, ready for the browser to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.comparison import Difference, Looks
from app.palette import CIVIDIS, DIVERGING, PAPER, readable_on
from app.panels import verdict
from core.evidence import Explanation
from core.evidence.attention_map import NO_WORD

_STEPS = 100

Step = tuple[str, str, str, str]
"""A step of a colour scale: its ground in the light theme and in the dark one, and the ink of numbers on each."""


def weight_steps() -> list[Step]:
    """The scale of weights, on cividis as on the page Explore."""
    return [(ground, ground, ink, ink) for ground, ink in map(_weight_step, range(_STEPS + 1))]


def _weight_step(step: int) -> tuple[str, str]:
    place = step / _STEPS * (len(CIVIDIS) - 1)
    left = min(len(CIVIDIS) - 2, int(place))
    mixed = [
        round(low + (high - low) * (place - left))
        for low, high in zip(_channels(CIVIDIS[left]), _channels(CIVIDIS[left + 1]), strict=True)
    ]
    return _rgb(mixed), readable_on(mixed)


def difference_steps() -> list[Step]:
    """The scale of differences: blue where the first gives less, the page's ground at zero, orange where it gives
    more."""
    out = []
    for step in range(-_STEPS, _STEPS + 1, 2):
        light, dark = (_over(paper, _channels(DIVERGING[step > 0]), abs(step) / _STEPS) for paper in PAPER)
        out.append((_rgb(light), _rgb(dark), readable_on(light), readable_on(dark)))
    return out


def _over(paper: str, colour: Sequence[int], share: float) -> list[int]:
    """The colour on the paper, of which the rest shows."""
    return [round(share * own + (1 - share) * below) for own, below in zip(colour, _channels(paper), strict=True)]


def _channels(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def _rgb(channels: Sequence[int]) -> str:
    return f"rgb({','.join(map(str, channels))})"


def said(explanation: Explanation) -> dict[str, Any]:
    """The verdict."""
    return {"classes": verdict.classes(verdict.class_names(explanation), explanation.probabilities)}


def matrix(seen: Looks | Difference, roles: tuple[str, str]) -> dict[str, Any]:
    """Weights or differences with their words; ``none`` has the null word's column. ``roles``: of rows and columns."""
    null = seen.columns[-1] == NO_WORD
    weights = [[float(f"{weight:.4g}") for weight in row] for row in seen.weights]
    return {
        "rows": roles[0],
        "columns": roles[1],
        "words": [list(seen.rows), list(seen.columns[:-1] if null else seen.columns)],
        "weights": [row[:-1] for row in weights] if null else weights,
        "none": [row[-1] for row in weights] if null else None,
    }


def agreement(heads: Sequence[str], rows: Sequence[str], values: Sequence[Sequence[float | None]]) -> dict[str, Any]:
    """Total variation of each word, a column for each model or version, the mean of each column last."""

    def mean(numbers: Sequence[float | None]) -> float | None:
        known = [number for number in numbers if number is not None]
        return sum(known) / len(known) if known else None

    means = [mean(column) for column in zip(*values, strict=True)]
    return {"heads": list(heads), "rows": [*rows, "mean"], "values": [*map(list, values), means]}
