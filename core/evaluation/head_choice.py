"""Which head of a transformer agrees best with people's word alignments: all are measured in one pass over the pairs.

A word of the target links to the word of the source with its largest weight, if that is above a threshold, as
:mod:`core.evaluation.alignment` has it, and the threshold of each head is the one with its best F1. Beside it stands
what the best of as many random maps reaches: of many heads one is good by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from core.checkpoint import Checkpoint
from core.data.alignments import AlignedPair
from core.errors import RunError
from core.evaluation.alignment import THRESHOLDS, whitespace_places
from core.guests.between import between, chosen_attention
from core.guests.heads import MEAN, ROLLOUT, Head
from core.models.base import Intervention
from core.reading.reader import Reading

DRAWS = 100
"""How often as many random maps are drawn as there are heads."""
POOL = 2_000
"""Largest weights of random rows that are drawn from, for each number of columns."""


@dataclass(frozen=True)
class Cells:
    """What the cells of each row would link, over the rows of all pairs: ``start [N]`` and ``count [N]`` of a row's
    cells in ``right``, sure links that people made too, and ``made``, links at all."""

    start: np.ndarray
    count: np.ndarray
    right: np.ndarray
    made: np.ndarray
    sure: int
    """Links of people."""

    def f1(self, best: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        """The best F1 over all thresholds, and its threshold, of the column ``[N]`` that each row links to, with its
        weight. A link that two tokens of one whitespace token make counts twice."""
        at = self.start + best
        above = np.ceil(weights * len(THRESHOLDS)).clip(0, len(THRESHOLDS)).astype(int)  # thresholds that it exceeds
        right, made = (
            np.bincount(above, values[at], len(THRESHOLDS) + 1)[::-1].cumsum()[::-1][1:]
            for values in (self.right, self.made)
        )
        scores = 2 * right / np.maximum(1, made + self.sure)
        number = int(scores.argmax())
        return float(scores[number]), THRESHOLDS[number]


@dataclass(frozen=True)
class HeadScores:
    """F1 by head ("7.4"), with those of the mean and of rollout; and what the best of as many random maps reaches, the
    95 % quantile of it over :data:`DRAWS` draws."""

    f1: dict[str, float]
    random_95: float

    @property
    def best(self) -> str:
        """The head with the largest F1, or "mean" or "rollout" where that is larger."""
        return max(self.f1, key=self.f1.__getitem__)


@torch.inference_mode()
def head_scores(
    checkpoint: Checkpoint,
    pairs: Sequence[AlignedPair],
    seed: int = 1,
    progress: Callable[[int], None] = lambda n: None,
) -> HeadScores:
    """Measure every head on these pairs. Raises RunError for a model without heads, and where there are no pairs."""
    if not checkpoint.model.has_heads or not pairs:
        raise RunError(f"{checkpoint.name} has no heads to choose from: leave --heads out, or choose a transformer")
    names: list[str] = []
    best, weights, readings = [], [], []
    for number, pair in enumerate(pairs, start=1):
        reading = checkpoint.read(pair.source, pair.target)
        batch: Any = checkpoint.reader.batch(reading)
        layers = checkpoint.model.under(batch, Intervention(head="")).trace.layers
        several = [torch.cat([layer[0] for layer in layers])]
        several += [chosen_attention(layers, whole)[None] for whole in (MEAN, ROLLOUT)]
        looked_at = between(torch.cat(several), batch)[1].weights.max(dim=-1)  # of the target's words
        best.append(looked_at.indices.numpy())
        weights.append(looked_at.values.numpy())
        readings.append(reading)
        names = names or [str(Head(i, j)) for i, layer in enumerate(layers) for j in range(layer.shape[1])]
        progress(number)
    cells = cells_of(pairs, readings)
    by_map = zip([*names, MEAN, ROLLOUT], np.concatenate(best, 1), np.concatenate(weights, 1), strict=True)
    f1 = {name: cells.f1(*found)[0] for name, *found in by_map}
    return HeadScores(f1, best_of_random(cells, len(f1), seed))


def cells_of(pairs: Sequence[AlignedPair], readings: Sequence[Reading]) -> Cells:
    """What each cell of each pair's map, rows the target's words, would link."""
    right, made, counts = [], [], []
    for pair, reading in zip(pairs, readings, strict=True):
        source, target = reading.texts()
        columns = whitespace_places(source.text, source.tokens)
        for places in whitespace_places(target.text, target.tokens):
            links = [[(i, j) for i in column for j in places] for column in columns]
            made += [len(cell) for cell in links]
            right += [sum(link in pair.sure for link in cell) for cell in links]
            counts.append(len(columns))
    count = np.array(counts)
    return Cells(count.cumsum() - count, count, np.array(right), np.array(made), sum(len(pair.sure) for pair in pairs))


def best_of_random(cells: Cells, maps: int, seed: int) -> float:
    """The 95 % quantile of the best F1 of so many maps whose rows are drawn evenly from all that add up to 1."""
    drawn = np.random.default_rng(seed)
    widths, which = np.unique(cells.count, return_inverse=True)
    pools = np.array([drawn.dirichlet(np.ones(width), POOL).max(1) for width in widths])

    def one() -> float:
        columns = (drawn.random(len(which)) * cells.count).astype(int)
        return cells.f1(columns, pools[which, drawn.integers(POOL, size=len(which))])[0]

    return float(np.quantile([max(one() for _ in range(maps)) for _ in range(DRAWS)], 0.95))
