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
        text += _between(side.text[at : token.start], first=not spans)
        word = _begun(side.text, token.text) if not text.strip() else token.text
        spans.append((len(text), len(text) + len(word)))
        text += word
        at = token.end
    return text if side.truncated else text + _between(side.text[at:], last=True), spans


def _between(gap: str, *, first: bool = False, last: bool = False) -> str:
    """What stands between two words that are left; where words were taken out of it, one space if it began or ended
    with one."""
    if not gap.strip():
        return gap
    return " " if not first and not last and (gap[0].isspace() or gap[-1].isspace()) else ""


def _begun(before: str, word: str) -> str:
    """A text's first word, with a capital letter where the text began with one."""
    capital = word[:1].upper()
    return capital + word[1:] if before.lstrip()[:1].isupper() and len(capital) == 1 else word
