"""The word that is selected before a person selects one: the first that is read about, so it has to say something.

It is a word that the other sentence does not have, because there the sentences differ; else one that looks at another
word than itself; else the one that won most filters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from core.evidence import AttentionMap, Explanation, FilterProvenance
from core.evidence.attention_map import FINAL_STATE

_ARTICLES_AND_FORMS_OF_BE = {
    "a", "an", "the", "is", "are", "was", "were", "am", "be", "been", "being", "'s", "'re", "'m", "and",
}  # fmt: skip
_FUNCTION_WORDS = _ARTICLES_AND_FORMS_OF_BE | {
    "this", "that", "these", "those", "my", "your", "his", "her", "its", "our", "their", "he", "she", "it", "they",
    "we", "you", "i", "him", "them", "us", "me", "who", "which", "there", "of", "in", "on", "at", "to", "for",
    "from", "with", "by", "about", "as", "into", "over", "under", "near", "up", "down", "out", "off", "through",
    "between", "while", "or", "but", "if", "so", "do", "does", "did", "has", "have", "had", "can", "could", "will",
    "would", "shall", "should", "may", "might", "must",
}  # fmt: skip
"""Words that say little by themselves. Numbers and negations are none of them: a verdict hangs on both."""
_SAME = {"n't": "not", "n’t": "not", "cannot": "not"}


def telling_word(record: AttentionMap, explanation: Explanation) -> int:
    """The row of a map over words that is selected at first; of a final state its last word."""
    own, other = (_words(explanation, role) for role in (record.rows, record.columns))
    if record.units == FINAL_STATE:
        return len(own) - 1
    provenances = (one for one in explanation.evidence if isinstance(one, FilterProvenance) and one.rows == record.rows)
    won = Counter(filter.position for one in provenances for filter in one.filters)
    places = [i for i, word in enumerate(own) if any(c.isalnum() for c in word)] or list(range(len(own)))
    content = [i for i in places if own[i] not in _FUNCTION_WORDS]
    groups = _groups(record, own, other, places, content)
    return max(next(group for group in groups if group), key=lambda i: (won[i], max(record.weights[i])))


def _groups(
    record: AttentionMap, own: list[str], other: list[str], places: list[int], content: list[int]
) -> list[list[int]]:
    """Places of the rows' words that are worth a first look, the most telling group first."""
    if record.rows == record.columns:  # a text that looks at itself differs from nothing
        return [content, places]
    return [
        _not_among(other, own, content),
        [i for i in _not_among(other, own, places) if own[i] not in _ARTICLES_AND_FORMS_OF_BE],
        [i for i in content if other[_heaviest(record.weights[i])] != own[i]],
        content,
        places,
    ]


def _not_among(words: Collection[str], own: list[str], places: list[int]) -> list[int]:
    return [i for i in places if own[i] not in words]


def _heaviest(weights: tuple[float, ...]) -> int:
    return max(range(len(weights)), key=weights.__getitem__)


def _words(explanation: Explanation, role: str) -> list[str]:
    words = (token.text.lower() for token in explanation.sentence(role).tokens)
    return [_SAME.get(word, word) for word in words]
