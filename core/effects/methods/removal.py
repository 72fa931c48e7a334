"""Removing each word: dropping it, replacing it by other words, nudging its vector, and mixtures of these.

An effect is log p(verdict) before a removal minus after it: positive supports the verdict, negative opposes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from core.checkpoint import Checkpoint
from core.effects.gradients import can_nudge, nudged
from core.effects.methods.method import REGISTRY, Method, register
from core.effects.words import (
    DROPPED,
    TAKEN_AWAY,
    Attribution,
    Place,
    Progress,
    Sides,
    frequent_words,
    places,
    unheard,
    with_word,
    without,
)
from core.evaluation.predict import predict
from core.evidence.effects import WordEffect
from core.models.answers import SIGMOID
from core.reading.reader import Reading

if TYPE_CHECKING:
    from core.effects.asked_pair import AskedPair

FREQUENT, RELATED, NUDGED = "frequent", "related", "nudged"
MIX: Mapping[str, float] = {DROPPED: 0.4, FREQUENT: 0.2, RELATED: 0.2, NUDGED: 0.2}
"""The parts of ``taken-away`` and their weights, chosen with 8 replacements and nudges of .35 as the best in the
pointing game on one half of its items. If a part cannot be computed, the other weights are rescaled to add up to 1."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Removal(Method):
    """A method whose effect of a word is a mean over texts without it. ``texts``: these texts, none if the word cannot
    be removed; ``count``: their number at most; ``draws``: whether they are sampled. No method compares the two texts
    itself: the model's answer is its only information about a pair."""

    texts: Callable[[AskedPair, Place], Sequence[Sides]]
    count: Callable[[AskedPair], int] = lambda asked: 1
    draws: bool = False

    @property
    def sampled(self) -> bool:
        return self.draws

    def effects(self, asked: AskedPair, at: Sequence[Place], progress: Progress = unheard) -> Attribution:
        return _removed(asked, at, {self: 1.0}, progress)

    def passes(self, asked: AskedPair) -> int:
        return len(places(asked.sides)) * self.count(asked)


@dataclass(frozen=True, eq=False, kw_only=True)
class Nudge(Method):
    """Moves a word's vector (:func:`core.effects.gradients.nudged`)."""

    def effects(self, asked: AskedPair, at: Sequence[Place], progress: Progress = unheard) -> Attribution:
        return _removed(asked, at, {self: 1.0}, progress)

    def passes(self, asked: AskedPair) -> int:
        return len(places(asked.sides)) * can_nudge(asked.checkpoint)

    def available(self, checkpoint: Checkpoint) -> bool:
        return can_nudge(checkpoint)


@dataclass(frozen=True, eq=False, kw_only=True)
class Mixture(Method):
    """A weighted mean of other methods. ``weights``: by the methods' names."""

    weights: Mapping[str, float]

    @property
    def parts(self) -> Mapping[str, float]:
        return self.weights

    @property
    def sampled(self) -> bool:
        return any(REGISTRY[part].sampled for part in self.weights)

    def effects(self, asked: AskedPair, at: Sequence[Place], progress: Progress = unheard) -> Attribution:
        return _removed(asked, at, {REGISTRY[part]: share for part, share in self.weights.items()}, progress)

    def passes(self, asked: AskedPair) -> int:
        return sum(REGISTRY[part].passes(asked) for part in self.weights)


def _removed(asked: AskedPair, at: Sequence[Place], mix: Mapping[Method, float], progress: Progress) -> Attribution:
    """The effects of these words, by a weighted mean of methods."""
    edits: list[dict[str, Sequence[Sides]]] = []
    for place in at:
        progress(0, 0)  # long texts take seconds here
        edits.append({part.name: part.texts(asked, place) for part in mix if isinstance(part, Removal)})
    by_part = _log_p_after(asked, edits, progress)
    for part in mix:
        if isinstance(part, Nudge) and at and part.available(asked.checkpoint):
            numbers = {place: number for number, place in enumerate(places(asked.sides))}
            own = [numbers[place] for place in at]
            moved = _numbers(asked, nudged(asked.checkpoint, asked.reading, asked.target, own).numpy())
            by_part = [{**of_word, part.name: one[None]} for of_word, one in zip(by_part, moved, strict=True)]
    own_logits = torch.tensor([asked.explanation.logits], dtype=torch.float64)
    (before,) = _numbers(asked, asked.checkpoint.model.answers.supports(own_logits).numpy())
    words = []
    for place, after in zip(at, by_part, strict=True):
        side = asked.sides[place.side]
        values = _mixed(asked, before, after, {part.name: share for part, share in mix.items()})
        words.append(WordEffect(side.role, place.index, side.tokens[place.index].text, **values))
    return Attribution(tuple(words), None, sum(word.passes for word in words))


def _log_p_after(
    asked: AskedPair, edits: Sequence[Mapping[str, Sequence[Sides]]], progress: Progress
) -> list[dict[str, np.ndarray]]:
    """By word and part, log p ``[rows, C + 1]`` (:func:`_numbers`) of the texts without the word."""
    rows = [sides for parts in edits for texts in parts.values() for sides in texts]
    whole = 2 * len(rows)

    def readings() -> Iterator[Reading]:
        # With linguistic features, this loop takes longer than the forward calls.
        for number, sides in enumerate(rows, start=1):
            yield asked.checkpoint.reading(sides)
            progress(number, whole)

    logits = torch.empty(0, len(asked.checkpoint.labels))
    if rows:  # there are none if the words are only nudged
        logits = predict(asked.checkpoint, readings(), progress=lambda done: progress(len(rows) + done, whole))
    log_p = asked.checkpoint.model.answers.supports(logits.double()).numpy()
    counts = np.cumsum([len(texts) for parts in edits for texts in parts.values()], dtype=int)
    after = iter(np.split(_numbers(asked, log_p), counts))
    return [{part: next(after) for part in parts} for parts in edits]


def _numbers(asked: AskedPair, log_p: np.ndarray) -> np.ndarray:
    """log p of every class ``[N, C]``, with the measured class's log-odds as an extra last column."""
    return np.column_stack([log_p, _log_odds(asked, log_p)])


def _log_odds(asked: AskedPair, log_p: np.ndarray) -> np.ndarray:
    """log (p / (1 - p)) of the measured class, from ``log_p [N, C]``; for a score, which has none, the score."""
    log_q = log_p[:, asked.target]
    if len(asked.checkpoint.labels) == 1:
        return log_q
    if asked.checkpoint.model.answers.activation == SIGMOID:
        return log_q - np.log(-np.expm1(log_q))
    # Sums the other classes' probabilities: 1 - p would be 0 if p is nearly 1.
    return log_q - np.logaddexp.reduce(np.delete(log_p, asked.target, axis=-1), axis=-1)


def _mixed(
    asked: AskedPair, before: np.ndarray, after: Mapping[str, np.ndarray], mix: Mapping[str, float]
) -> dict[str, Any]:
    """The fields of a :class:`WordEffect`, from log p of every class with the measured class's log-odds last: before
    ``[C + 1]``, and by part after ``[rows, C + 1]``."""
    taken = {part: numbers for part, numbers in after.items() if len(numbers)}
    if not taken:
        return {"effect": None}
    weights = np.array([mix[part] for part in taken])
    weights = weights / weights.sum()
    means = np.array([numbers.mean(0) for numbers in taken.values()])
    by_way = before[asked.target] - means[:, asked.target]
    drawn = {part: numbers[:, asked.target] for part, numbers in taken.items() if REGISTRY[part].sampled}
    one_output = len(asked.checkpoint.labels) == 1
    chances = [(np.asarray if one_output else np.exp)(numbers[:, :-1]).mean(0) for numbers in taken.values()]
    return {
        "effect": float(weights @ by_way),
        "spread": float(np.concatenate([*drawn.values()]).std()) if drawn else None,
        "log_odds": None if one_output else float(weights @ (before[-1] - means[:, -1])),
        "probabilities": tuple((weights @ chances).tolist()),
        "by_way": dict(zip(taken, by_way.tolist(), strict=True)) if len(mix) > 1 else {},
        "spread_by_way": {part: float(log_p.std()) for part, log_p in drawn.items()} if len(mix) > 1 else {},
        "passes": sum(map(len, taken.values())),
    }


def _dropped(asked: AskedPair, place: Place) -> Sequence[Sides]:
    left = without(asked.sides, place)
    return [] if left is None else [left]


def _frequent(asked: AskedPair, place: Place) -> Sequence[Sides]:
    """With frequent words, the same everywhere."""
    norm = asked.sides[place.side].tokens[place.index].norm
    count = asked.sampled.frequent
    words = frequent_words(asked.checkpoint.words, count + 1, asked.sampled.seed)
    return [with_word(asked.sides, place, word) for word in [word for word in words if word != norm][:count]]


def _related(asked: AskedPair, place: Place) -> Sequence[Sides]:
    norm = asked.sides[place.side].tokens[place.index].norm
    return [with_word(asked.sides, place, word) for word in asked.related.get(norm, ())]


_HIDDEN = (
    "Two words with the same meaning hide each other: without one the other still carries it, and both have short bars"
)

register(
    Mixture(
        name=TAKEN_AWAY,
        title="Combined: dropped and replaced",
        ranking="Combined removal",
        how="the weighted mean of dropping the word, of replacing it by frequent and by related words, and of nudging "
        "its vector",
        cannot=f"{_HIDDEN}. Where the parts disagree, look at each alone. It shows which words the verdict depends "
        "on, not whether for a good reason.",
        weights=MIX,
    )
)
register(
    Removal(
        name=DROPPED,
        title="Dropped",
        how="the sentence without the word",
        cannot="A sentence with a word missing is often ungrammatical, and part of the effect comes from the broken "
        f"grammar. The only word of a sentence cannot be dropped. {_HIDDEN}.",
        texts=_dropped,
    )
)
register(
    Mixture(
        name="replaced",
        title="Replaced by other words",
        how="the mean over replacements: frequent words (the same for every word) and words from similar sentences",
        cannot="A replacement brings in its own meaning. If nearly any other word would change the verdict, as when "
        "two sentences have to agree, every word looks decisive; and a related word may mean nearly the same, or the "
        "opposite. The spread shows how far the replacements differ.",
        weights={part: MIX[part] for part in (FREQUENT, RELATED)},
        measured=False,
    )
)
register(Removal(name=FREQUENT, texts=_frequent, count=lambda asked: asked.sampled.frequent, draws=True, offered=False))
register(Removal(name=RELATED, texts=_related, count=lambda asked: asked.sampled.related, draws=True, offered=False))
register(Nudge(name=NUDGED, offered=False))
