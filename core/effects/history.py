"""Edits by hand in the order in which a person made them: of the words, and of attention.

An edit of attention names cells by their place, so it holds for the words that stand there: with the next edit of words
it ends, and acts again when that one is undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.effects.attention_edits import KINDS, AttentionEdit
from core.effects.edits import Edit, Split, edited
from core.reading.tokens import tokenize

AnyEdit = Edit | AttentionEdit


def parse_edit(text: str) -> AnyEdit:
    """An edit of either kind by its text form. Raises EditError for a text that is none."""
    kind = text.partition(" ")[0]
    return AttentionEdit.parse(text) if kind in KINDS else Edit.parse(text)


def words_after(texts: tuple[str, str], edits: Iterable[AnyEdit], split: Split = tokenize) -> tuple[str, str]:
    """The texts after these edits, whose places count the words of ``split``. Raises EditError as
    :func:`core.effects.edits.edited` does."""
    return edited(texts, (edit for edit in edits if isinstance(edit, Edit)), split)


def acting(edits: Sequence[AnyEdit]) -> tuple[AttentionEdit, ...]:
    """The edits of attention since the last edit of words."""
    last = max((i for i, edit in enumerate(edits) if isinstance(edit, Edit)), default=-1)
    return tuple(edit for edit in edits[last + 1 :] if isinstance(edit, AttentionEdit))
