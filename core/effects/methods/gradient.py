"""The gradient of log p of the verdict with respect to the word vectors: the default in other tools, for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.checkpoint import Checkpoint
from core.effects.gradients import INTEGRATED, NORM, passes, word_effects
from core.effects.methods.method import Method, register
from core.effects.words import Attribution, Place, Progress, unheard
from core.evidence.effects import Unsigned

if TYPE_CHECKING:
    from core.effects.asked_pair import AskedPair


@dataclass(frozen=True, eq=False, kw_only=True)
class Gradient(Method):
    """Computed for all words at once (:func:`core.effects.gradients.word_effects`)."""

    lacks: str = "has no gradients"

    def effects(self, asked: AskedPair, at: Sequence[Place], progress: Progress = unheard) -> Attribution:
        found = word_effects(asked.checkpoint, asked.reading, asked.target, self.name)
        words = {(word.role, word.index): word for word in found.words}
        return found._replace(words=tuple(words[asked.sides[place.side].role, place.index] for place in at))

    def passes(self, asked: AskedPair) -> int:
        return passes(self.name)

    def available(self, checkpoint: Checkpoint) -> bool:
        return checkpoint.model.differentiable


register(
    Gradient(
        name=NORM,
        title="Gradient norm",
        how="the norm of the gradient of log p of the verdict with respect to the word’s vector",
        cannot="A norm has no sign: it does not show whether the word supports the verdict or opposes it. It is the "
        "slope at this point only: how the verdict would begin to change, not where it would end up.",
        unsigned=Unsigned(
            "norm",
            "length",
            "length {}",
            "A longer bar: the verdict changes faster with this word’s vector. A norm has no sign.",
        ),
    )
)
register(
    Gradient(
        name=INTEGRATED,
        title="Integrated gradients",
        how="the gradient along the path from vectors a thousandth as long to the word’s own, times their difference",
        cannot="The bars add up to log p of the verdict minus its value for vectors a thousandth as long. Neither "
        "these nor the vectors on the path are words, and along the path the model’s choices (of phrases, of a window) "
        "stay fixed at this pair’s. Another baseline gives different bars.",
    )
)
