"""The user's edits of words and of attention, in order.

An edit of a map or a cell belongs to the current words: the next edit of words suspends it, and undoing that edit
restores it. A temperature stays in effect, and so does leaving out crossing words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.effects.attention_edits import KINDS, OF_ANY_WORDS, AttentionEdit
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
    """The edits of attention that are in effect after these edits."""
    last = max((i for i, edit in enumerate(edits) if isinstance(edit, Edit)), default=-1)
    return tuple(
        edit
        for i, edit in enumerate(edits)
        if isinstance(edit, AttentionEdit) and (i > last or edit.kind in OF_ANY_WORDS)
    )
