"""Grammatical constructions in a sentence or a pair, detected from words alone.

These are shallow features: word lists (constructions.yaml) and word order, no parser. In captions and short sentences
they find most instances of their construction, with some false positives, listed for each function. Slices based on
them show where to look; they do not measure a model on a construction. Words are normalised and exclude punctuation
(:func:`words_of`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from core.files import read_yaml
from core.reading.tokens import norms

LISTS = Path(__file__).with_suffix(".yaml")
"""The file of word lists."""
_REACH = 4
"""Number of words before a participle in which to look for its form of be."""


@functools.cache
def _listed(name: str) -> frozenset[str]:
    """The words of a list."""
    lists: dict[str, list[str]] = read_yaml(LISTS)
    return frozenset(lists[name])


def words_of(text: str) -> list[str]:
    """The normalised words of a text."""
    return [norm for norm in norms(text) if norm.isalpha() or any(map(str.isalnum, norm))]


def exchanged(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether both texts have the same words in a different order, as when two nouns are exchanged.

    Articles, forms of be and "by" are ignored, and words are compared in lower case without stemming: "the dog chased
    the cat" and "the cat was chased by the dog" are exchanged, "chases" and "chased" are different words. A moved
    adverb ("yesterday he left", "he left yesterday") counts too.
    """
    left_out = _listed("articles") | _listed("forms of be") | {"by"}
    one, other = ([word for word in words if word not in left_out] for words in (first, second))
    return one != other and sorted(one) == sorted(other)


def passive(words: Sequence[str]) -> bool:
    """Whether a participle follows a form of be ("was chased", "has not been seen"), or "by" a participle ("a ball
    thrown by a boy").

    A participle is a word in -ed that is not on a short list of adjectives, or on a list of irregular ones. False
    positives: "is dressed in red", "walked by the river". Passives with "get" or "'s" are not found.
    """
    for place, word in enumerate(words):
        if not _participle(word):
            continue
        before = [other for other in words[max(0, place - _REACH) : place] if not _stands_between(other)]
        follows_be = bool(before) and before[-1] in _listed("forms of be") - {"'s"}
        if follows_be or "by" in words[place + 1 : place + 2]:
            return True
    return False


def _stands_between(word: str) -> bool:
    return word in _listed("between be and participle") or (word.endswith("ly") and len(word) > 3)


@functools.lru_cache(1 << 14)
def _participle(word: str) -> bool:
    regular = len(word) > 4 and word.endswith("ed") and word not in _listed("adjectives in -ed")
    return regular or word in _listed("irregular participles")


def quantifier(words: Sequence[str]) -> bool:
    """Whether the words include a quantifier such as every, no, few, most, (at) least, exactly.

    Bare numbers, "someone" and "something" do not count, since every second caption has them; "a few" counts, and so
    (wrongly) do "the most famous", "both" before "and", and the answer "no".
    """
    return not _listed("quantifiers").isdisjoint(words)


def embedded_clause(words: Sequence[str]) -> bool:
    """Whether one clause is embedded in another: after "if", "because", "while" and others, after a relative "who",
    "which", "where" that is not the text's first word, or after a "that" following a verb of saying or knowing, or an
    article and one more word ("the man that").

    Clauses without such a word do not count ("the man she saw", or "before he left", as "before" and "after" usually
    precede a noun), nor do "while walking" and an initial "when", which usually asks.
    """
    return any(word in _openers() and _opens_a_clause(words, place) for place, word in enumerate(words[:-1]))


@functools.cache
def _openers() -> frozenset[str]:
    return _listed("subordinators") | _listed("relatives") | {"that"}


def _opens_a_clause(words: Sequence[str], place: int) -> bool:
    word, behind = words[place], words[max(0, place - 2) : place]
    if word in _listed("subordinators"):
        return not words[place + 1].endswith("ing") and (place > 0 or word != "when")
    if word != "that" or not behind:
        return word in _listed("relatives") and place > 0
    after_a_noun = len(behind) == 2 and behind[0] in _listed("articles")
    return after_a_noun or behind[-1] in _listed("before a clause with that")
