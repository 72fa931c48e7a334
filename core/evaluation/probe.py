"""Pairs written by hand, and how many of them a checkpoint gets right.

Two suites (kind, label, premise, hypothesis), on which nothing is trained: ``simple_pairs.tsv`` is what people type
first, pairs that differ in one respect; ``order_pairs.tsv`` is what they type next: who did what to whom, how many, and
which of two things has which colour, place or deed.
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
"""Classes of the models that the suites test."""
SUITES = {name: Path(__file__).with_name(f"{name}_pairs.tsv") for name in ("simple", "order")}

CARD_KEYS = {"simple": "probe", "order": "probe_order"}
"""The card's key for the figures of each suite."""


def suits(card: Card) -> bool:
    """Whether a card is of a model that the suite can be put to: of pairs, with the three classes of entailment."""
    roles = card.get("roles")
    return set(card.get("labels", ())) == set(LABELS) and isinstance(roles, dict) and bool(roles.get("second"))


def probe(checkpoint: Checkpoint, device: torch.device, suite: str = "simple") -> JsonObject:
    """Put one of SUITES to a checkpoint.

    Returns ``right``, ``total``, ``kinds`` (the same two by kind), ``typing`` (the shares of verdicts that stay without
    the final full stops and in lower case) and ``wrong``, the pairs with another verdict than their label and its
    probability; of a model that counts crossings also ``without_crossings``, how many verdicts are others without (q =
    0): ``turned`` of ``total`` pairs with the same words in another order (:func:`exchanged`), and ``kinds``, how many
    by kind. Raises RunError for a checkpoint without the three classes of entailment.
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
    """How many verdicts were turned (bool ``[N]``): of the exchanged pairs, and of each kind."""
    swapped = np.array([exchanged(words_of(row.first), words_of(row.second)) for row in pairs.rows])
    of_kind = np.array([row.columns["kind"] for row in pairs.rows])
    kinds = {kind: int(turned[of_kind == kind].sum()) for kind in dict.fromkeys(of_kind.tolist())}
    return {"turned": int(turned[swapped].sum()), "total": int(swapped.sum()), "kinds": kinds}


TYPED: dict[str, Callable[[str], str]] = {
    "without full stop": lambda text: text.rstrip("."),
    "in lower case": str.lower,
}
"""How people type a sentence, which must not change its verdict."""


def retyped(pairs: Dataset, change: Callable[[str], str]) -> Dataset:
    """A copy of the pairs with ``change`` applied to every text."""
    rows = tuple(replace(row, first=change(row.first), second=change(row.second)) for row in pairs.rows)
    return replace(pairs, rows=rows)


def figures(result: JsonMapping) -> JsonObject:
    """The part of a result that goes into a card: without typing variants and wrong pairs."""
    return {key: result[key] for key in ("right", "total", "kinds", "without_crossings") if key in result}
