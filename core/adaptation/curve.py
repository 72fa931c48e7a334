"""The learning curve: the accuracy on held-out rows by the number of labelled pairs, and whether more pairs would
help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.evaluation.intervals import bootstrap_mean

FIRST = 25
DRAWS = 3
LARGE = 5_000
"""Number of pairs from which one sample is as good as several, because the held-out rows dominate the interval."""
"""Number of samples of pairs at each size, whose mean is the point; all pairs are one sample."""
LITTLE = 0.01
"""A smaller gain is not worth the labels."""


@dataclass(frozen=True)
class Point:
    """The accuracy with this number of ``pairs``, with its 95 % interval over held-out rows."""

    pairs: int
    score: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """The points by number of pairs. ``gain``: the increase of accuracy from the largest sample of at most half the
    pairs (``since`` of them) to all of them, with its 95 % interval over held-out rows; all 0 without such a
    sample."""

    points: tuple[Point, ...]
    since: int = 0
    gain: float = 0.0
    low: float = 0.0
    high: float = 0.0

    def outlook(self) -> str:
        """One sentence: would more labels help?"""
        if not self.since:
            return "There are too few pairs to tell whether more labels would help."
        gained = f"from {self.since:,} to {self.points[-1].pairs:,} labels the score changed by {self._gained()}"
        if self.low > 0 and self.gain >= LITTLE:
            return f"More labels would probably help: {gained}."
        if self.high < 2 * LITTLE:
            return f"More labels would hardly help: {gained}."
        return f"Whether more labels would help cannot be told from these held-out rows: {gained}."

    def _gained(self) -> str:
        low, high = (f"{100 * value:+.1f}".replace("-", "−") for value in (self.low, self.high))
        return f"{100 * self.gain:+.1f} points ({low} to {high})".replace("-", "−")


def sizes(pairs: int) -> list[int]:
    """25, 50, 100 … and all pairs."""
    found = []
    size = FIRST
    while size < pairs:
        found.append(size)
        size *= 2
    return [*found, pairs]


def learning_curve(
    labels: np.ndarray,
    gold: np.ndarray,
    predicted: Callable[[np.ndarray], np.ndarray],
    step: Callable[[int], object] = lambda pairs: None,
    measured: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Curve:
    """The curve for class indices ``labels [N]`` of the pairs and ``gold [H]`` of the held-out rows.

    ``predicted(rows)``: the classes of the held-out rows, int ``[H]``, after training on these rows of the pairs, which
    have at least two classes. Each sample has the classes in the proportions of all pairs, and contains the smaller
    samples of its draw. ``step`` is called with the size before each sample. ``measured``: the values whose mean is the
    score, from what ``predicted`` returned; by default, whether each class is right.
    """
    values = measured or (lambda found: found == gold)
    orders = [_order(labels, draw) for draw in range(DRAWS)]
    points, by_size = list[Point](), dict[int, np.ndarray]()
    for size in sizes(len(labels)):
        right = list[np.ndarray]()
        for order in orders if size < min(len(labels), LARGE) else orders[:1]:
            step(size)
            rows = np.sort(order[:size])
            if len(np.unique(labels[rows])) > 1:
                right.append(values(predicted(rows)))
        if right:
            by_size[size] = np.mean(right, axis=0)
            points.append(Point(size, float(by_size[size].mean()), *bootstrap_mean(by_size[size])))
    before = max((size for size in by_size if 2 * size <= len(labels)), default=0)
    if not before:
        return Curve(tuple(points))
    difference = by_size[len(labels)] - by_size[before]
    return Curve(tuple(points), before, float(difference.mean()), *bootstrap_mean(difference))


def _order(labels: np.ndarray, draw: int) -> np.ndarray:
    """The rows in an order whose every beginning has the classes in about their proportions."""
    random = np.random.default_rng(draw)
    place = np.empty(len(labels))
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        place[random.permutation(rows)] = (np.arange(len(rows)) + random.random()) / len(rows)
    return np.argsort(place, kind="stable")
