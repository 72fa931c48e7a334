"""Manual edits of a pair's texts: words dropped, replaced, inserted or swapped, "not" added, texts exchanged.

An edit consists of plain values and has a short text form (``replace 1 0 Three``), so that a list of edits fits into a
URL, a file or a table. Positions count the tokens of the text before the edit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.errors import UserError
from core.linguistics.negation import negatable
from core.reading.scripts import without_spaces
from core.reading.tokens import Token, tokenize

Split = Callable[[str], Sequence[Token]]
"""Splits a text into words: the reader's own splitter, so that positions count the words a model reads."""

DROP, REPLACE, INSERT, NEGATE, SWAP, EXCHANGE = "drop", "replace", "insert", "negate", "swap", "exchange"
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
        return " ".join([self.kind, *(str(getattr(self, name)) for name in EDIT_KINDS[self.kind].fields)])

    @classmethod
    def parse(cls, text: str) -> Edit:
        """The inverse of ``str``. Raises EditError for any other text."""
        refused = EditError(f"{text[:80]!r} is not an edit of a pair; undo it or retype the sentence")
        kind, *parts = text.split(" ", 3)
        if kind not in EDIT_KINDS or len(parts) != len(EDIT_KINDS[kind].fields):
            raise refused
        named = zip(EDIT_KINDS[kind].fields, parts, strict=True)
        try:
            values = {name: part if name == "word" else int(part) for name, part in named}
        except ValueError:
            raise refused from None
        edit = cls(kind, **values)  # type: ignore[arg-type]
        if edit.side not in (0, 1) or edit.index < 0 or edit.other < 0 or len(edit.word) > LONGEST_WORD:
            raise refused
        return edit

    def describe(self, texts: tuple[str, str], split: Split = tokenize) -> str:
        """Describes the edit of these texts for users: “Three” → “Two”."""
        words = [token.text for token in split(texts[self.side])]
        word, other = (words[at] if at < len(words) else "" for at in (self.index, self.other))
        return EDIT_KINDS[self.kind].said(self, word, other)


def edited(texts: tuple[str, str], edits: Iterable[Edit], split: Split = tokenize) -> tuple[str, str]:
    """The texts after applying these edits in order. Raises EditError for an edit outside the text and for one that
    leaves a text without words."""
    for edit in edits:
        texts = _edited(texts, edit, split)
    return texts


def _edited(texts: tuple[str, str], edit: Edit, split: Split) -> tuple[str, str]:
    text, tokens, kind = texts[edit.side], split(texts[edit.side]), EDIT_KINDS[edit.kind]
    if kind.change is None:
        if not all(_has_word(text) for text in texts):
            raise EditError("only two sentences with words can change sides; type the other one first")
        return texts[1], texts[0]
    if max(edit.index, edit.other) > len(tokens) - (edit.kind != INSERT):
        raise EditError(f"the edit {str(edit)[:80]!r} reaches beyond the sentence; undo it or retype the sentence")
    changed = kind.change(edit, text, tokens)
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


def _inserted(edit: Edit, text: str, tokens: Sequence[Token]) -> str:
    space = "" if without_spaces(edit.word) else " "
    at = tokens[edit.index].start if edit.index < len(tokens) else len(text)
    before, after = text[:at], text[at:]
    closes = before[-1:].strip() and not after[:1].isalnum()  # a full stop, or the end of the text
    return f"{before}{space}{edit.word}{after}" if closes else f"{before}{edit.word}{space}{after}"


def _negated(edit: Edit, text: str, tokens: Sequence[Token]) -> str:
    places = negatable([token.text for token in tokens])
    if not places:
        raise EditError("this sentence has no place where “not” would stand; insert a word instead")
    at = tokens[places[0]].start
    return f"{text[:at]}not {text[at:]}"


def _swapped(edit: Edit, text: str, tokens: Sequence[Token]) -> str:
    one, other = (tokens[at] for at in sorted((edit.index, edit.other)))
    return _put(_put(text, other, one.text), one, other.text)


class EditKind(NamedTuple):
    """A kind of edit."""

    fields: tuple[str, ...]
    """The fields of its text form, in order."""
    said: Callable[[Edit, str, str], str]
    """Describes it for users, given the edited word and the other word of a swap; empty at the end of a text."""
    change: Callable[[Edit, str, Sequence[Token]], str] | None
    """The text after it, given the text with its tokens; None if it exchanges both texts. Raises EditError."""


EDIT_KINDS: Mapping[str, EditKind] = {
    DROP: EditKind(
        ("side", "index"),
        lambda edit, word, _: f"“{word}” left out",
        lambda edit, text, tokens: _cut(text, tokens[edit.index]),
    ),
    REPLACE: EditKind(
        ("side", "index", "word"),
        lambda edit, word, _: f"“{word}” → “{edit.word}”",
        lambda edit, text, tokens: _put(text, tokens[edit.index], edit.word),
    ),
    INSERT: EditKind(
        ("side", "index", "word"),
        lambda edit, word, _: f"“{edit.word}” before “{word}”" if word else f"“{edit.word}” at the end",
        _inserted,
    ),
    NEGATE: EditKind(("side",), lambda *_: "“not” put in", _negated),
    SWAP: EditKind(("side", "index", "other"), lambda edit, word, other: f"“{word}” and “{other}” swapped", _swapped),
    EXCHANGE: EditKind((), lambda *_: "sides exchanged", None),
}
"""The kinds of edits by the first word of their text form."""
