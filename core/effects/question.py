"""One question about a pair and its answers: the effects of words, links and heads on the verdict, the smallest change
that flips it, and the faithfulness of these explanations.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from core.effects.adversary import with_adversary
from core.effects.asked_pair import AskedPair
from core.effects.faithfulness import faithfulness
from core.effects.jacobians import integrated_jacobians
from core.effects.layers import divide as divide_among_layers
from core.effects.layers import ignored
from core.effects.links import Taken, head_effects, link_effects
from core.effects.methods import method_named
from core.effects.reason import reason_for
from core.effects.routes import divide as divide_among_routes
from core.effects.turning import Change, smallest_changes
from core.effects.words import DROPPED, TAKEN_AWAY, Progress, part, places, unheard
from core.errors import UserError
from core.evidence.effects import Effects, LinkEffects
from core.evidence.faithfulness import Faithfulness
from core.evidence.layer_routes import LayerRoutes
from core.evidence.reason import Reason
from core.evidence.routes import Routes
from core.evidence.similarity_shares import SimilarityShares
from core.external.model import CrossEncoder


class Question(AskedPair):
    """All answers about a pair of texts put to a model."""

    def words(self, method: str = TAKEN_AWAY, *, progress: Progress = unheard) -> Effects:
        """The effect of each word, by one of :data:`core.effects.METHODS`. Raises UserError for a method that is
        unknown, or unavailable for this model."""
        start = time.perf_counter()
        checkpoint, explanation = self.checkpoint, self.explanation
        asked = method_named(method)
        found = asked.effects(self, places(self.sides), progress) if asked.available(checkpoint) else None
        if found is None or (asked.lacks and all(word.effect is None for word in found.words)):
            raise UserError(f"{checkpoint.name} {asked.lacks}: choose {TAKEN_AWAY} or {DROPPED} instead")
        return Effects(
            model=checkpoint.name,
            model_title=checkpoint.card["title"],
            verdict=checkpoint.labels[self.target],
            probability=explanation.probabilities[self.target],
            method=method,
            unit=asked.unsigned.name if asked.unsigned else explanation.unit,
            unsigned=asked.unsigned,
            answer=explanation.answer,
            labels=checkpoint.labels,
            words=found.words,
            completeness=found.completeness,
            passes=1 + found.passes,
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

    def smallest_change(self, *, progress: Progress = unheard) -> tuple[Change, ...]:
        """The smallest word changes that flip the verdict (:func:`core.effects.turning.smallest_changes`)."""
        return smallest_changes(self, progress)

    def reason(self, *, progress: Progress = unheard) -> Reason:
        """The reason for this verdict, confirmed by forward passes (:func:`core.effects.reason.reason_for`)."""
        return reason_for(self, progress)

    def shares(self, *, progress: Progress = unheard) -> SimilarityShares:
        """The share of each pair of input words in the similarity of a bi-encoder, by integrated Jacobians
        (:mod:`core.effects.jacobians`). Raises UserError for any other model."""
        return integrated_jacobians(self.checkpoint, self.reading, progress)

    @property
    def divisible(self) -> bool:
        """Whether the difference to another version can be divided (:meth:`routes`)."""
        model = self.checkpoint.model
        return bool(model.states if isinstance(model, CrossEncoder) else model.routes(self.checkpoint.card["config"]))

    def routes(
        self,
        first: str,
        second: str = "",
        *,
        progress: Progress = unheard,
        so_far: Callable[[LayerRoutes], None] = ignored,
    ) -> Routes | LayerRoutes:
        """How the difference to another version of the pair divides among the model's routes
        (:func:`core.effects.routes.divide`), or which states and heads of a transformer restore it
        (:func:`core.effects.layers.divide`), which calls ``so_far`` with the layers that are known. Raises RoutesError
        if it cannot be divided."""
        versions = self.reading, self.checkpoint.read(first, second)
        if isinstance(self.checkpoint.model, CrossEncoder):
            return divide_among_layers(self.checkpoint, *versions, progress, so_far)
        return divide_among_routes(self.checkpoint, *versions)

    def faithfulness(self, *, seed: int = 0, progress: Progress = unheard) -> Faithfulness:
        """How faithful the explanations of this verdict are, including the adversary found."""
        measured = faithfulness(self, seed=seed, progress=part(progress, 0, 2))
        return with_adversary(self, measured, seed, part(progress, 1, 2))
