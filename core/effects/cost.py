"""What an answer costs, said before it is asked for: passes through the model, and about how long they take.

A pass reads one pair. How long it takes was measured when the model was loaded (:attr:`Checkpoint.seconds`); longer
texts take longer by their words, and several texts of one call less than they would one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.checkpoint import Checkpoint
from core.effects import gradients
from core.effects.faithfulness import ORDERS, WAYS
from core.effects.links import STRONGEST, asked_for, removable_links
from core.effects.nudges import can_nudge
from core.effects.turning import FURTHER, WIDTH
from core.effects.words import ATTENTION, REPLACED, TAKEN_AWAY, Sampling, usual_sampling
from core.evidence.faithfulness import STEPS
from core.reading.reader import Reading
from core.wording import counted, duration

BRISK = 0.6
"""Seconds that a person waits for without being asked: where all ways of taking words away take longer, words are
dropped first, and the rest is asked for."""
TYPICAL_WORDS = 21
"""Of the pair by which a pass is timed."""
OFFERED = 12
"""Words that may stand in another's place in the search for the smallest change, about."""


@dataclass(frozen=True)
class Cost:
    """``passes`` at most, and ``seconds`` about."""

    passes: int
    seconds: float

    @property
    def brisk(self) -> bool:
        """Whether nobody has to be asked first."""
        return self.seconds <= BRISK

    def __str__(self) -> str:
        passes = counted(self.passes, "pass", "es")
        return f"{passes}, about {duration(self.seconds)}" if self.seconds else passes


def of_words(
    checkpoint: Checkpoint, first: str, second: str = "", method: str = TAKEN_AWAY, sampling: Sampling | None = None
) -> Cost:
    """Of :meth:`core.effects.question.Question.words` by a method."""
    reading, sampling = checkpoint.read(first, second), sampling or usual_sampling(checkpoint.card)
    if method in gradients.METHODS:
        return _cost(checkpoint, reading, 1 + gradients.passes(method))
    replaced = sampling.frequent + sampling.related
    of_word = {ATTENTION: 0, REPLACED: replaced, TAKEN_AWAY: 1 + replaced + can_nudge(checkpoint)}.get(method, 1)
    return _cost(checkpoint, reading, 1 + _words(reading) * of_word)


def of_links(checkpoint: Checkpoint, first: str, second: str, *, every: bool = False) -> Cost:
    """Of :meth:`core.effects.question.Question.links`; 0 passes for a model without links."""
    reading = checkpoint.read(first, second)
    maps = removable_links(checkpoint, reading)
    return _cost(checkpoint, reading, sum(len(asked_for(links, every)) for links in maps) + len(maps[:1]))


def of_passes(checkpoint: Checkpoint, first: str, second: str, passes: int) -> Cost:
    """Of so many passes over texts of about this length."""
    return _cost(checkpoint, checkpoint.read(first, second), passes)


def of_heads(checkpoint: Checkpoint, first: str, second: str) -> Cost:
    """Of :meth:`core.effects.question.Question.heads`; 0 passes for a model without heads."""
    config = checkpoint.card["config"]
    passes = 1 + config["layers"] * config["heads"] if checkpoint.model.knockouts else 0
    return of_passes(checkpoint, first, second, passes)


def of_smallest_change(checkpoint: Checkpoint, first: str, second: str = "") -> Cost:
    """Of :meth:`core.effects.question.Question.smallest_change`, which ends sooner where one edit turns the verdict."""
    reading = checkpoint.read(first, second)
    return _cost(checkpoint, reading, 1 + _words(reading) * (1 + OFFERED) + 2 * WIDTH * FURTHER)


def of_believing(checkpoint: Checkpoint, first: str, second: str = "") -> Cost:
    """Of :meth:`core.effects.question.Question.faithfulness`."""
    reading = checkpoint.read(first, second)
    erased = 2 * len(STEPS) * (len(WAYS) + ORDERS)
    ways = sum(map(gradients.passes, gradients.METHODS))
    return _cost(checkpoint, reading, of_words(checkpoint, first, second).passes + ways + erased + 2 * STRONGEST)


def _words(reading: Reading) -> int:
    return sum(len(side.tokens) for side in reading.texts())


def _cost(checkpoint: Checkpoint, reading: Reading, passes: int) -> Cost:
    return Cost(passes, passes * checkpoint.seconds * max(0.5, _words(reading) / TYPICAL_WORDS))
