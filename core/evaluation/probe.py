"""The number of pairs of a suite that a checkpoint gets right, by kind; and the kinds that it gains or loses compared
with another checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch

from core.card import Card
from core.checkpoint import Checkpoint
from core.data import Dataset
from core.data.labels import Scale
from core.errors import RunError
from core.evaluation.predict import classify
from core.evaluation.reliability import mcnemar
from core.evaluation.suites import CLASSES, Suite
from core.json_types import JsonMapping, JsonObject
from core.linguistics.constructions import exchanged, words_of
from core.models.intervention import Intervention

LOST = 2
"""Number of pairs that a kind may lose by chance."""
SIGNIFICANT = 0.05


def suits(card: Card) -> bool:
    """Whether the suites apply to this card's model: a pair model with the three entailment classes."""
    roles = card.get("roles")
    return set(card.get("labels", ())) == set(CLASSES) and isinstance(roles, dict) and bool(roles.get("second"))


@dataclass(frozen=True)
class Answers:
    """A checkpoint's answers to labelled pairs. ``chances [N, A]``: the probability of each answer of ``scale``."""

    pairs: Dataset
    scale: Scale
    chances: np.ndarray

    @cached_property
    def best(self) -> np.ndarray:
        """The most probable answer of each pair, ``[N]``."""
        return self.chances.argmax(axis=1)

    @cached_property
    def right(self) -> np.ndarray:
        """Whether each pair is answered correctly, bool ``[N]``."""
        right: np.ndarray = self.best == self.scale.of([row.label for row in self.pairs.rows])
        return right

    @cached_property
    def kinds(self) -> np.ndarray:
        """The kind of each pair, ``[N]``; its label in a file without kinds."""
        return np.array([row.columns.get("kind") or row.label for row in self.pairs.rows])


def answers(
    checkpoint: Checkpoint, pairs: Dataset, scale: Scale, device: torch.device, intervention: Intervention | None = None
) -> Answers:
    """A checkpoint's answers. Raises RunError for one without the three entailment classes."""
    if not suits(checkpoint.card):
        raise RunError(
            f"{checkpoint.name} does not tell {', '.join(CLASSES)} of pairs apart; choose a checkpoint that does"
        )
    asked = classify(checkpoint, pairs, device, intervention=intervention or Intervention())
    return Answers(pairs, scale, scale.sums(asked))


def probe(checkpoint: Checkpoint, device: torch.device, suite: Suite) -> JsonObject:
    """Evaluates a checkpoint on a suite.

    Returns ``right``, ``total``, ``kinds`` (both by kind), ``typing`` (the shares of verdicts that survive removing
    final full stops and lower-casing) and ``wrong``, the misclassified pairs with the predicted verdict and its
    probability; for a model that counts crossings also ``without_crossings``, the number of verdicts that change with q
    = 0: ``turned`` of ``total`` pairs with the same words in another order (:func:`exchanged`), and ``kinds``, the
    number by kind. Raises RunError for a checkpoint without the three entailment classes.
    """
    scale = suite.scale(checkpoint.labels)
    given = answers(checkpoint, suite.pairs, scale, device)
    rows, right = suite.pairs.rows, given.right
    kinds = {
        str(kind): {"right": int(right[given.kinds == kind].sum()), "total": int((given.kinds == kind).sum())}
        for kind in dict.fromkeys(given.kinds.tolist())
    }
    wrong = [
        {
            **{"kind": str(kind), "premise": row.first, "hypothesis": row.second, "label": row.label},
            **{"verdict": scale.names[int(best)], "probability": round(float(chances.max()), 4)},
        }
        for row, kind, best, chances, hit in zip(rows, given.kinds, given.best, given.chances, right, strict=True)
        if not hit
    ]
    typing = {
        name: round(
            float((answers(checkpoint, retyped(suite.pairs, change), scale, device).best == given.best).mean()), 4
        )
        for name, change in TYPED.items()
    }
    result = {"right": int(right.sum()), "total": len(rows), "kinds": kinds, "typing": typing, "wrong": wrong}
    if checkpoint.model.reads(checkpoint.card["config"]).crossings:
        without = answers(checkpoint, suite.pairs, scale, device, Intervention(crossings=False))
        result["without_crossings"] = _turned(given, without.best != given.best)
    return result


def _turned(given: Answers, turned: np.ndarray) -> JsonObject:
    """How many verdicts flipped (bool ``[N]``): among the exchanged pairs, and by kind."""
    swapped = np.array([exchanged(words_of(row.first), words_of(row.second)) for row in given.pairs.rows])
    kinds = {str(kind): int(turned[given.kinds == kind].sum()) for kind in dict.fromkeys(given.kinds.tolist())}
    return {"turned": int(turned[swapped].sum()), "total": int(swapped.sum()), "kinds": kinds}


TYPED: dict[str, Callable[[str], str]] = {
    "without full stop": lambda text: text.rstrip("."),
    "in lower case": str.lower,
}
"""Variants of typing a sentence that must not change its verdict."""


def retyped(pairs: Dataset, change: Callable[[str], str]) -> Dataset:
    """A copy of the pairs with ``change`` applied to every text."""
    rows = tuple(replace(row, first=change(row.first), second=change(row.second)) for row in pairs.rows)
    return replace(pairs, rows=rows)


def figures(result: JsonMapping) -> JsonObject:
    """The part of a result that goes into a card: without typing variants and wrong pairs."""
    return {key: result[key] for key in ("right", "total", "kinds", "without_crossings") if key in result}


class KindChange(NamedTuple):
    """The pairs of a kind that two checkpoints get right, and the exact McNemar p of their difference."""

    kind: str
    total: int
    old: int
    new: int
    p: float

    @property
    def falls(self) -> bool:
        """Whether the newer one is worse by more than chance: significantly, or by more than :data:`LOST` pairs."""
        return self.new < self.old and (self.p < SIGNIFICANT or self.old - self.new > LOST)


def changes(old: Answers, new: Answers) -> Iterator[KindChange]:
    """The change over all pairs, and of each kind."""
    for kind in ("all", *dict.fromkeys(old.kinds.tolist())):
        here = (old.kinds == kind) | (kind == "all")
        before, after = old.right[here], new.right[here]
        yield KindChange(str(kind), int(here.sum()), int(before.sum()), int(after.sum()), mcnemar(before, after).p)
