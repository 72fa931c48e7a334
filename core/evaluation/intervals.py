"""Intervals of means over runs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def half_width(values: Sequence[float]) -> float:
    """Half the 95 % interval of a mean of n ≥ 2 values: t(.975, n - 1) · s / √n (Student's t)."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # here, so that Explore starts without it

    factor = float(stdtrit(len(values) - 1, 0.975))
    return float(factor * statistics.stdev(values) / len(values) ** 0.5)
