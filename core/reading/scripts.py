"""Scripts without spaces between words: a space would change the text, and our rules cannot find word boundaries."""

from __future__ import annotations

import regex

# Line_Break=SA: Thai, Lao, Khmer, Burmese and other scripts of South East Asia.
_LETTER = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Tibetan}\p{Line_Break=SA}ーｰ"
_ANY = regex.compile(f"[{_LETTER}]")
_INNER = regex.compile(rf"(?<=[{_LETTER}])(?!\p{{M}})|(?=(?!\p{{M}})[{_LETTER}])")


def without_spaces(text: str) -> bool:
    """Whether the text has a letter of such a script."""
    return not text.isascii() and _ANY.search(text) is not None


def inner_ends(text: str) -> list[int]:
    """The positions where a word may end without a space: next to a letter of such a script, but not before a combining
    mark."""
    return [match.start() for match in _INNER.finditer(text)]
