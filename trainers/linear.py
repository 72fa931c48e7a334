"""scikit-learn's classifiers on a network's feature vector (Yin & Schütze 2017, section 4.1).

The paper reports the best of three: the network's own logistic regression, scikit-learn's logistic regression and its
linear SVM, the latter two with default parameters "directly on the feature vector". Here features are standardised
first, and the regularization strength is chosen on dev: with the default C = 1 a thousand features overfit four
thousand pairs.

A fitted classifier is a weight matrix and a bias, so it replaces the network's own and is saved with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from core.adaptation.fits import unscaled
from core.checkpoint.files import rounded

if TYPE_CHECKING:
    from sklearn.preprocessing import StandardScaler

STRENGTHS = (0.0003, 0.001, 0.003, 0.01, 0.03)
"""Values of C to try."""

LINEAR = ("logistic regression", "linear SVM")
NAMES = ("network", *(f"{kind}, C = {strength:g}" for strength in STRENGTHS for kind in LINEAR))
"""Values of a recipe's ``linear_classifier``: the network's own classifier, or one of these."""


@dataclass(frozen=True)
class NamedLinear:
    """A fitted linear classifier: logits = features @ weight.T + bias. ``name`` is its kind and C."""

    name: str
    weight: Tensor
    """[C, F]"""
    bias: Tensor
    """[C]"""

    def probabilities(self, features: Tensor) -> np.ndarray:
        """Softmax of the logits, ``[N, F] -> [N, C]``. For an SVM they can only rank classes and answers."""
        return torch.softmax((features @ self.weight.T + self.bias).double(), dim=1).numpy()


def fitted(features: Tensor, labels: Tensor, weights: Tensor, only: str = "") -> Iterator[NamedLinear]:
    """Both kinds at every strength, fitted on ``[N, F]`` class indices and row weights ``[N]``; ``only``: just this
    one."""
    from sklearn.linear_model import LogisticRegression  # imported here: it takes two seconds
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    scaler = StandardScaler().fit(features.numpy())
    scaled = scaler.transform(features.numpy())
    for strength in STRENGTHS:
        # 1e-3 is a tenth of the tolerance that would change predictions, at a fraction of the default's time.
        regression = LogisticRegression(C=strength, max_iter=300, tol=1e-3)
        machine = LinearSVC(C=strength, dual=True, max_iter=2000, tol=1e-3, random_state=0)
        for kind, model in zip(LINEAR, (regression, machine), strict=True):
            name = f"{kind}, C = {strength:g}"
            if only in ("", name):
                model.fit(scaled, labels.numpy(), sample_weight=weights.numpy())
                yield _unscaled(name, model.coef_, model.intercept_, scaler)


def _unscaled(name: str, weight: np.ndarray, bias: np.ndarray, scaler: StandardScaler) -> NamedLinear:
    if len(weight) == 1:  # two classes share one hyperplane: half of it for each side gives the same difference
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    plain = unscaled(weight, bias, scaler.mean_, scaler.scale_)
    return NamedLinear(name, rounded(plain.weight), rounded(plain.bias))
