"""The user's edits of words and of attention, in order.

An edit of a map or a cell belongs to the current words: the next word edit suspends it, and undoing that edit restores
it. Temperature and ignored crossings stay in effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.effects.attention_edits import ATTENTION_EDITS, AttentionEdit
from core.effects.edits import Edit, Split, edited
from core.reading.tokens import tokenize

AnyEdit = Edit | AttentionEdit


def parse_edit(text: str) -> AnyEdit:
    """Parses an edit of either kind. Raises EditError for any other text."""
    kind = text.partition(" ")[0]
    return AttentionEdit.parse(text) if kind in ATTENTION_EDITS else Edit.parse(text)


def words_after(texts: tuple[str, str], edits: Iterable[AnyEdit], split: Split = tokenize) -> tuple[str, str]:
    """The texts after these edits; positions count the words from ``split``. Raises EditError as
    :func:`core.effects.edits.edited` does."""
    return edited(texts, (edit for edit in edits if isinstance(edit, Edit)), split)


def acting(edits: Sequence[AnyEdit]) -> tuple[AttentionEdit, ...]:
    """The attention edits in effect after all these edits."""
    last = max((i for i, edit in enumerate(edits) if isinstance(edit, Edit)), default=-1)
    return tuple(
        edit for i, edit in enumerate(edits) if isinstance(edit, AttentionEdit) and (i > last or edit.of_any_words)
    )
