"""A pair put to a model, and the values that several answers about it share: its explanation, its words, and the effect
of removing each word.

An effect is log p(verdict) before a removal minus after it: positive supports the verdict, negative opposes it. Word
effects need no attention and work for every model; a model with linguistic features recomputes them for each edit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from core.card import right_class
from core.checkpoint import Checkpoint
from core.effects import gradients
from core.effects.words import (
    ATTENTION,
    DROPPED,
    FREQUENT,
    LEAST_ATTENDED,
    MIX,
    MOST_ATTENDED,
    NUDGED,
    RELATED,
    REPLACED,
    TAKEN_AWAY,
    Place,
    Progress,
    Sampling,
    Sides,
    frequent_words,
    mix_of,
    places,
    related_words,
    unheard,
    usual_sampling,
    with_word,
    without,
)
from core.evaluation.predict import predict
from core.evidence import AttentionMap, Explanation
from core.evidence.effects import WordEffect
from core.explain import explain
from core.lazy import lazy_property
from core.models.answers import SIGMOID
from core.reading.reader import Reading


@dataclass(frozen=True, eq=False)
class AskedPair:
    """A pair of texts put to a model. ``first`` and ``second`` as in :func:`core.explain.explain`; ``sampling``: how
    replacements are sampled, None for the model's default.

    All methods report to ``progress``; its exceptions cancel the work. They raise PairError as ``explain`` does."""

    checkpoint: Checkpoint
    first: str
    second: str = ""
    sampling: Sampling | None = None

    @lazy_property
    def explanation(self) -> Explanation:
        """The model's explanation, with its attention."""
        return explain(self.checkpoint, self.first, self.second, records=(AttentionMap,))

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

    def _without(self, place: Place, way: str) -> list[Sides]:
        """The texts with a word dropped, or replaced by frequent words (the same everywhere) or related ones; none if
        the only word of its text would be dropped. No method compares the two texts itself: the model's answer is its
        only information about a pair."""
        norm = self.sides[place.side].tokens[place.index].norm
        if way == DROPPED:
            left = without(self.sides, place)
            return [] if left is None else [left]
        if way == RELATED:
            return [with_word(self.sides, place, word) for word in self.related.get(norm, ())]
        frequent = frequent_words(self.checkpoint.words, self.sampled.frequent + 1, self.sampled.seed)
        others = [word for word in frequent if word != norm]
        return [with_word(self.sides, place, word) for word in others[: self.sampled.frequent]]

    def word_effects(
        self,
        mix: Mapping[str, float],
        progress: Progress = unheard,
        *,
        chosen: Sequence[Place] | None = None,
    ) -> tuple[WordEffect, ...]:
        """The effects of all words, or of the ``chosen`` ones, by a weighted mean of methods."""
        numbers = {place: number for number, place in enumerate(places(self.sides))}
        at = [*(chosen or numbers)]
        edits: list[dict[str, Sequence[Sides]]] = []
        for place in at:
            progress(0, 0)  # long texts take seconds here
            edits.append({way: self._without(place, way) for way in mix if way != NUDGED})
        effects = self._effects_of(edits, mix, progress, [numbers[place] for place in at])
        return tuple(
            WordEffect(side.role, place.index, side.tokens[place.index].text, **values)
            for place, values in zip(at, effects, strict=True)
            for side in (self.sides[place.side],)
        )

    def word_values(
        self, ways: Sequence[str], chosen: Sequence[Place] | None = None, progress: Progress = unheard
    ) -> tuple[dict[str, list[float]], int]:
        """By method, a number for every word or for the ``chosen`` ones (larger ranks higher), and the number of
        passes. Attention methods are skipped if no map has these words as columns, gradients if the model has none."""
        values: dict[str, list[float]] = {}
        at = chosen or places(self.sides)
        passes = 0
        if {TAKEN_AWAY, REPLACED, *MIX} & {*ways}:
            words = self.word_effects(MIX, progress, chosen=at)
            values[TAKEN_AWAY] = [_or_least(word.effect) for word in words]
            values[REPLACED] = [_or_least(_mean(word.by_way, mix_of(REPLACED))) for word in words]
            for way in MIX:
                if any(way in word.by_way for word in words):
                    values[way] = [_or_least(word.by_way.get(way)) for word in words]
            passes += sum(word.passes for word in words)
        for way in gradients.METHODS:
            if way in ways and self.checkpoint.model.differentiable:
                words, _, taken = gradients.word_effects(self.checkpoint, self.reading, self.target, way)
                effects = {(word.role, word.index): word.effect for word in words}
                values[way] = [_or_least(effects[self.sides[place.side].role, place.index]) for place in at]
                passes += taken
        received = [attention_received(self.explanation, side.role) for side in self.sides]
        if any(received[place.side] for place in at):
            # Words of a text that no map attends to are ranked last in either order.
            flat = np.array([next(iter(received[place.side][place.index :]), np.nan) for place in at])
            values[ATTENTION] = values[MOST_ATTENDED] = np.nan_to_num(flat, nan=-np.inf).tolist()
            values[LEAST_ATTENDED] = np.nan_to_num(-flat, nan=-np.inf).tolist()
        return {way: values[way] for way in ways if way in values}, passes

    def _effects_of(
        self,
        edits: Sequence[Mapping[str, Sequence[Sides]]],
        mix: Mapping[str, float],
        progress: Progress,
        words: Sequence[int],
    ) -> list[dict[str, Any]]:
        """For each removed item, the fields of its :class:`WordEffect`. ``edits``: by method, the texts without the
        item; ``words``: its index, used to nudge its vector if the mix includes that method."""
        rows = [sides for ways in edits for sided in ways.values() for sides in sided]
        whole = 2 * len(rows)

        def readings() -> Iterator[Reading]:
            # With linguistic features, this loop takes longer than the forward calls.
            for number, sides in enumerate(rows, start=1):
                yield self.checkpoint.reading(sides)
                progress(number, whole)

        logits = torch.empty(0, len(self.checkpoint.labels))
        if rows:  # there are none if the words are only nudged
            logits = predict(self.checkpoint, readings(), progress=lambda done: progress(len(rows) + done, whole))
        log_p = self.checkpoint.model.supports(logits.double()).numpy()
        counts = np.cumsum([len(sided) for ways in edits for sided in ways.values()], dtype=int)
        after = iter(np.split(self._numbers(log_p), counts))
        by_way = [{way: next(after) for way in ways} for ways in edits]
        if NUDGED in mix and words and gradients.can_nudge(self.checkpoint):
            moved = self._numbers(gradients.nudged(self.checkpoint, self.reading, self.target, words).numpy())
            by_way = [{**ways, NUDGED: one[None]} for ways, one in zip(by_way, moved, strict=True)]
        own = torch.tensor([self.explanation.logits], dtype=torch.float64)
        (before,) = self._numbers(self.checkpoint.model.supports(own).numpy())
        return [self._mixed(before, ways, mix) for ways in by_way]

    def _numbers(self, log_p: np.ndarray) -> np.ndarray:
        """log p of every class ``[N, C]``, with the measured class's log-odds as an extra last column."""
        return np.column_stack([log_p, self._log_odds(log_p)])

    def _log_odds(self, log_p: np.ndarray) -> np.ndarray:
        """log (p / (1 - p)) of the measured class, from ``log_p [N, C]``; for a score, which has none, the score."""
        log_q = log_p[:, self.target]
        if len(self.checkpoint.labels) == 1:
            return log_q
        if self.checkpoint.model.activation == SIGMOID:
            return log_q - np.log(-np.expm1(log_q))
        # Sums the other classes' probabilities: 1 - p would be 0 if p is nearly 1.
        return log_q - np.logaddexp.reduce(np.delete(log_p, self.target, axis=-1), axis=-1)

    def _mixed(self, before: np.ndarray, after: Mapping[str, np.ndarray], mix: Mapping[str, float]) -> dict[str, Any]:
        """Mixes log p of every class with the measured class's log-odds last: before ``[C + 1]``, and by method after
        ``[rows, C + 1]``."""
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
    """The attention each word of a text receives, summed over all rows of the maps with this text as columns; empty
    without such a map."""
    maps = [
        np.array(record.weights)
        for record in explanation.evidence
        if isinstance(record, AttentionMap) and record.columns == role and record.weights
    ]
    return np.sum([weights.sum(0) for weights in maps], axis=0).tolist() if maps else []


def target_class(checkpoint: Checkpoint, probabilities: Sequence[float]) -> int:
    """The class whose probability is measured: the most probable one, or for a ranking model the class it ranks by."""
    ranks = right_class(checkpoint.card) if checkpoint.card["task"] == "answer selection" else None
    return max(range(len(probabilities)), key=probabilities.__getitem__) if ranks is None else ranks


def _mean(by_way: Mapping[str, float], mix: Mapping[str, float]) -> float | None:
    """The weighted mean of the methods in a mix that could be applied."""
    taken = [way for way in mix if way in by_way]
    return float(np.average([by_way[way] for way in taken], weights=[mix[way] for way in taken])) if taken else None


def _or_least(value: float | None) -> float:
    return float("-inf") if value is None else value
