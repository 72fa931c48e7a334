"""A method for word effects: one registered object holds all that pages, commands and measures know about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from core.effects.words import Attribution, Place, Progress, places, unheard
from core.evidence.effects import Unsigned, WordEffect

if TYPE_CHECKING:
    from core.checkpoint import Checkpoint
    from core.effects.asked_pair import AskedPair


@dataclass(frozen=True, eq=False, kw_only=True)
class Method(ABC):
    """A method for word effects.

    - ``name``: in links, requests, commands and cards;
    - ``title``: on screen; empty for a part of another method that pages do not list separately;
    - ``how``: what the method does to a word, and ``cannot``: the limits of its numbers, for the page's “?”;
    - ``ranking``: the title in the measures of faithfulness if it is another one;
    - ``unsigned``: the unit of numbers without a sign; None for effects in the model's own unit (log p or a score);
    - ``lacks``: what a model lacks for which the method is not ``available``, such as "has no gradients";
    - ``offered``: whether users can choose it; ``measured``: whether faithfulness and the pointing game rank words by
      it.
    """

    name: str
    title: str = ""
    how: str = ""
    cannot: str = ""
    ranking: str = ""
    unsigned: Unsigned | None = None
    lacks: str = ""
    offered: bool = True
    measured: bool = True

    @abstractmethod
    def effects(self, asked: AskedPair, at: Sequence[Place], progress: Progress = unheard) -> Attribution:
        """The effect of each of these words, in this order; None where the method does not apply."""

    @abstractmethod
    def passes(self, asked: AskedPair) -> int:
        """The number of passes that :meth:`effects` takes for all words at most, without the pair's own."""

    def available(self, checkpoint: Checkpoint) -> bool:
        """Whether the method works for this model."""
        return True

    @property
    def parts(self) -> Mapping[str, float]:
        """The methods whose effects it mixes, with their weights: itself, unless it is a mixture."""
        return {self.name: 1.0}

    @property
    def sampled(self) -> bool:
        """Whether it samples replacements, so that an effect has a spread."""
        return False

    def within(self, word: WordEffect) -> float | None:
        """Its effect of a word for which a mixture with all of its parts was computed."""
        taken = {part: share for part, share in self.parts.items() if part in word.by_way}
        return float(np.average([word.by_way[part] for part in taken], weights=[*taken.values()])) if taken else None


REGISTRY: dict[str, Method] = {}
"""All methods by name, in the order of all lists."""
M = TypeVar("M", bound=Method)


def register(method: M) -> M:
    """Adds a method to all lists. Raises ValueError if its name is taken."""
    if method.name in REGISTRY:
        raise ValueError(f"there are two methods named {method.name!r}: rename one")
    REGISTRY[method.name] = method
    return method


def word_values(
    asked: AskedPair, methods: Sequence[Method], chosen: Sequence[Place] | None = None, progress: Progress = unheard
) -> tuple[dict[str, list[float]], int]:
    """By method, a number for every word or for the ``chosen`` ones (larger ranks higher), and the number of passes.
    Words to which a method does not apply are ranked last; a method that applies to none, or is unavailable for this
    model, is left out."""
    at = [*(chosen or places(asked.sides))]
    usable = [method for method in methods if method.available(asked.checkpoint)]
    within = wholes(usable)
    costs = {whole: whole.passes(asked) for whole in within}
    found: dict[Method, Attribution] = {}
    for whole, cost in costs.items():
        before = sum(costs[earlier] for earlier in found)
        found[whole] = whole.effects(asked, at, _share(progress, before, cost, sum(costs.values())))
    values = {}
    for method, whole in zip(usable, within, strict=True):
        words = found[whole].words
        numbers = [word.effect if method is whole else method.within(word) for word in words]
        if any(number is not None for number in numbers):
            values[method.name] = [float("-inf") if number is None else number for number in numbers]
    return values, sum(one.passes for one in found.values())


def wholes(methods: Sequence[Method]) -> list[Method]:
    """For each method, the first of them with all of its parts, whose computation includes it: often itself."""
    return [next(one for one in methods if method.parts.keys() <= one.parts.keys()) for method in methods]


def _share(progress: Progress, before: int, own: int, whole: int) -> Progress:
    """Progress for a computation of ``own`` of the ``whole`` number of passes."""
    return lambda done, of: progress(before + own * done // max(of, 1), whole)
