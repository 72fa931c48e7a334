"""Recognises a sentence that is not English by its frequent words."""

from __future__ import annotations

import functools
from collections.abc import Collection
from pathlib import Path

from core.files import read_yaml
from core.json_types import JsonObject
from core.linguistics.content_words import stop_words

LISTS = Path(__file__).with_name("languages.yaml")


def foreign_language(words: Collection[str]) -> str | None:
    """The language of a sentence's normalised ``words``, None if it may be English.

    More of them must be frequent in that language only than in English only, at least a quarter of all, and one must
    not be a part of English or of names ("hat", "von").
    """
    english = stop_words()
    best, most = None, 0
    for language, (known, names) in _languages().items():
        found = [word for word in words if word in known - english]
        ours = sum(word in english - known for word in words)
        sure = {*found} - names
        if sure and len(found) > max(most, ours) and 4 * len(found) >= len(words):
            best, most = language, len(found)
    return best


@functools.cache
def _languages() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    lists: JsonObject = read_yaml(LISTS)
    return {language: (frozenset(own["words"]), frozenset(own["names"])) for language, own in lists.items()}
