"""Manual edits of a pair's texts: words dropped, replaced, inserted or swapped, "not" added, texts exchanged.

An edit consists of plain values and has a short text form (``replace 1 0 Three``), so that a list of edits fits into a
URL, a file or a table. Positions count the tokens of the text before the edit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from core.errors import UserError
from core.linguistics.negation import negatable
from core.reading.scripts import without_spaces
from core.reading.tokens import Token, tokenize

Split = Callable[[str], Sequence[Token]]
"""Splits a text into words: the reader's own splitter, so that positions count the words a model reads."""

DROP, REPLACE, INSERT, NEGATE, SWAP, EXCHANGE = "drop", "replace", "insert", "negate", "swap", "exchange"
_FIELDS: dict[str, tuple[str, ...]] = {
    DROP: ("side", "index"),
    REPLACE: ("side", "index", "word"),
    INSERT: ("side", "index", "word"),
    NEGATE: ("side",),
    SWAP: ("side", "index", "other"),
    EXCHANGE: (),
}
"""The fields of each kind's text form, in order."""
LONGEST_WORD = 60
"""Length limit in characters of an inserted word."""


class EditError(UserError):
    """The edit cannot be made; the message is one sentence, and the pair is unchanged."""


@dataclass(frozen=True)
class Edit:
    """A single edit. ``side``: 0 or 1; ``index``: a token of that text; ``word``: the inserted word; ``other``: the
    second token of a swap."""

    kind: str
    side: int = 0
    index: int = 0
    word: str = ""
    other: int = 0

    def __str__(self) -> str:
        return " ".join([self.kind, *(str(getattr(self, name)) for name in _FIELDS[self.kind])])

    @classmethod
    def parse(cls, text: str) -> Edit:
        """The inverse of ``str``. Raises EditError for any other text."""
        refused = EditError(f"{text[:80]!r} is not an edit of a pair; undo it or retype the sentence")
        kind, *parts = text.split(" ", 3)
        names = _FIELDS.get(kind)
        if names is None or len(parts) != len(names):
            raise refused
        try:
            values = {name: part if name == "word" else int(part) for name, part in zip(names, parts, strict=True)}
        except ValueError:
            raise refused from None
        edit = cls(kind, **values)  # type: ignore[arg-type]
        if edit.side not in (0, 1) or edit.index < 0 or edit.other < 0 or len(edit.word) > LONGEST_WORD:
            raise refused
        return edit

    def describe(self, texts: tuple[str, str], split: Split = tokenize) -> str:
        """Describes the edit of these texts for users: “Three” → “Two”."""
        if self.kind == EXCHANGE:
            return "sides exchanged"
        if self.kind == NEGATE:
            return "“not” put in"
        tokens = split(texts[self.side])
        word = tokens[self.index].text if self.index < len(tokens) else ""
        if self.kind == SWAP:
            other = tokens[self.other].text if self.other < len(tokens) else ""
            return f"“{word}” and “{other}” swapped"
        return {
            DROP: f"“{word}” left out",
            REPLACE: f"“{word}” → “{self.word}”",
            INSERT: f"“{self.word}” before “{word}”" if word else f"“{self.word}” at the end",
        }[self.kind]


def edited(texts: tuple[str, str], edits: Iterable[Edit], split: Split = tokenize) -> tuple[str, str]:
    """The texts after applying these edits in order. Raises EditError for an edit outside the text and for one that
    leaves a text without words."""
    for edit in edits:
        texts = _edited(texts, edit, split)
    return texts


def _edited(texts: tuple[str, str], edit: Edit, split: Split) -> tuple[str, str]:
    if edit.kind == EXCHANGE:
        if not all(_has_word(text) for text in texts):
            raise EditError("only two sentences with words can change sides; type the other one first")
        return texts[1], texts[0]
    text = texts[edit.side]
    tokens = split(text)
    last = len(tokens) if edit.kind == INSERT else len(tokens) - 1
    if max(edit.index, edit.other) > last:
        raise EditError(f"the edit {str(edit)[:80]!r} reaches beyond the sentence; undo it or retype the sentence")
    if edit.kind == DROP:
        changed = _cut(text, tokens[edit.index])
    elif edit.kind == REPLACE:
        changed = _put(text, tokens[edit.index], edit.word)
    elif edit.kind == INSERT:
        space = "" if without_spaces(edit.word) else " "
        at = tokens[edit.index].start if edit.index < len(tokens) else len(text)
        before, after = text[:at], text[at:]
        closes = before[-1:].strip() and not after[:1].isalnum()  # a full stop, or the end of the text
        changed = f"{before}{space}{edit.word}{after}" if closes else f"{before}{edit.word}{space}{after}"
    elif edit.kind == NEGATE:
        places = negatable([token.text for token in tokens])
        if not places:
            raise EditError("this sentence has no place where “not” would stand; insert a word instead")
        at = tokens[places[0]].start
        changed = f"{text[:at]}not {text[at:]}"
    else:
        one, other = sorted((edit.index, edit.other))
        changed = _put(_put(text, tokens[other], tokens[one].text), tokens[one], tokens[other].text)
    if not _has_word(changed):
        raise EditError("this edit would leave a sentence without a word; keep at least one")
    return (changed, texts[1]) if edit.side == 0 else (texts[0], changed)


def _has_word(text: str) -> bool:
    return any(token.is_word for token in tokenize(text))


def _cut(text: str, token: Token) -> str:
    """The text without the token and the extra space; the sentence still begins with a capital letter."""
    before, after = text[: token.start].rstrip(" "), text[token.end :].lstrip(" ")
    apart = after[:1].isalnum() and not without_spaces(after[:1])
    space = " " if before and after and (text[token.end : token.end + 1] == " " or apart) else ""
    if not before and token.text[:1].isupper():
        after = after[:1].upper() + after[1:]
    return f"{before}{space}{after}"


def _put(text: str, token: Token, word: str) -> str:
    """The text with the word replacing the token, capitalised if the token began the sentence with a capital."""
    if token.text[:1].isupper() and not text[: token.start].strip() and word[:1].islower():
        word = word[:1].upper() + word[1:]
    return f"{text[: token.start]}{word}{text[token.end :]}"
