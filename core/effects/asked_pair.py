"""A pair put to a model, and the values that several answers about it share: its explanation and its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.card import right_class
from core.checkpoint import Checkpoint
from core.effects.words import Sampling, Sides, related_words, usual_sampling
from core.evidence import AttentionMap, Explanation
from core.explain import explain
from core.lazy import lazy_property
from core.reading.reader import Reading


@dataclass(frozen=True, eq=False)
class AskedPair:
    """A pair of texts put to a model. ``first`` and ``second`` as in :func:`core.explain.explain`; ``sampling``: how
    replacements are sampled, None for the model's default; ``known``: the model's explanation with its attention, if it
    was asked for before.

    All methods report to ``progress``; its exceptions cancel the work. They raise PairError as ``explain`` does."""

    checkpoint: Checkpoint
    first: str
    second: str = ""
    sampling: Sampling | None = None
    known: Explanation | None = None

    @lazy_property
    def explanation(self) -> Explanation:
        """The model's explanation, with its attention."""
        return self.known or explain(self.checkpoint, self.first, self.second, records=(AttentionMap,))

    @lazy_property
    def reading(self) -> Reading:
        """The pair as the model reads it."""
        return self.checkpoint.read(self.first, self.second)

    @lazy_property
    def target(self) -> int:
        """The class whose probability is measured."""
        return target_class(self.checkpoint, self.explanation.probabilities)

    @property
    def sides(self) -> Sides:
        """The texts, tokenised."""
        return self.reading.texts()

    @property
    def sampled(self) -> Sampling:
        """How replacements are sampled."""
        return self.sampling or usual_sampling(self.checkpoint.card)

    @lazy_property
    def related(self) -> dict[str, tuple[str, ...]]:
        """The related words that replace each word (:func:`related_words`)."""
        norms = [norm for side in self.sides for norm in side.norms]
        return related_words(self.checkpoint.words, norms, self.sampled.related, self.sampled.seed)


def target_class(checkpoint: Checkpoint, probabilities: Sequence[float]) -> int:
    """The class whose probability is measured: the most probable one, or for a ranking model the class it ranks by."""
    ranks = right_class(checkpoint.card) if checkpoint.card["task"] == "answer selection" else None
    return max(range(len(probabilities)), key=probabilities.__getitem__) if ranks is None else ranks
