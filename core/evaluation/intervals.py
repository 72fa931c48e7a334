"""Confidence intervals for means over runs, for proportions and for means over items."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np

from core.card import Interval


def half_width(values: Sequence[float]) -> float:
    """Half-width of the 95 % interval of the mean of n ≥ 2 values: t(.975, n - 1) · s / √n (Student's t)."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # here, so that Explore starts without it

    factor = float(stdtrit(len(values) - 1, 0.975))
    return float(factor * statistics.stdev(values) / len(values) ** 0.5)


def wilson(successes: float, items: int) -> tuple[float, float]:
    """95 % interval of a proportion (Wilson 1927); 0 to 1 for zero items."""
    if not items:
        return 0.0, 1.0
    share, z = successes / items, 1.959963984540054
    middle = share + z * z / (2 * items)
    half = z * math.sqrt(share * (1 - share) / items + z * z / (4 * items * items))
    scale = 1 + z * z / items
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def paired_difference(both: int, only_first: int, only_second: int, neither: int) -> tuple[float, float]:
    """95 % interval of the second proportion minus the first, both over the same items, from the number of items on
    which both, one or neither succeeds (Newcombe 1998, "Improved confidence intervals for the difference between
    binomial proportions based on paired data", method 10); -1 to 1 for zero items."""
    items = both + only_first + only_second + neither
    if not items:
        return -1.0, 1.0
    first, second = both + only_first, both + only_second
    (low_1, high_1), (low_2, high_2) = wilson(first, items), wilson(second, items)
    product = float(first) * (items - first) * second * (items - second)
    related: float = both * neither - only_first * only_second
    related = max(related - items / 2, 0.0) if related > 0 else related  # continuity correction
    phi = related / math.sqrt(product) if product else 0.0

    def reach(one: float, other: float) -> float:
        return math.sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))

    share_1, share_2 = first / items, second / items
    below, above = reach(share_2 - low_2, high_1 - share_1), reach(high_2 - share_2, share_1 - low_1)
    return share_2 - share_1 - below, share_2 - share_1 + above


RESAMPLES, SEED = 2_000, 0
"""Defaults of :func:`bootstrap_mean`."""


def bootstrap_mean(values: np.ndarray) -> tuple[float, float]:
    """95 % percentile interval of the mean of ``values [N]`` over resampled items; 0 to 1 if there are none."""
    if not len(values):
        return 0.0, 1.0
    random, items = np.random.default_rng(SEED), len(values)
    rows = max(1, 2**16 // items)  # few enough to stay in the processor's cache
    resamples = (random.integers(0, items, (min(rows, RESAMPLES - n), items)) for n in range(0, RESAMPLES, rows))
    low, high = np.percentile(np.concatenate([values[some].mean(1) for some in resamples]), [2.5, 97.5])
    return float(low), float(high)


def bootstrap_median(values: np.ndarray) -> tuple[float, float]:
    """95 % percentile interval of the median of ``values [N]`` over resampled items."""
    picked = np.random.default_rng(SEED).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(np.median(values[picked], axis=1), [2.5, 97.5])
    return float(low), float(high)


def mean_of(values: Sequence[float]) -> Interval:
    """The mean of one value per item, with :func:`bootstrap_mean`."""
    numbers = np.array(values)
    return {"mean": float(numbers.mean()), "interval": list(bootstrap_mean(numbers))}
