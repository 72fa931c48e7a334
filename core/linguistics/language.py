"""Detects the language of a sentence from frequent words alone: shallow, and silent if unsure."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from core.files import read_yaml

_LISTS = Path(__file__).with_name("languages.yaml")
_WORD = re.compile(r"[^\W\d_]+")
_LEAST = 4
"""Minimum number of words for detecting a sentence's language."""


@functools.cache
def _lists() -> dict[str, tuple[frozenset[str], frozenset[str], frozenset[str]]]:
    """Per language other than English: words missing in English, words only in English, and shared words."""
    lists: dict[str, list[str]] = read_yaml(_LISTS)
    english = frozenset(lists.pop("English"))
    both = {language: frozenset(words) for language, words in lists.items()}
    return {language: (words - english, english - words, words | english) for language, words in both.items()}


def foreign(text: str) -> str:
    """The language of a text in Latin script that is certainly not English, otherwise empty.

    It requires two words from the language's list that English lacks, and more of them than English ones. If there is
    at least one such word, others with letters such as ä or ñ count half.
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
