"""The positions where “not” can be inserted naturally in an English sentence.

The rule uses words, not grammar, so it skips uncertain cases: questions, nouns spelt like an auxiliary, sentences
without an auxiliary.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.linguistics.features import NEGATIONS

_TO_BE = {"is", "are", "was", "were", "am", "'re", "'m"}
_MODAL = {"can", "could", "will", "would", "shall", "should", "might", "must", "do", "does", "did"}
_HAVE = {"has", "have", "had"}
_DETERMINERS = {
    "a", "an", "the", "this", "that", "these", "those", "my", "your", "his", "her", "its", "our", "their", "some",
    "any", "each", "every", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
}  # fmt: skip
_NO_VERB = _DETERMINERS | {
    "me", "you", "him", "it", "us", "them", "in", "on", "at", "to", "of", "for", "from", "with", "by", "about", "as",
    "into", "over", "under", "up", "down", "out", "off", "so", "well", "and", "or", "but", "if", "than", "then",
}  # fmt: skip
"""Words that follow an auxiliary only if it is a main verb or a noun: did a trick, had a dog, can in hand."""
_ASKING = {"what", "who", "whom", "whose", "which", "when", "where", "why", "how", "is", "are", "was", "were", "am"}
_ASKING |= _MODAL | _HAVE
_JOINING = {"and", "or", "but", "if", "than", "as", "because", "while"}


def negatable(words: Sequence[str]) -> list[int]:
    """Indices of the words before which “not” can be inserted in a sentence with these tokens; none in a question or in
    a sentence that is already negated."""
    lower = [word.lower().replace("’", "'") for word in words]
    if not lower or lower[0] in _ASKING or lower[-1] == "?" or not NEGATIONS.isdisjoint(lower):
        return []
    return [
        i for i in range(2, len(lower)) if words[i][:1].isalnum() and _follows(lower[i - 2], lower[i - 1], lower[i])
    ]


def _follows(before: str, auxiliary: str, word: str) -> bool:
    """Whether the middle one of three words is an auxiliary or copula that “not” can follow."""
    if auxiliary in _TO_BE:
        return word not in _JOINING
    if before in _DETERMINERS:  # a can of beans
        return False
    if auxiliary in _MODAL:
        return word not in _NO_VERB and not word.endswith("ing") and not word.isdigit()
    return auxiliary in _HAVE and (word == "been" or (len(word) > 3 and word.endswith(("ed", "en"))))
