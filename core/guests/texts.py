"""The text of a reading whose words were changed: what a model reads that splits texts by itself."""

from __future__ import annotations

from core.reading.reader import ReadText

Span = tuple[int, int]
"""Characters [start, end) of a text."""


def spelt(side: ReadText) -> tuple[str, list[Span]]:
    """The text with the words that the reading has, and where each of them stands in it.

    It is the text as it was typed where no word was changed, else spaced as :func:`core.effects.edits.edited` leaves
    it. What stood behind the last word is left out where the end was cut.
    """
    text = ""
    spans: list[Span] = []
    at = 0
    for token in side.tokens:
        text += _between(side.text[at : token.start], token.text if spans else "")
        word = _begun(side.text, token.text) if not text.strip() else token.text
        spans.append((len(text), len(text) + len(word)))
        text += word
        at = token.end
    return text if side.truncated else text + _between(side.text[at:], ""), spans


def _between(gap: str, word: str) -> str:
    """What stands before ``word`` (empty at a text's beginning and end). Where words were taken out of it, a space if
    one stood behind them or if two words would be joined."""
    if not gap.strip():
        return gap
    return " " if word and (gap[-1].isspace() or word[0].isalnum()) else ""


def _begun(before: str, word: str) -> str:
    """A text's first word, with a capital letter where the text began with one."""
    capital = word[:1].upper()
    return capital + word[1:] if before.lstrip()[:1].isupper() and len(capital) == 1 else word
