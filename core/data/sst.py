"""The Stanford Sentiment Treebank as lines, ``label text``: a class number from 0 to 4, a space, the sentence."""

from __future__ import annotations

from core.data.dataset import Example
from core.data.lines import Line, mostly, says_something
from core.data.reader import LOOK, RowReader, layouts

NAME = "SST-5 lines"
LABELS = ("0", "1", "2", "3", "4")


@layouts(NAME, clue=LOOK)
def recognise(head: list[Line]) -> RowReader | None:
    """Most of the first lines begin with a class number and a space."""
    return RowReader(NAME, _row) if mostly(head, lambda text: text[:1] in LABELS and text[1:2] == " ") else None


def _row(number: int, line: str) -> Example:
    label, _, text = line.strip().partition(" ")
    if label not in LABELS:
        raise ValueError(f"label {label[:40]!r} is none of {', '.join(LABELS)}")
    if not says_something(text):
        raise ValueError("the text is empty")
    return Example.document(f"line {number}", text, label, label_text=label)
