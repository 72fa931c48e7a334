"""Hand-written pairs, and how many of them a checkpoint gets right.

Two suites (kind, label, premise, hypothesis) that are never trained on: ``simple_pairs.tsv`` has pairs that users type
first, which differ in one respect; ``order_pairs.tsv`` those they type next: who did what to whom, how many, and which
of two things has which colour, place or activity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from core.card import Card
from core.checkpoint import Checkpoint
from core.data import Dataset, read
from core.errors import RunError
from core.evaluation.predict import classify
from core.json_types import JsonMapping, JsonObject
from core.linguistics.constructions import exchanged, words_of
from core.models.base import Intervention

LABELS = ("entailment", "neutral", "contradiction")
"""Classes required of a model to be tested."""
SUITES = {name: Path(__file__).with_name(f"{name}_pairs.tsv") for name in ("simple", "order")}

CARD_KEYS = {"simple": "probe", "order": "probe_order"}
"""The card key for each suite's figures."""


def suits(card: Card) -> bool:
    """Whether the suite applies to this card's model: a pair model with the three entailment classes."""
    roles = card.get("roles")
    return set(card.get("labels", ())) == set(LABELS) and isinstance(roles, dict) and bool(roles.get("second"))


def probe(checkpoint: Checkpoint, device: torch.device, suite: str = "simple") -> JsonObject:
    """Evaluates a checkpoint on one of SUITES.

    Returns ``right``, ``total``, ``kinds`` (both by kind), ``typing`` (the shares of verdicts that survive removing
    final full stops and lower-casing) and ``wrong``, the misclassified pairs with the predicted verdict and its
    probability; for a model that counts crossings also ``without_crossings``, the number of verdicts that change with q
    = 0: ``turned`` of ``total`` pairs with the same words in another order (:func:`exchanged`), and ``kinds``, the
    number by kind. Raises RunError for a checkpoint without the three entailment classes.
    """
    if not suits(checkpoint.card):
        raise RunError(
            f"{checkpoint.name} does not tell {', '.join(LABELS)} of pairs apart; choose a checkpoint that does"
        )
    pairs = read(SUITES[suite])
    chances = classify(checkpoint, pairs, device)
    verdicts = chances.argmax(axis=1)
    kinds: dict[str, dict[str, int]] = {}
    wrong = []
    for row, probabilities, best in zip(pairs.rows, chances, verdicts, strict=True):
        kind, verdict = row.columns["kind"], checkpoint.labels[int(best)]
        counts = kinds.setdefault(kind, {"right": 0, "total": 0})
        counts["total"] += 1
        counts["right"] += verdict == row.label
        if verdict != row.label:
            pair = {"kind": kind, "premise": row.first, "hypothesis": row.second, "label": row.label}
            wrong.append({**pair, "verdict": verdict, "probability": round(float(probabilities.max()), 4)})
    typing = {
        name: round(float((classify(checkpoint, retyped(pairs, change), device).argmax(axis=1) == verdicts).mean()), 4)
        for name, change in TYPED.items()
    }
    total = len(pairs.rows)
    result = {"right": total - len(wrong), "total": total, "kinds": kinds, "typing": typing, "wrong": wrong}
    if checkpoint.model.counts_crossings:
        without = classify(checkpoint, pairs, device, intervention=Intervention(crossings=False)).argmax(axis=1)
        result["without_crossings"] = _turned(pairs, without != verdicts)
    return result


def _turned(pairs: Dataset, turned: np.ndarray) -> JsonObject:
    """How many verdicts flipped (bool ``[N]``): among the exchanged pairs, and by kind."""
    swapped = np.array([exchanged(words_of(row.first), words_of(row.second)) for row in pairs.rows])
    of_kind = np.array([row.columns["kind"] for row in pairs.rows])
    kinds = {kind: int(turned[of_kind == kind].sum()) for kind in dict.fromkeys(of_kind.tolist())}
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
