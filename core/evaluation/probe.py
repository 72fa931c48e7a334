"""Simple pairs that differ in one respect, written by hand, and how many of them a checkpoint gets right.

The suite (``simple_pairs.tsv``: kind, label, premise, hypothesis) is what people type first. Nothing is trained on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from core.checkpoint import Checkpoint
from core.data import read
from core.data.nli_jsonl import LABELS
from core.errors import RunError
from core.evaluation.predict import classify

SUITE = Path(__file__).with_name("simple_pairs.tsv")


def suits(card: Mapping[str, Any]) -> bool:
    """Whether a card is of a model that the suite can be put to: of pairs, with the three classes of entailment."""
    roles = card.get("roles")
    return set(card.get("labels", ())) == set(LABELS) and isinstance(roles, dict) and bool(roles.get("second"))


def probe(checkpoint: Checkpoint, device: torch.device) -> dict[str, Any]:
    """``right``, ``total``, ``kinds`` (the same two by kind) and ``wrong``, the pairs with another verdict than their
    label and its probability. Raises RunError for a checkpoint without the three classes of entailment."""
    if not suits(checkpoint.card):
        raise RunError(
            f"{checkpoint.name} does not tell {', '.join(LABELS)} of pairs apart; choose a checkpoint that does"
        )
    suite = read(SUITE)
    chances = classify(checkpoint, suite, device)
    kinds: dict[str, dict[str, int]] = {}
    wrong = []
    for row, probabilities in zip(suite.rows, chances, strict=True):
        kind, verdict = row.columns["kind"], checkpoint.labels[int(probabilities.argmax())]
        counts = kinds.setdefault(kind, {"right": 0, "total": 0})
        counts["total"] += 1
        counts["right"] += verdict == row.label
        if verdict != row.label:
            pair = {"kind": kind, "premise": row.first, "hypothesis": row.second, "label": row.label}
            wrong.append({**pair, "verdict": verdict, "probability": round(float(probabilities.max()), 4)})
    return {"right": len(suite.rows) - len(wrong), "total": len(suite.rows), "kinds": kinds, "wrong": wrong}


def figures(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a card carries of a result: all but the wrong pairs."""
    return {key: result[key] for key in ("right", "total", "kinds")}
