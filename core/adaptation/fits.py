"""Fits a linear classifier to the feature vectors of labelled pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from core.lazy import import_alone

PULL = 0.003
"""The default strength of the pull towards the classifier's old weights, in units of the features' spread
(:func:`spread`), which differs tenfold between models."""
PULLS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Strengths to choose from, from the one that learns most."""
KEEP = 0.4
"""The default weight of the term that keeps the old answers to other pairs. With this pull and weight, five corrections
of one kind of one_word raise nli-esim's accuracy on that kind's other pairs to at least .91 and cost at most .8 points
on SNLI dev; with a tenth of the weight they cost two to three points."""
STRENGTHS = (0.0002, 0.0006, 0.002, 0.006, 0.02, 0.06)
"""Values of C among which :func:`fresh` chooses."""
LEAST_STRENGTH = 0.5
"""The least C times the number of pairs. Chosen by log loss alone, C is often so small that all pairs are in one class:
25 pairs of Quora gave .63 on average and .40 at worst, and .69 and .65 with this."""
FOLDS = 4
MOST_HELD_OUT = 5_000
"""Maximum number of pairs that C is chosen on."""
MOST_PULLED = 600
"""Maximum number of pairs that the pull of a sample is chosen on (:func:`held_out_pull`), so that it takes seconds."""
_UNSEEN = -13.8
_PRECISE = {"maxiter": 500, "gtol": 1e-6, "ftol": 1e-12, "maxcor": 50}
"""Settings of L-BFGS: its tolerance is a hundredth of the promised accuracy."""
_ROUGH = {"maxiter": 300, "gtol": 1e-4, "ftol": 1e-6, "maxcor": 20}
"""The same where only the best C is looked for."""
_AT_ONCE, _BLOCK = 1 << 24, 1 << 20
"""Maximum numbers of values held in double precision for a whole fit, and per block if there are more. Blocks are
converted again at each step, so that many wide vectors are only held in single precision."""
_LEAST_SPREAD = 1e-7

Step = Callable[[], object]
"""Called at each step of a fit; an exception that it raises ends the fit."""


def no_step() -> None:
    """The default: nothing to report."""


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


@dataclass(frozen=True)
class _Scaler:
    """Standardises features: less the ``mean [F]``, by the ``scale [F]``."""

    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray) -> _Scaler:
        mean, square = np.zeros(x.shape[1]), np.zeros(x.shape[1])
        for here in _places(x):
            mean += x[here].astype(np.float64).sum(0) / len(x)
        for here in _places(x):
            square += ((x[here] - mean) ** 2).sum(0) / len(x)
        scale = np.sqrt(square)
        return cls(mean, np.where(scale > _LEAST_SPREAD, scale, 1.0))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """``[N, F]``, float64."""
        return np.asarray((x - self.mean) / self.scale)


def unscaled(weight: np.ndarray, bias: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> Linear:
    """The classifier of raw features that equals one of standardised features (``weight [C, F]``, ``bias [C]``):
    otherwise contributions would not add up to the logits."""
    weight = weight / scale
    return Linear(torch.from_numpy(weight).float(), torch.from_numpy(bias - weight @ mean).float())


def _places(x: np.ndarray) -> Iterator[slice]:
    size = max(1, _BLOCK // max(1, x.shape[1]))
    return (slice(start, start + size) for start in range(0, len(x), size))


@dataclass(frozen=True)
class _Rows:
    """Rows of a loss: their features ``x [N, F]``, which a ``scaler`` may standardise; the probabilities of the classes
    that they should have, ``[N, C]``; and the weight of each row, or of all."""

    x: np.ndarray
    target: np.ndarray
    weight: np.ndarray | float = 1.0
    scaler: _Scaler | None = None

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Blocks of rows, each with its slice and its vectors in double precision."""
        for here in _places(self.x):
            block = self.x[here]
            yield here, self.scaler(block) if self.scaler else block.astype(np.float64, copy=False)

    def held(self) -> _Rows:
        """The same with all vectors converted once, unless that takes much memory."""
        if self.x.size > _AT_ONCE or not len(self.x):
            return self
        return replace(self, x=np.concatenate([block for _, block in self.blocks()]), scaler=None)


def _minimum(
    terms: Sequence[_Rows],
    start: np.ndarray,
    pull: np.ndarray | float,
    options: Mapping[str, float],
    step: Step,
    first: np.ndarray | None = None,
) -> np.ndarray:
    """The weights and biases ``[C, F + 1]`` that minimise the weighted cross-entropy of all rows plus ``pull`` times
    the squares of their distances from ``start``; by L-BFGS from ``first``, by default ``start``."""
    import_alone("scipy.optimize")
    from scipy.optimize import minimize  # imported here: it takes half a second

    terms = [term.held() for term in terms if len(term.x)]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        step()
        change = flat.reshape(start.shape)
        now = start + change
        value, slope = float((pull * change**2).sum()), 2 * pull * change
        for term in terms:
            for here, x in term.blocks():
                target = term.target[here]
                weight = term.weight[here, None] if isinstance(term.weight, np.ndarray) else term.weight
                log_p = _log_softmax(x @ now[:, :-1].T + now[:, -1])
                value -= float((weight * target * log_p).sum())
                wrong = weight * (np.exp(log_p) - target)
                slope[:, :-1] += wrong.T @ x
                slope[:, -1] += wrong.sum(0)
        return value, slope.ravel()

    change = np.zeros(start.size) if first is None else (first - start).ravel()
    found: Any = minimize(loss, change, jac=True, method="L-BFGS-B", options=dict(options))
    return np.asarray(start + found.x.reshape(start.shape))


def pulled(
    old: Linear,
    features: Tensor,
    labels: Tensor,
    kept: Tensor | None = None,
    *,
    pull: float,
    keep: float = KEEP,
    step: Step = no_step,
) -> Linear:
    """The classifier refitted to a few pairs, pulled towards its old weights and old answers to other pairs.

    Minimises, over W and b (L-BFGS from the old ones, in double precision),

        Σ_i -log p(y_i | x_i) + pull · (‖W - W₀‖² + ‖b - b₀‖²) + keep · Σ_j KL(p₀(· | k_j) ‖ p(· | k_j))

    ``features [N, F]`` and class indices ``labels [N]`` are of the N pairs, ``kept [K, F]`` of other pairs. The first
    term alone would forget the rest: the second is the pull of elastic weights without importance weights (Kirkpatrick
    et al. 2017, equation 3), the third distils the old answers (Li and Hoiem 2016, equation 2, at temperature 1).
    Without a pair the result is ``old`` itself.
    """
    if not len(features):
        return old
    start = _weights_and_bias(old)
    terms = [_Rows(features.numpy(), _one_hot(labels.numpy(), len(start)))]
    if kept is not None and keep:
        k = kept.double().numpy()
        # Σ p₀ log p₀ is constant, and left out.
        terms.append(_Rows(k, np.exp(_log_softmax(k @ start[:, :-1].T + start[:, -1])), float(keep)))
    found = _minimum(terms, start, pull, _PRECISE, step)
    return Linear(torch.from_numpy(found[:, :-1]).float(), torch.from_numpy(found[:, -1]).float())


def held_out_pull(
    old: Linear, features: Tensor, labels: Tensor, folds: np.ndarray, spread: float, step: Step = no_step
) -> float:
    """The strongest of :data:`PULLS` whose log loss on held-out pairs (cross-validated over ``folds [N]``) is within a
    standard error of the lowest; weaker ones are not tried once the loss has risen by more. ``features [N, F]``, class
    indices ``labels [N]``. If there are more pairs, it is chosen on :data:`MOST_PULLED` of them and scaled up, so that
    the pull per pair stays the same. The old answers to other pairs are ignored."""
    start = _weights_and_bias(old)
    chosen = np.sort(np.random.default_rng(0).permutation(len(labels))[:MOST_PULLED])
    x, target = features.numpy()[chosen], _one_hot(labels.numpy()[chosen], len(start))
    parts = [folds[chosen] == fold for fold in np.unique(folds[chosen])]
    rows, found = [_Rows(x[~held], target[~held]).held() for held in parts], [start for _ in parts]
    losses: dict[float, np.ndarray] = {}
    for pull in reversed(PULLS):
        loss = losses[pull] = np.zeros(len(x))
        for at, held in enumerate(parts):
            found[at] = _minimum([rows[at]], start, pull * spread, _ROUGH, step, first=found[at])
            log_p = _log_softmax(x[held].astype(np.float64) @ found[at][:, :-1].T + found[at][:, -1])
            loss[held] = -(target[held] * log_p).sum(1)
        lowest = min(losses.values(), key=np.mean)
        if not _as_low(loss, lowest):
            break
    strongest = next(pull for pull, loss in losses.items() if _as_low(loss, lowest))
    return strongest * len(labels) / len(chosen)


def _as_low(loss: np.ndarray, lowest: np.ndarray) -> bool:
    """Whether the mean of losses ``[N]`` is within a standard error of the lowest one."""
    more = loss - lowest
    return bool(more.mean() <= more.std() / np.sqrt(len(more)))


def _weights_and_bias(linear: Linear) -> np.ndarray:
    """``[C, F + 1]``, float64."""
    return np.concatenate([linear.weight.double().numpy(), linear.bias.double().numpy()[:, None]], axis=1)


def spread(features: Tensor) -> float:
    """The mean squared distance of features ``[N, F]`` from their mean."""
    x = features.double()
    return float((x - x.mean(0)).square().sum(1).mean())


def _one_hot(labels: np.ndarray, classes: int) -> np.ndarray:
    return np.asarray(labels[:, None] == np.arange(classes), dtype=np.float64)


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(axis=1, keepdims=True, initial=-np.inf) if len(logits) else logits
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


class Chosen(NamedTuple):
    """A new classifier, its C, and whether each pair was right when it was held out, bool ``[N]``; None if C was
    given."""

    linear: Linear
    strength: float
    held_out: np.ndarray | None


def fresh(
    features: Tensor,
    labels: Tensor,
    folds: np.ndarray,
    *,
    balanced: bool = False,
    strength: float | None = None,
    step: Step = no_step,
) -> Chosen:
    """A new classifier for new classes: logistic regression on standardised features, with the penalty ‖W‖² / 2C.

    C is the least of :data:`STRENGTHS` whose log loss over the ``folds [N]`` (the part of each row) is within a
    standard error of the lowest one, and which :data:`LEAST_STRENGTH` allows, unless ``strength`` sets it. If there are
    more pairs, it is chosen on :data:`MOST_HELD_OUT` of them. ``features [N, F]``, class indices ``labels [N]``, each
    class at least once; ``balanced``: rows are weighted by one over the size of their class.
    """
    x, y = features.numpy(), labels.numpy()
    weight = _balanced(y) if balanced else np.ones(len(y))
    held_out = None
    if strength is None:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_HELD_OUT])
        strength, held_out = _best(x[rows], y[rows], folds[rows], weight[rows], step)
    scaler = _Scaler.of(x)
    (found,) = _regressions(_Rows(x, _one_hot(y, int(y.max()) + 1), weight, scaler), [strength], _PRECISE, step)
    return Chosen(unscaled(found[:, :-1], found[:, -1], scaler.mean, scaler.scale), strength, held_out)


def _regressions(
    rows: _Rows, strengths: Sequence[float], options: Mapping[str, float], step: Step
) -> Iterator[np.ndarray]:
    """The classifier with each C, ``[C, F + 1]``, each from the one before; the bias is free. For two classes, C is
    defined for one hyperplane, as in scikit-learn."""
    rows = rows.held()
    classes = rows.target.shape[1]
    found = np.zeros((classes, rows.x.shape[1] + 1))
    penalty = np.ones(found.shape[1]) if classes == 2 else np.full(found.shape[1], 0.5)
    penalty[-1] = 0
    for strength in strengths:
        found = _minimum([rows], np.zeros_like(found), penalty / strength, options, step, first=found)
        yield found


def _told(
    x: np.ndarray,
    y: np.ndarray,
    tested: np.ndarray,
    strengths: Sequence[float],
    weight: np.ndarray | float = 1.0,
    step: Step = no_step,
) -> tuple[np.ndarray, Iterator[np.ndarray]]:
    """The classes among ``y [N]``, ascending, and the log-probabilities of the ``tested [M, F]`` rows, ``[M, C]``, by a
    classifier of the others with each C."""
    classes, numbers = np.unique(y, return_inverse=True)
    scaler = _Scaler.of(x)
    rows, tested = _Rows(x, _one_hot(numbers, len(classes)), weight, scaler), scaler(tested)
    fits = _regressions(rows, strengths, _ROUGH, step)
    return classes, (_log_softmax(tested @ found[:, :-1].T + found[:, -1]) for found in fits)


def _balanced(y: np.ndarray) -> np.ndarray:
    """The weight of each row, by one over the size of its class."""
    _, numbers, sizes = np.unique(y, return_inverse=True, return_counts=True)
    return np.asarray(len(y) / len(sizes) / sizes[numbers])


def probabilities_of(
    features: Tensor, labels: np.ndarray, others: Tensor, strength: float
) -> tuple[np.ndarray, np.ndarray]:
    """The classes among ``labels [N]``, ascending, and their probabilities for ``others [M, F]``, ``[M, C]``: logistic
    regression with this C on the standardised ``features [N, F]``, all classes weighted equally: otherwise, with
    few rows, one class would win everywhere."""
    classes, told = _told(features.numpy(), labels, others.numpy(), [strength], _balanced(labels))
    return classes, np.exp(next(told))


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
        _, told = _told(x[~held], labels[~held], x[held], [strength])
        found[held] = np.exp(_own(next(told), classes, labels[held]))
    return found


def _own(log_p: np.ndarray, classes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The log-probability of each row's own label, ``[N]``; minus infinity for one that is not among the classes."""
    place = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    return np.where(classes[place] == labels, log_p[np.arange(len(place)), place], -np.inf)


def _best(x: np.ndarray, y: np.ndarray, folds: np.ndarray, weight: np.ndarray, step: Step) -> tuple[float, np.ndarray]:
    """The least C whose log loss of pairs held out from the fit is within a standard error of the lowest one, and
    whether each pair was right then; a class that only held-out pairs have counts as p = 1e-6."""
    strengths = [strength for strength in STRENGTHS if strength * len(y) >= LEAST_STRENGTH] or STRENGTHS[-1:]
    losses = np.zeros((len(strengths), len(y)))
    right = np.zeros(losses.shape, dtype=bool)
    for fold in np.unique(folds):
        held = folds == fold
        if len(np.unique(y[~held])) < 2:
            continue
        classes, told = _told(x[~held], y[~held], x[held], strengths, weight[~held], step)
        for at, log_p in enumerate(told):
            losses[at, held] = -weight[held] * np.maximum(_own(log_p, classes, y[held]), _UNSEEN)
            right[at, held] = classes[log_p.argmax(1)] == y[held]
    lowest = losses[losses.sum(1).argmin()]
    best = next(at for at, loss in enumerate(losses) if _as_low(loss, lowest))
    return strengths[best], right[best]
