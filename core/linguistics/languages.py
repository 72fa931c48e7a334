"""Recognises a sentence that is not English by its frequent words."""

from __future__ import annotations

import functools
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from core.files import read_yaml
from core.json_types import JsonObject
from core.linguistics.content_words import stop_words

LISTS = Path(__file__).with_name("languages.yaml")


def foreign_language(words: Collection[str]) -> str | None:
    """The language of a sentence's normalised ``words``, None if it may be English.

    More of them must be frequent in that language only than in English only, at least a quarter of all, and one must
    not be a part of English or of names ("hat", "von").
    """
    best, most = None, 0
    for language, only in _languages().items():
        found = [word for word in words if word in only.theirs]
        ours = sum(word in only.ours for word in words)
        sure = {*found} - only.names
        if sure and len(found) > max(most, ours) and 4 * len(found) >= len(words):
            best, most = language, len(found)
    return best


class _Frequent(NamedTuple):
    """Frequent words of a language but not of English; of English but not of the language; and words of the language
    that may be names, or parts of English."""

    theirs: frozenset[str]
    ours: frozenset[str]
    names: frozenset[str]


@functools.cache
def _languages() -> dict[str, _Frequent]:
    lists: JsonObject = read_yaml(LISTS)
    english = stop_words()
    return {
        language: _Frequent(frozenset(own["words"]) - english, english - {*own["words"]}, frozenset(own["names"]))
        for language, own in lists.items()
    }
