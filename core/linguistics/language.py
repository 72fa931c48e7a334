"""The language of a sentence, told by its most frequent words alone: shallow, and silent where it is unsure."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from core.files import read_yaml

_LISTS = Path(__file__).with_name("languages.yaml")
_WORD = re.compile(r"[^\W\d_]+")
_LEAST = 4
"""The fewest words of a sentence whose language is detected."""


@functools.cache
def _lists() -> dict[str, tuple[frozenset[str], frozenset[str], frozenset[str]]]:
    """Per language other than English: words missing in English, words only in English, and shared words."""
    lists: dict[str, list[str]] = read_yaml(_LISTS)
    english = frozenset(lists.pop("English"))
    both = {language: frozenset(words) for language, words in lists.items()}
    return {language: (words - english, english - words, words | english) for language, words in both.items()}


def foreign(text: str) -> str:
    """The language of a text in Latin letters that is surely not English, else an empty text.

    It takes two words of the language's list that English does not have, and more of them than English ones. Once
    there is such a word, others with letters such as ä or ñ count half.
    """
    words = _WORD.findall(text.lower())
    if len(words) < _LEAST:
        return ""
    best, most = "", 0
    for language, (only, english, either) in _lists().items():
        own = sum(word in only for word in words)
        accented = sum(not word.isascii() and word not in either for word in words)
        if own > most and own + accented // 2 > max(1, sum(word in english for word in words)):
            best, most = language, own
    return best
