"""Fits a linear classifier to the feature vectors of labelled pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from core.lazy import import_alone

PULL = 0.1
"""The default strength of the pull towards the classifier's old weights."""
PULLS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Strengths to choose from, from the one that learns most."""
KEEP = 0.4
"""The default weight of the term that keeps the old answers to other pairs. With this pull and weight, five corrections
of a kind of one_word bring nli-esim's other pairs of that kind to .91 at least and cost it .8 points of SNLI dev at
most; a tenth of the weight costs it two to three points."""
STRENGTHS = (0.0003, 0.001, 0.003, 0.01, 0.03)
"""Values of C among which :func:`fresh` chooses."""
FOLDS = 4
_CONVERGED = {"maxiter": 500, "gtol": 1e-6, "ftol": 1e-12, "maxcor": 50}
"""Settings of L-BFGS: at a hundredth of the accuracy that is promised."""


@dataclass(frozen=True)
class Linear:
    """A linear classifier: logits = features @ weight.T + bias, float32."""

    weight: Tensor
    """[C, F]"""
    bias: Tensor
    """[C]"""

    @classmethod
    def of(cls, layer: torch.nn.Linear) -> Linear:
        """The classifier in a layer."""
        return cls(layer.weight.detach(), layer.bias.detach())

    def logits(self, features: Tensor) -> Tensor:
        """``[N, F] -> [N, C]``, float64."""
        return features.double() @ self.weight.double().T + self.bias.double()


def pulled(
    old: Linear, features: Tensor, labels: Tensor, kept: Tensor | None = None, *, pull: float = PULL, keep: float = KEEP
) -> Linear:
    """The classifier refitted to a few pairs, pulled towards its old weights and old answers to other pairs.

    Minimises, over W and b (L-BFGS from the old ones, in double precision),

        Σ_i -log p(y_i | x_i) + pull · (‖W - W₀‖² + ‖b - b₀‖²) + keep · Σ_j KL(p₀(· | k_j) ‖ p(· | k_j))

    ``features [N, F]`` and class indices ``labels [N]`` are of the N pairs, ``kept [K, F]`` of other pairs. The first
    term alone would forget the rest: the second is the pull of elastic weights without importance weights (Kirkpatrick
    et al. 2017, equation 3), the third distils the old answers (Li and Hoiem 2016, equation 2, at temperature 1).
    Without a pair the result is ``old`` itself.
    """
    from scipy.optimize import minimize  # imported here: it takes half a second

    if not len(features):
        return old
    x, y = features.double().numpy(), labels.numpy()
    k = np.empty((0, x.shape[1])) if kept is None else kept.double().numpy()
    start = np.concatenate([old.weight.double().numpy(), old.bias.double().numpy()[:, None]], axis=1)
    target = _softmax(k @ start[:, :-1].T + start[:, -1])

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        change = flat.reshape(start.shape)
        now = start + change
        log_p, log_k = (_log_softmax(rows @ now[:, :-1].T + now[:, -1]) for rows in (x, k))
        # Σ p₀ log p₀ is constant, and left out.
        value = -log_p[np.arange(len(y)), y].sum() + pull * (change**2).sum() - keep * (target * log_k).sum()
        wrong, moved = np.exp(log_p), keep * (np.exp(log_k) - target)
        wrong[np.arange(len(y)), y] -= 1
        slope = 2 * pull * change
        slope[:, :-1] += wrong.T @ x + moved.T @ k
        slope[:, -1] += wrong.sum(0) + moved.sum(0)
        return float(value), slope.ravel()

    found = start + minimize(loss, np.zeros(start.size), jac=True, method="L-BFGS-B", options=_CONVERGED).x.reshape(
        start.shape
    )
    return Linear(torch.from_numpy(found[:, :-1]).float(), torch.from_numpy(found[:, -1]).float())


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(axis=1, keepdims=True, initial=-np.inf) if len(logits) else logits
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(_log_softmax(logits))


def fresh(
    features: Tensor, labels: Tensor, folds: np.ndarray, *, balanced: bool = False, strength: float | None = None
) -> tuple[Linear, float]:
    """A new classifier for new classes, and its C: logistic regression on standardised features.

    C is the one of :data:`STRENGTHS` with the lowest log loss over the ``folds [N]`` (the part of each row), unless
    ``strength`` gives it. ``features [N, F]``, class indices ``labels [N]``, each class at least once; ``balanced``:
    rows are weighted by one over the size of their class.
    """
    x, y = features.numpy(), labels.numpy()
    weight = "balanced" if balanced else None
    best = strength
    if best is None:
        best = min(STRENGTHS, key=lambda c: _held_out_loss(x, y, folds, c, weight))
    model, scaler = _regression(x, y, best, weight)
    return unscaled(model.coef_, model.intercept_, scaler), best


def _regression(x: np.ndarray, y: np.ndarray, c: float, weight: str | None, tolerance: float = 1e-6) -> tuple[Any, Any]:
    """The fitted classifier of standardised features, and their scaler, both scikit-learn's."""
    import_alone("sklearn.linear_model")  # imported here: it takes two seconds
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(x)
    model = LogisticRegression(C=c, max_iter=1000, tol=tolerance, class_weight=weight)
    return model.fit(scaler.transform(x), y), scaler


def probabilities_of(
    features: Tensor, labels: np.ndarray, others: Tensor, strength: float
) -> tuple[np.ndarray, np.ndarray]:
    """The classes among ``labels [N]``, ascending, and their probabilities for ``others [M, F]``, ``[M, C]``: logistic
    regression with this C on the standardised ``features [N, F]``, all classes weighted alike: among few rows one
    class would win everywhere."""
    model, scaler = _regression(features.numpy(), labels, strength, "balanced", 1e-4)
    return model.classes_, model.predict_proba(scaler.transform(others.numpy()))


def out_of_fold(features: Tensor, labels: np.ndarray, folds: np.ndarray, strength: float) -> np.ndarray:
    """The probability of each row's own label, float ``[N]``, by a classifier fitted to the other ``folds [N]``:
    logistic regression with this C on standardised ``features [N, F]``; 0 for a label that the others lack."""
    x, found = features.numpy(), np.zeros(len(labels))
    for fold in np.unique(folds):
        held = folds == fold
        classes = np.unique(labels[~held])
        if len(classes) < 2:
            found[held] = np.isin(labels[held], classes)
            continue
        model, scaler = _regression(x[~held], labels[~held], strength, None, 1e-4)
        chances = model.predict_proba(scaler.transform(x[held]))
        place = np.searchsorted(model.classes_, labels[held]).clip(max=len(model.classes_) - 1)
        own = chances[np.arange(len(place)), place]
        found[held] = np.where(model.classes_[place] == labels[held], own, 0)
    return found


def _held_out_loss(x: np.ndarray, y: np.ndarray, folds: np.ndarray, c: float, weight: str | None) -> float:
    """The mean log loss of rows by models fitted on the other folds; a missing class costs as much as p = 1e-6."""
    total = 0.0
    for fold in np.unique(folds):
        held = folds == fold
        if len(np.unique(y[~held])) < 2:
            continue
        model, scaler = _regression(x[~held], y[~held], c, weight, 1e-3)
        log_p = model.predict_log_proba(scaler.transform(x[held]))
        place = {label: at for at, label in enumerate(model.classes_)}
        total -= sum(
            max(log_p[row, place[label]], _UNSEEN) if label in place else _UNSEEN for row, label in enumerate(y[held])
        )
    return total / len(y)


_UNSEEN = -13.8


def unscaled(weight: np.ndarray, bias: np.ndarray, scaler: Any) -> Linear:
    """The classifier of raw features that equals one of standardised features (``weight [C, F]``, one row for two
    classes; ``bias [C]``): otherwise contributions would not add up to the logits."""
    if len(weight) == 1:  # two classes share one hyperplane: half of it for each side gives the same difference
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    weight = weight / scaler.scale_
    bias = bias - weight @ scaler.mean_
    return Linear(torch.from_numpy(weight).float(), torch.from_numpy(bias).float())
