"""The effect of every word and every link on a verdict, as batches of forward calls.

The effect of something is log p(verdict) before minus after it is taken away: positive supports the verdict, negative
opposes it. Word effects need no attention and work for every model; a model with linguistic features computes them anew
for each edit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special
import torch

from core.card import right_class
from core.checkpoint import Checkpoint
from core.effects import gradients
from core.effects.links import Taken, head_effects, link_effects
from core.effects.nudges import can_nudge, nudged
from core.effects.words import (
    ATTENTION,
    DROPPED,
    FREQUENT,
    NUDGED,
    RELATED,
    REPLACED,
    TAKEN_AWAY,
    WAYS,
    Drawing,
    Pair,
    Place,
    Progress,
    Sides,
    places,
    replacements,
    unheard,
    usual_drawing,
    with_word,
    without,
)
from core.errors import UserError
from core.evaluation.predict import predict
from core.evidence import AttentionMap, Explanation
from core.evidence.effects import Effects, LinkEffects, PairEffect, WordEffect
from core.explain import explain
from core.models.answers import SIGMOID
from core.reading.reader import Reading
from core.wording import hint

MIX: Mapping[str, float] = {DROPPED: 0.4, FREQUENT: 0.2, RELATED: 0.2, NUDGED: 0.2}
"""Weights of the ways in ``taken-away``; where one cannot be taken those of the others are scaled to add up to 1."""
METHODS: Mapping[str, str] = {
    TAKEN_AWAY: "the weighted mean of dropping it, of frequent and related words in its place, and of nudging it",
    DROPPED: "the sentence without it",
    REPLACED: "other words in its place: frequent ones, the same for every word, and words of similar sentences",
    **gradients.METHODS,
    ATTENTION: "the attention that it receives, summed over all rows that look at it; a baseline, not an effect",
}
"""What can be asked for, each with what it does."""


def mix_of(method: str) -> Mapping[str, float]:
    """The parts of a method that takes words away, with their weights (see :data:`MIX`)."""
    if method == REPLACED:
        return {FREQUENT: MIX[FREQUENT], RELATED: MIX[RELATED]}
    return MIX if method == TAKEN_AWAY else {method: 1.0}


def why(
    checkpoint: Checkpoint,
    first: str,
    second: str = "",
    method: str = TAKEN_AWAY,
    progress: Progress = unheard,
    *,
    drawing: Drawing | None = None,
) -> Effects:
    """What each word of a pair does to the verdict.

    ``first`` and ``second`` as :func:`core.explain.explain` takes them; ``drawing``: of replacements, None for the
    model's usual one (:func:`~core.effects.words.usual_drawing`). What ``progress`` raises ends the work.
    Raises PairError as ``explain`` does, and UserError for an unknown method.
    """
    start = time.perf_counter()
    if method not in METHODS:
        raise UserError(f"unknown method {method!r}{hint(method, METHODS)}")
    if method in gradients.METHODS and not checkpoint.model.differentiable:
        raise UserError(f"{checkpoint.name} has no gradients: choose {TAKEN_AWAY} or {DROPPED} instead")
    asked = Asked.about(checkpoint, first, second, drawing)
    if method in gradients.METHODS:
        words, completeness, passes = gradients.word_effects(checkpoint, asked.reading, asked.target, method)
    elif method == ATTENTION:
        words, completeness, passes = asked.words_attended(), None, 0
    else:
        words, completeness = asked.word_effects(mix_of(method), progress), None
        passes = sum(word.passes for word in words)
    return Effects(
        model=checkpoint.name,
        model_title=checkpoint.card["title"],
        verdict=checkpoint.labels[asked.target],
        probability=asked.explanation.probabilities[asked.target],
        method=method,
        unit={gradients.NORM: "norm", ATTENTION: "attention"}.get(method, asked.explanation.unit),
        answer=asked.explanation.answer,
        labels=checkpoint.labels,
        words=words,
        completeness=completeness,
        passes=1 + passes,
        warnings=asked.explanation.warnings,
        milliseconds=(time.perf_counter() - start) * 1000,
    )


def what_links_do(
    checkpoint: Checkpoint,
    first: str,
    second: str,
    taken: Taken,
    progress: Progress = unheard,
    *,
    every: bool = False,
    layer: int = 0,
) -> tuple[LinkEffects, ...]:
    """What each link of every attention map does; ``every`` and ``layer`` as :func:`core.effects.links.link_effects`
    takes them. Raises PairError as ``explain`` does, and LinksError for a model without attention and for maps with too
    many links."""
    asked = Asked.about(checkpoint, first, second)
    return link_effects(checkpoint, asked.reading, asked.target, taken, progress, every=every, layer=layer)


def what_heads_do(
    checkpoint: Checkpoint, first: str, second: str, progress: Progress = unheard
) -> tuple[LinkEffects, ...]:
    """What each head of a transformer does, cut out whole (:func:`core.effects.links.head_effects`), as one map. Raises
    PairError as ``explain`` does, and LinksError for a model without heads."""
    asked = Asked.about(checkpoint, first, second)
    return (head_effects(checkpoint, asked.reading, asked.target, progress),)


def together(
    checkpoint: Checkpoint,
    first: str,
    second: str,
    chosen: tuple[Place, Place],
    progress: Progress = unheard,
    *,
    drawing: Drawing | None = None,
) -> PairEffect:
    """What two words do when both are taken away at once, beside the sum of what each does alone, by ``taken-away``: of
    replacements the k-th of one word stands beside the k-th of the other. Raises PairError as ``explain`` does."""
    asked = Asked.about(checkpoint, first, second, drawing)
    sides = asked.pair.sides
    both = without(sides, *chosen)
    edits: dict[str, list[Sides]] = {DROPPED: [] if both is None else [both]}
    for way in (FREQUENT, RELATED):
        drawn = zip(*(replacements(asked.pair, place, way) for place in chosen), strict=False)
        edits[way] = [with_word(with_word(sides, chosen[0], one), chosen[1], other) for one, other in drawn]
    one, other = asked.word_effects(MIX, progress, chosen=chosen)
    numbers = [places(sides).index(place) for place in chosen]
    apart = None if one.effect is None or other.effect is None else one.effect + other.effect
    at_once = asked.effects_of([edits], nudges=[numbers])[0]
    passes = 1 + one.passes + other.passes + at_once.get("passes", 0)
    return PairEffect((one, other), at_once.get("effect"), apart, passes)


@dataclass(frozen=True)
class Asked:
    """A question: a pair as the model reads it, what the model says of it, and the class that is followed."""

    checkpoint: Checkpoint
    pair: Pair
    reading: Reading
    explanation: Explanation
    target: int

    @classmethod
    def about(cls, checkpoint: Checkpoint, first: str, second: str, drawing: Drawing | None = None) -> Asked:
        """Raises PairError as :func:`core.explain.explain` does."""
        explanation = explain(checkpoint, first, second, records=(AttentionMap,))
        reading = checkpoint.read(first, second)
        drawing = drawing or usual_drawing(checkpoint.card)
        pair = Pair(reading.texts(), checkpoint.words, drawing)
        return cls(checkpoint, pair, reading, explanation, target_class(checkpoint, explanation.probabilities))

    def word_effects(
        self,
        mix: Mapping[str, float],
        progress: Progress = unheard,
        *,
        side: int | None = None,
        chosen: Sequence[Place] | None = None,
    ) -> tuple[WordEffect, ...]:
        """Of every word, of those of one side or of those that are ``chosen``, by the mean of some ways with these
        weights."""
        numbers = {place: number for number, place in enumerate(places(self.pair.sides))}
        at = [place for place in chosen or numbers if side in (None, place.side)]
        edits: list[dict[str, Sequence[Sides]]] = []
        for place in at:
            progress(0, 0)  # of long texts this takes seconds, too
            edits.append({way: WAYS[way](self.pair, place) for way in mix if way in WAYS})
        nudges = [[numbers[place]] for place in at]
        return tuple(
            WordEffect(side.role, place.index, side.tokens[place.index].text, **values)
            for place, values in zip(at, self.effects_of(edits, mix, progress, nudges), strict=True)
            for side in (self.pair.sides[place.side],)
        )

    def words_attended(self) -> tuple[WordEffect, ...]:
        """Of every word the attention that it receives; None in a text that no map looks into. Raises UserError for a
        model without such a map."""
        received = {side.role: attention_received(self.explanation, side.role) for side in self.pair.sides}
        if not any(received.values()):
            raise UserError(f"{self.checkpoint.name} shows no attention to words: choose {TAKEN_AWAY} instead")
        return tuple(
            WordEffect(side.role, index, token.text, next(iter(received[side.role][index : index + 1]), None))
            for side in self.pair.sides
            for index, token in enumerate(side.tokens)
        )

    def effects_of(
        self,
        edits: Sequence[Mapping[str, Sequence[Sides]]],
        mix: Mapping[str, float] = MIX,
        progress: Progress = unheard,
        nudges: Sequence[Sequence[int]] = (),
    ) -> list[dict[str, Any]]:
        """Of each thing that is taken away, the fields of its :class:`WordEffect`. ``edits``: by way the texts without
        it; ``nudges``: the numbers of its words, whose vectors are moved where the mix has that way."""
        rows = [sides for ways in edits for sided in ways.values() for sides in sided]
        whole = 2 * len(rows)

        def readings() -> Iterator[Reading]:
            # With linguistic features it is this that takes long, and not the forward calls.
            for number, sides in enumerate(rows, start=1):
                yield self.checkpoint.reading(sides)
                progress(number, whole)

        logits = torch.empty(0, len(self.checkpoint.labels))
        if rows:  # words may be asked about by nudging them alone
            logits = predict(self.checkpoint, readings(), progress=lambda done: progress(len(rows) + done, whole))
        log_p = self.checkpoint.model.supports(logits.double()).numpy()
        counts = np.cumsum([len(sided) for ways in edits for sided in ways.values()], dtype=int)
        after = iter(np.split(self._numbers(log_p), counts))
        by_way = [{way: next(after) for way in ways} for ways in edits]
        if NUDGED in mix and nudges and can_nudge(self.checkpoint):
            moved = self._numbers(nudged(self.checkpoint, self.reading, self.target, nudges).numpy())
            by_way = [{**ways, NUDGED: one[None]} for ways, one in zip(by_way, moved, strict=True)]
        own = torch.tensor([self.explanation.logits], dtype=torch.float64)
        (before,) = self._numbers(self.checkpoint.model.supports(own).numpy())
        return [self._mixed(before, ways, mix) for ways in by_way]

    def _numbers(self, log_p: np.ndarray) -> np.ndarray:
        """Beside log p of every class ``[N, C]`` the followed one's log-odds, in a last column."""
        return np.column_stack([log_p, self._log_odds(log_p)])

    def _log_odds(self, log_p: np.ndarray) -> np.ndarray:
        """log (p / (1 - p)) of the followed class, of ``log_p [N, C]``; of a score, which has none, the score."""
        log_q = log_p[:, self.target]
        if len(self.checkpoint.labels) == 1:
            return log_q
        if self.checkpoint.model.activation == SIGMOID:
            return log_q - np.log(-np.expm1(log_q))
        # The other classes' probabilities added up, not 1 - p, which is 0 where p is nearly 1.
        return log_q - scipy.special.logsumexp(np.delete(log_p, self.target, axis=-1), axis=-1)

    def _mixed(self, before: np.ndarray, after: Mapping[str, np.ndarray], mix: Mapping[str, float]) -> dict[str, Any]:
        """From log p of every class, with the log-odds of the followed one last, before ``[C + 1]`` and after,
        ``[rows, C + 1]`` by way."""
        taken = {way: numbers for way, numbers in after.items() if len(numbers)}
        if not taken:
            return {"effect": None}
        weights = np.array([mix[way] for way in taken])
        weights = weights / weights.sum()
        means = np.array([numbers.mean(0) for numbers in taken.values()])
        by_way = before[self.target] - means[:, self.target]
        drawn = {way: numbers[:, self.target] for way, numbers in taken.items() if way in (FREQUENT, RELATED)}
        one_output = len(self.checkpoint.labels) == 1
        chances = [(np.asarray if one_output else np.exp)(numbers[:, :-1]).mean(0) for numbers in taken.values()]
        return {
            "effect": float(weights @ by_way),
            "spread": float(np.concatenate([*drawn.values()]).std()) if drawn else None,
            "log_odds": None if one_output else float(weights @ (before[-1] - means[:, -1])),
            "probabilities": tuple((weights @ chances).tolist()),
            "by_way": dict(zip(taken, by_way.tolist(), strict=True)) if len(mix) > 1 else {},
            "spread_by_way": {way: float(log_p.std()) for way, log_p in drawn.items()} if len(mix) > 1 else {},
            "passes": sum(map(len, taken.values())),
        }


def attention_received(explanation: Explanation, role: str) -> list[float]:
    """How much each word of a text is attended to, over all rows of all maps whose columns it is; empty without such a
    map."""
    maps = [
        np.array(record.weights)
        for record in explanation.evidence
        if isinstance(record, AttentionMap) and record.columns == role and record.weights
    ]
    return np.sum([weights.sum(0) for weights in maps], axis=0).tolist() if maps else []


def target_class(checkpoint: Checkpoint, probabilities: Sequence[float]) -> int:
    """The class whose probability is followed: the most probable one; of a model that ranks, the class that ranks."""
    ranks = right_class(checkpoint.card) if checkpoint.card["task"] == "answer selection" else None
    return max(range(len(probabilities)), key=probabilities.__getitem__) if ranks is None else ranks
