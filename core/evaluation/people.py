"""Agreement of explanation methods with the words that people give as reasons.

A content word is *named by people* if more than half of them (two of e-SNLI's three) use its stem in their explanation
or marked it. Each side of a pair that has both named and unnamed content words tests two things: whether the content
word with the largest effect is named (P@1), and how high the named ones rank (average precision). Ties are averaged
over all orders.
"""

from __future__ import annotations

import functools
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.card import PeopleScores
from core.data import Example
from core.data.rationales import voices
from core.effects.methods import METHODS
from core.effects.methods.method import word_values
from core.effects.pointing import pointed
from core.effects.question import Question
from core.effects.words import Place
from core.evaluation.intervals import mean_of
from core.evaluation.people_table import ALL, CHANCE, NEW
from core.evaluation.scores import precisions
from core.linguistics.content_words import snowball_stem, stop_words
from core.reading.reader import ReadText
from core.reading.shared_words import only_in
from core.reading.tokens import Token, tokenize


def half_of(key: str) -> int:
    """The half that a row belongs to, by its id. Alternative weights for `taken-away` were tuned on half 0, and none
    was better on half 1; cards report half 1."""
    return zlib.crc32(key.encode()) % 2


def named(tokens: Sequence[Token], said: Sequence[str]) -> dict[int, bool]:
    """The positions of a text's content words, and whether people name each; ``said``: the words each person used."""
    stems = [_stems(text) for text in said]
    return {
        place: 2 * sum(snowball_stem(token.norm) in own for own in stems) > len(stems)
        for place, token in enumerate(tokens)
        if token.is_word and token.norm not in stop_words()
    }


def words_of(row: Example) -> list[dict[str, bool]]:
    """For each text of a row, its content words and whether people name each."""
    texts = zip(map(tokenize, (row.first, row.second)), voices(row), strict=True)
    return [{tokens[place].norm: told for place, told in named(tokens, said).items()} for tokens, said in texts]


@functools.lru_cache(maxsize=1_000)
def _stems(text: str) -> frozenset[str]:
    return frozenset(snowball_stem(token.norm) for token in tokenize(text))


@dataclass(frozen=True)
class Agreement:
    """A method's agreement with people on one side of a pair with this label."""

    role: str
    label: str
    method: str
    at_1: float
    """1 if the top-ranked word is named; on ties the share of named ones."""
    precision: float
    """The average precision of the named words."""


def agreements(asked: Question, row: Example, methods: Iterable[str] = METHODS) -> Iterator[Agreement]:
    """Agreement of each method, of chance and of the new-words baseline with people on the row's sides; skips sides
    where people name all content words or none. Methods the model does not support are left out."""
    said = [named(side.tokens, texts) for side, texts in zip(asked.sides, voices(row), strict=False)]
    told = {side: words for side, words in enumerate(said) if len({*words.values()}) == 2}
    places = [Place(side, index) for side, words in told.items() for index in words]
    values, _ = word_values(asked, [METHODS[method] for method in methods], places) if places else ({}, 0)
    ranked = {CHANCE: [0.0] * len(places), NEW: _new(asked.sides, places), **values}
    for side, words in told.items():
        right = [*words.values()]
        own = [number for number, place in enumerate(places) if place.side == side]
        for method, numbers in ranked.items():
            of_side = [numbers[number] for number in own]
            at_1 = pointed(of_side, *np.flatnonzero(right).tolist())
            (precision,) = precisions([0] * len(right), right, of_side).tolist()
            yield Agreement(asked.sides[side].role, str(row.label), method, at_1, precision)


def _new(sides: Sequence[ReadText], places: Sequence[Place]) -> list[float]:
    """1 for each word that only its own text has, else 0."""
    others = [[norm for other in sides if other is not side for norm in other.norms] for side in sides]
    new = [{*only_in(side.norms, norms)} for side, norms in zip(sides, others, strict=True)]
    return [float(place.index in new[place.side]) for place in places]


def summary(found: Sequence[Agreement]) -> dict[str, dict[str, PeopleScores]]:
    """Means with 95 % intervals by side, label (:data:`ALL` and each) and method."""
    groups: dict[str, dict[str, list[Agreement]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        groups[one.role][ALL].append(one)
        groups[one.role][one.label].append(one)
    return {
        role: {label: _scores(groups[role][label]) for label in (ALL, *sorted(labels.keys() - {ALL}))}
        for role, labels in groups.items()
    }


def _scores(found: Sequence[Agreement]) -> PeopleScores:
    by_method: dict[str, list[Agreement]] = defaultdict(list)
    for one in found:
        by_method[one.method].append(one)
    return {
        "items": len(by_method[CHANCE]),
        "at_1": {method: mean_of([one.at_1 for one in own]) for method, own in by_method.items()},
        "precision": {method: mean_of([one.precision for one in own]) for method, own in by_method.items()},
    }
