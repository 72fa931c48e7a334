"""Calibrates a ranker's scores on a dev set: Platt scaling (Platt 1999) of its log-odds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from core.card import Calibration
from core.lazy import import_alone


def fit(log_odds: Sequence[float], right: Sequence[bool]) -> tuple[float, float]:
    """Slope a and bias b of σ(a · log-odds + b) that minimise the log-loss (Platt 1999, section 2, without target
    smoothing). Raises ValueError if all answers are right or all are wrong."""
    import_alone("scipy.optimize")
    from scipy.optimize import minimize  # type: ignore[import-untyped]  # here, so that Explore starts without it

    x, y = np.asarray(log_odds, dtype=float), np.asarray(right, dtype=float)
    if not 0 < y.sum() < len(y):
        raise ValueError("both right and wrong answers are needed")

    def loss(parameters: np.ndarray) -> float:
        z = parameters[0] * x + parameters[1]
        return float(np.mean(np.logaddexp(0, z) - y * z))

    slope, bias = minimize(loss, np.array([1.0, 0.0]), method="BFGS").x.tolist()
    return slope, bias


def log_loss(log_odds: Sequence[float], right: Sequence[bool], slope: float = 1.0, bias: float = 0.0) -> float:
    """Mean log-loss in nats of σ(slope · log-odds + bias); by default the model's uncalibrated loss."""
    z, y = slope * np.asarray(log_odds, dtype=float) + bias, np.asarray(right, dtype=float)
    return float(np.mean(np.logaddexp(0, z) - y * z))


def calibrated(log_odds: float, stored: Calibration) -> float:
    """The calibrated probability of a right answer, from the ``calibration`` on a card."""
    z = stored["slope"] * log_odds + stored["bias"]
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))
