"""The cost of an answer before it is computed: number of forward passes, and roughly how long they take.

One pass reads one pair. Its duration is measured when the model is loaded (:attr:`Checkpoint.seconds`) and grows with
the number of words; batched texts take less time than one at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from core.effects.asked_pair import AskedPair
from core.effects.differences import MOST_PASSES
from core.effects.faithfulness import ORDERS
from core.effects.jacobians import STEPS as STEPS_OF_PATH
from core.effects.links import STRONGEST
from core.effects.methods import MEASURED, method_named
from core.effects.methods.method import wholes
from core.effects.turning import FURTHER, WIDTH
from core.effects.words import TAKEN_AWAY
from core.evidence.faithfulness import STEPS
from core.wording import counted, duration

BRISK = 0.6
"""Longest time in seconds for an automatic answer: if the combined method takes longer, words are dropped first."""
SOON = 4.0
"""Longest time in seconds for an automatic reason: it appears after the verdict, which does not wait for it."""
TYPICAL_WORDS = 21
"""Number of words in the pair used for timing a pass."""
OFFERED = 12
"""Approximate number of replacements per word in the search for the smallest change."""


@dataclass(frozen=True)
class Cost:
    """At most ``passes`` forward passes, which take roughly ``seconds``."""

    passes: int
    seconds: float

    @property
    def brisk(self) -> bool:
        """Whether the answer is computed automatically."""
        return self.seconds <= BRISK

    def __str__(self) -> str:
        passes = counted(self.passes, "pass", "es")
        return f"{passes}, about {duration(self.seconds)}" if self.seconds else passes


def of_words(question: AskedPair, method: str = TAKEN_AWAY) -> Cost:
    """The cost of :meth:`~core.effects.question.Question.words` with a method."""
    return _cost(question, 1 + method_named(method).passes(question))


def of_reason(question: AskedPair) -> Cost:
    """The cost of :meth:`~core.effects.question.Question.reason`, which usually ends after a third of its passes (the
    median over 500 SNLI dev pairs is 13)."""
    cost = _cost(question, MOST_PASSES)
    return replace(cost, seconds=cost.seconds / 3)


def of_links(question: AskedPair, *, every: bool = False) -> Cost:
    """The cost of :meth:`~core.effects.question.Question.links` for a transformer, whose two maps have one cell per
    pair of words; 0 passes for other models, which are fast."""
    if question.checkpoint.model.knockouts is None:
        return Cost(0, 0.0)
    cells = math.prod(len(side.tokens) for side in question.sides)
    return _cost(question, 1 + 2 * (cells if every else min(STRONGEST, cells)))


def of_heads(question: AskedPair) -> Cost:
    """The cost of :meth:`~core.effects.question.Question.heads`; 0 passes for a model without heads."""
    config = question.checkpoint.card["config"]
    return _cost(question, 1 + config["layers"] * config["heads"] if question.checkpoint.model.knockouts else 0)


def of_smallest_change(question: AskedPair) -> Cost:
    """The cost of :meth:`~core.effects.question.Question.smallest_change`, less if a single edit flips the verdict."""
    return _cost(question, 1 + _words(question) * (1 + OFFERED) + 2 * WIDTH * FURTHER)


def of_shares(question: AskedPair) -> Cost:
    """The cost of :meth:`~core.effects.question.Question.shares` if every word is a single token. One row holds one of
    the two texts; its forward pass with derivatives was measured to take half the time of a pass over the pair."""
    cost = _cost(question, 4 + STEPS_OF_PATH * _words(question))
    return replace(cost, seconds=cost.seconds / 2)


def of_faithfulness(question: AskedPair) -> Cost:
    """The cost of :meth:`~core.effects.question.Question.faithfulness`."""
    erased = 2 * len(STEPS) * (len(MEASURED) + ORDERS)
    ranked = sum(whole.passes(question) for whole in set(wholes([*MEASURED.values()])))
    return _cost(question, 1 + ranked + erased + 2 * STRONGEST)


def _words(question: AskedPair) -> int:
    return sum(len(side.tokens) for side in question.sides)


def _cost(question: AskedPair, passes: int) -> Cost:
    return Cost(passes, passes * question.checkpoint.seconds * max(0.5, _words(question) / TYPICAL_WORDS))
