"""The attention that words receive, ranked like effects: a baseline, not an effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.checkpoint import Checkpoint
from core.effects.methods.method import Method, register
from core.effects.words import LEAST_ATTENDED, MOST_ATTENDED, Attribution, Place, Progress, unheard
from core.evidence import AttentionMap, Explanation
from core.evidence.effects import Unsigned, WordEffect

if TYPE_CHECKING:
    from core.effects.asked_pair import AskedPair


@dataclass(frozen=True, eq=False, kw_only=True)
class Received(Method):
    """The attention each word receives, times ``sign``; None in a text that no map attends to."""

    sign: int = 1
    lacks: str = "shows no attention to words"

    def effects(self, asked: AskedPair, at: Sequence[Place], progress: Progress = unheard) -> Attribution:
        received = [attention_received(asked.explanation, side.role) for side in asked.sides]
        words = []
        for place in at:
            side, weights = asked.sides[place.side], received[place.side]
            weight = self.sign * weights[place.index] if place.index < len(weights) else None
            words.append(WordEffect(side.role, place.index, side.tokens[place.index].text, weight))
        return Attribution(tuple(words), None, 0)

    def passes(self, asked: AskedPair) -> int:
        return 0

    def available(self, checkpoint: Checkpoint) -> bool:
        return AttentionMap in checkpoint.model.shows(checkpoint.card["config"])


def attention_received(explanation: Explanation, role: str) -> list[float]:
    """The attention each word of a text receives, summed over all rows of the maps with this text as columns; empty
    without such a map."""
    maps = [
        np.array(record.weights)
        for record in explanation.evidence
        if isinstance(record, AttentionMap) and record.columns == role and record.weights
    ]
    return np.sum([weights.sum(0) for weights in maps], axis=0).tolist() if maps else []


register(
    Received(
        name="attention",
        title="Attention (baseline)",
        how="the attention that the word receives, summed over all words that attend to it",
        cannot="The attention that a word receives is not its effect: the decisive word is often one without a match "
        "in the other sentence, and it receives little.",
        unsigned=Unsigned(
            "attention",
            "weight received",
            "receives weight {}",
            "A longer bar: the word receives more attention. It has no sign, and is not an effect.",
        ),
        measured=False,
    )
)
register(Received(name=MOST_ATTENDED, title="Attention, most attended first", offered=False))
register(Received(name=LEAST_ATTENDED, title="Attention, least attended first", offered=False, sign=-1))
