"""Labels that may be wrong: the probability of each row's label by classifiers that learned from other rows.

    found = label_probabilities(checkpoint, pairs, labels)
    injected(...)   # how well that finds labels that were changed on purpose

Northcutt et al. (2021, "Confident learning") rank labels in the same way; our classifier is logistic regression on a
checkpoint's frozen features, over five folds that keep equal texts together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from core.adaptation.features import Pair, feature_vectors
from core.adaptation.fits import out_of_fold
from core.checkpoint import Checkpoint
from core.data.split import folds
from core.errors import UserError
from core.evaluation.predict import RowsDone

FOLDS = 5
STRENGTH = 0.001
"""C, strong enough that the classifier does not learn the wrong labels."""
LEAST_ROWS = 50


def label_probabilities(
    checkpoint: Checkpoint, pairs: Sequence[Pair], labels: Sequence[str], progress: RowsDone = lambda rows: None
) -> np.ndarray:
    """The probability of each row's label, float ``[N]``. Raises UserError for too few rows, for rows with only one
    label, and for a model without features."""
    return of_features(feature_vectors(checkpoint, pairs, progress), pairs, labels)


def of_features(features: Tensor, pairs: Sequence[Pair], labels: Sequence[str]) -> np.ndarray:
    """The same from the ``features [N, F]`` of the pairs."""
    names, numbers = np.unique(np.array(labels, dtype=str), return_inverse=True)
    if len(pairs) < LEAST_ROWS or len(names) < 2:
        raise UserError(
            f"labels can be checked in {LEAST_ROWS} labelled rows or more with two labels or more, and here are "
            f"{len(pairs)} with {len(names)}"
        )
    return out_of_fold(features, numbers, folds(pairs, FOLDS), STRENGTH)


@dataclass(frozen=True)
class InjectedNoise:
    """The accuracy with which changed labels are found."""

    rows: int
    changed: int
    auc: float
    """Probability that a changed label has a lower probability than an unchanged one."""
    share: float
    """Share of changed labels among the rows with the lowest probabilities, as many as were changed."""


def injected(
    features: Tensor, pairs: Sequence[Pair], labels: Sequence[str], noise: float = 0.1, seed: int = 0
) -> InjectedNoise:
    """Changes a share of the labels, ``noise``, to another one at random, and tries to find them."""
    random, names = np.random.default_rng(seed), sorted({*labels})
    changed = random.permutation(len(labels))[: round(noise * len(labels))]
    mistaken = [*labels]
    for row in changed.tolist():
        others = [name for name in names if name != labels[row]]
        mistaken[row] = others[random.integers(len(others))]
    found = of_features(features, pairs, mistaken)
    wrong = np.zeros(len(labels), dtype=bool)
    wrong[changed] = True
    lowest = np.argsort(found, kind="stable")[: len(changed)]
    return InjectedNoise(
        len(labels), len(changed), area_under(found[wrong], found[~wrong]), float(wrong[lowest].mean())
    )


def area_under(lower: np.ndarray, higher: np.ndarray) -> float:
    """The probability that one of ``lower`` is below one of ``higher``, ties counting half (Mann and Whitney 1947)."""
    ordered = np.sort(higher)
    above = len(higher) - np.searchsorted(ordered, lower, "right")
    ties = np.searchsorted(ordered, lower, "right") - np.searchsorted(ordered, lower, "left")
    return float((above + ties / 2).mean() / len(higher))
