"""One question about a pair and its answers: the effects of words, links and heads on the verdict, the smallest change
that flips it, and the faithfulness of these explanations.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from core.effects import gradients, reason, turning
from core.effects.adversary import with_adversary
from core.effects.asked_pair import AskedPair, attention_received
from core.effects.faithfulness import faithfulness
from core.effects.jacobians import integrated_jacobians
from core.effects.links import Taken, head_effects, link_effects
from core.effects.words import ATTENTION, DROPPED, REPLACED, TAKEN_AWAY, Progress, mix_of, part, unheard
from core.errors import UserError
from core.evidence.effects import Effects, LinkEffects, WordEffect
from core.evidence.faithfulness import Faithfulness
from core.evidence.reason import Reason
from core.evidence.similarity_shares import SimilarityShares
from core.wording import hint

METHODS: Mapping[str, str] = {
    TAKEN_AWAY: "a weighted mean of dropping it, replacing it with frequent and related words, and nudging it",
    DROPPED: "the sentence without the word",
    REPLACED: "another word instead: frequent ones, the same for every word, and words from similar contexts",
    **gradients.METHODS,
    ATTENTION: "the attention it receives, summed over all rows; a baseline, not an effect",
}
"""The methods for word effects with their descriptions."""


class Question(AskedPair):
    """All answers about a pair of texts put to a model."""

    def words(self, method: str = TAKEN_AWAY, *, progress: Progress = unheard) -> Effects:
        """The effect of each word, by one of :data:`METHODS`. Raises UserError for a method that is unknown or
        unavailable for this model."""
        start = time.perf_counter()
        checkpoint, explanation = self.checkpoint, self.explanation
        if method not in METHODS:
            raise UserError(f"unknown method {method!r}{hint(method, METHODS)}")
        completeness, passes = None, 0
        if method in gradients.METHODS:
            if not checkpoint.model.differentiable:
                raise UserError(f"{checkpoint.name} has no gradients: choose {TAKEN_AWAY} or {DROPPED} instead")
            words, completeness, passes = gradients.word_effects(checkpoint, self.reading, self.target, method)
        elif method == ATTENTION:
            words = self._attended()
        else:
            words = self.word_effects(mix_of(method), progress)
            passes = sum(word.passes for word in words)
        return Effects(
            model=checkpoint.name,
            model_title=checkpoint.card["title"],
            verdict=checkpoint.labels[self.target],
            probability=explanation.probabilities[self.target],
            method=method,
            unit={gradients.NORM: "norm", ATTENTION: "attention"}.get(method, explanation.unit),
            answer=explanation.answer,
            labels=checkpoint.labels,
            words=words,
            completeness=completeness,
            passes=1 + passes,
            warnings=explanation.warnings,
            milliseconds=(time.perf_counter() - start) * 1000,
        )

    def links(
        self,
        taken: Taken = Taken.RENORMALISED,
        *,
        every: bool = False,
        progress: Progress = unheard,
    ) -> tuple[LinkEffects, ...]:
        """The effect of each link of every attention map, as :func:`core.effects.links.link_effects` computes it.
        Raises LinksError for a model without attention and for maps with too many links."""
        return link_effects(self.checkpoint, self.reading, self.target, taken, progress, every=every)

    def heads(self, *, progress: Progress = unheard) -> tuple[LinkEffects, ...]:
        """The effect of ablating each attention head of a transformer, as one map. Raises LinksError for a model
        without heads."""
        return (head_effects(self.checkpoint, self.reading, self.target, progress),)

    def smallest_change(self, *, progress: Progress = unheard) -> tuple[turning.Change, ...]:
        """The smallest word changes that flip the verdict (:func:`core.effects.turning.smallest_changes`)."""
        return turning.smallest_changes(self, progress)

    def reason(self, *, progress: Progress = unheard) -> Reason:
        """The reason for this verdict, confirmed by forward passes (:func:`core.effects.reason.reason_for`)."""
        return reason.reason_for(self, progress)

    def shares(self, *, progress: Progress = unheard) -> SimilarityShares:
        """The share of each pair of input words in the similarity of a bi-encoder, by integrated Jacobians
        (:mod:`core.effects.jacobians`). Raises UserError for any other model."""
        return integrated_jacobians(self.checkpoint, self.reading, progress)

    def faithfulness(self, *, seed: int = 0, progress: Progress = unheard) -> Faithfulness:
        """How faithful the explanations of this verdict are, including the adversary found."""
        measured = faithfulness(self, seed=seed, progress=part(progress, 0, 2))
        return with_adversary(self, measured, seed, part(progress, 1, 2))

    def _attended(self) -> tuple[WordEffect, ...]:
        """The attention each word receives; None in a text that no map attends to. Raises UserError for a model without
        such a map."""
        received = {side.role: attention_received(self.explanation, side.role) for side in self.sides}
        if not any(received.values()):
            raise UserError(f"{self.checkpoint.name} shows no attention to words: choose {TAKEN_AWAY} instead")
        return tuple(
            WordEffect(side.role, index, token.text, next(iter(received[side.role][index : index + 1]), None))
            for side in self.sides
            for index, token in enumerate(side.tokens)
        )
