"""The words of a pair: how methods remove them, and by which words they are replaced."""

from __future__ import annotations

import functools
import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from core.card import Card, is_external
from core.evidence.effects import WordEffect
from core.progress import Progress as Progress
from core.reading.reader import ReadText
from core.reading.tokens import Token
from core.reading.word_table import WordTable

FREQUENT_RANKS = (60, 1600)
"""Ranks in the word table from which frequent words are sampled: earlier ones are function words and punctuation, which
would make the sentence ungrammatical."""
RELATED_RANKS = (21, 300)
"""Ranks among a word's nearest neighbours by cosine from which related words are sampled: nearer ones mean the same."""
TAKEN_AWAY, DROPPED = "taken-away", "dropped"
"""The default method, and the one for slow models."""
MOST_ATTENDED, LEAST_ATTENDED = "most-attended", "least-attended"
"""Words ranked by the attention they receive, most or least first."""

Sides = tuple[ReadText, ...]
"""The tokenised texts of a pair (or a single text), in the data set's order."""


def unheard(done: int, of: int) -> None:
    """The no-op progress callback."""


def part(progress: Progress, number: int, parts: int) -> Progress:
    """Progress for one part (numbered from 0) of a computation whose parts take about equally long."""
    return lambda done, of: progress(1000 * number + 1000 * done // max(of, 1), 1000 * parts)


class Attribution(NamedTuple):
    """One method's result for each word."""

    words: tuple[WordEffect, ...]
    completeness: tuple[float, float] | None
    """:attr:`core.evidence.effects.Effects.completeness`"""
    passes: int
    """Rows the model read, forward and backward."""


@dataclass(frozen=True)
class Place:
    """A word, given by the index of its text and its position there."""

    side: int
    index: int


@dataclass(frozen=True)
class Sampling:
    """How replacements are sampled: the number of ``frequent`` and ``related`` words, and the ``seed``."""

    frequent: int = 8
    related: int = 8
    seed: int = 0


SAMPLING = Sampling()
FEW = Sampling(2, 2)
"""For an external model, where each replacement costs a pass; more are sampled on request."""


def usual_sampling(card: Card) -> Sampling:
    """How replacements are sampled for the model of this card by default."""
    return FEW if is_external(card) else SAMPLING


def places(sides: Sides, of: int | None = None) -> list[Place]:
    """Every token of the texts in reading order, or of only the text with this index."""
    return [
        Place(number, index)
        for number, side in enumerate(sides)
        for index in range(len(side.tokens))
        if of in (None, number)
    ]


def without(sides: Sides, *taken: Place) -> Sides | None:
    """The texts without these words; None if a text would be left without words."""
    left = tuple(
        replace(side, tokens=tuple(token for i, token in enumerate(side.tokens) if Place(number, i) not in taken))
        for number, side in enumerate(sides)
    )
    return left if all(side.has_word for side in left) else None


def with_word(sides: Sides, place: Place, word: str) -> Sides:
    """The texts with ``word`` in this position."""
    side = sides[place.side]
    old = side.tokens[place.index]
    tokens = (*side.tokens[: place.index], Token(word, old.start, old.end, word), *side.tokens[place.index + 1 :])
    return (*sides[: place.side], replace(side, tokens=tokens), *sides[place.side + 1 :])


@functools.cache
def frequent_words(table: WordTable, count: int, seed: int) -> tuple[str, ...]:
    """``count`` alphabetic words at ranks :data:`FREQUENT_RANKS` of the table, sampled with this seed; from the whole
    table if too few have these ranks (a checkpoint's own small table)."""
    whole = table.beneath or table
    first, last = FREQUENT_RANKS
    words = [word for word in whole.words[first - 1 : last] if word.isalpha()]
    if len(words) < count:
        words = [word for word in whole.words if word.isalpha()]
    return tuple(random.Random(seed).sample(words, min(count, len(words))))


def related_words(table: WordTable, norms: Sequence[str], count: int, seed: int) -> dict[str, tuple[str, ...]]:
    """For each word, ``count`` of its nearest neighbours by cosine at :data:`RELATED_RANKS`, excluding the word itself,
    sampled with a seed that also depends on the word. Words missing from the table are left out."""
    pools = _neighbours(table, [norm for norm in dict.fromkeys(norms) if table.known(norm)])
    return {
        norm: tuple(random.Random(f"{seed} {norm}").sample(pool, min(count, len(pool)))) for norm, pool in pools.items()
    }


def _neighbours(table: WordTable, norms: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each word, the words at :data:`RELATED_RANKS`, cached for all threads."""
    with _LOCK:
        known = {norm: _NEIGHBOURS[table, norm] for norm in norms if (table, norm) in _NEIGHBOURS}
    missing = [norm for norm in norms if norm not in known]
    if missing:
        first, last = RELATED_RANKS
        nearest = table.nearest_to_each(table.vectors(missing), last + 1)
        for norm, pairs in zip(missing, nearest, strict=True):
            known[norm] = tuple(word for word, _ in pairs if word != norm)[first - 1 : last]
        with _LOCK:
            if len(_NEIGHBOURS) > MOST_NEIGHBOURS:
                _NEIGHBOURS.clear()
            _NEIGHBOURS.update({(table, norm): known[norm] for norm in missing})
    return known


MOST_NEIGHBOURS = 10_000
"""Number of words whose neighbours are cached."""
_LOCK = threading.Lock()
_NEIGHBOURS: dict[tuple[WordTable, str], tuple[str, ...]] = {}
