"""Calibration of a model's probabilities, and whether two models err on the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.lazy import import_alone
from core.wording import score_percent

BINS = 15


@dataclass(frozen=True)
class Bin:
    """Predictions with confidence in (low, high]: their number, mean confidence and accuracy."""

    low: float
    high: float
    items: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Reliability:
    """``ece``: the expected calibration error, Σ_b n_b / N · |accuracy_b − confidence_b|; empty bins are left out."""

    bins: tuple[Bin, ...]
    ece: float

    @property
    def in_words(self) -> str:
        """The measures, as the Error desk shows them."""
        return f"ECE {score_percent(self.ece)} ({BINS} bins)"


def reliability(confidence: np.ndarray, right: np.ndarray) -> Reliability:
    """Equal-width bins of the most likely class's probability (Guo et al. 2017, section 2); ``confidence`` float in [0,
    1] and ``right`` bool, both ``[N]``."""
    places = np.clip(np.ceil(confidence * BINS).astype(int) - 1, 0, BINS - 1)
    bins = []
    for place in range(BINS):
        here = places == place
        if here.any():
            means = float(confidence[here].mean()), float(right[here].mean())
            bins.append(Bin(place / BINS, (place + 1) / BINS, int(here.sum()), *means))
    total = max(1, len(confidence))
    return Reliability(tuple(bins), sum(b.items / total * abs(b.accuracy - b.confidence) for b in bins))


@dataclass(frozen=True)
class McNemar:
    """Counts of rows by which of two models is right, and the exact test's p (McNemar 1947)."""

    both: int
    only_first: int
    only_second: int
    neither: int
    p: float


def mcnemar(first: np.ndarray, second: np.ndarray) -> McNemar:
    """McNemar's exact test of whether two models err equally often: a two-sided binomial test on the rows that only one
    gets right; ``first`` and ``second`` bool ``[N]``."""
    import_alone("scipy.stats")
    from scipy.stats import binomtest  # imported here for a fast start without the test

    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    apart = only_first + only_second
    p = float(binomtest(only_first, apart).pvalue) if apart else 1.0
    return McNemar(int((first & second).sum()), only_first, only_second, int((~first & ~second).sum()), p)
