"""The Stanford Sentiment Treebank as lines, ``label text``: a class number from 0 to 4, a space, the sentence."""

from __future__ import annotations

from core.data.dataset import Example, Parsed, Problem
from core.data.lines import Line, mostly, says_something

NAME = "SST-5 lines"
LABELS = ("0", "1", "2", "3", "4")


def recognises(head: list[Line]) -> bool:
    """True when most of the first lines begin with a class number and a space."""
    return mostly(head, lambda text: text[:1] in LABELS and text[1:2] == " ")


def read(lines: list[Line], labelled: bool) -> Parsed:
    """All rows; the layout has no mark for a missing label, so none is dropped."""
    rows: list[Example] = []
    problems: list[Problem] = []
    for number, line in lines:
        label, _, text = line.strip().partition(" ")
        if label not in LABELS:
            problems.append(Problem(number, f"label {label[:40]!r} is none of {', '.join(LABELS)}"))
        elif not says_something(text):
            problems.append(Problem(number, "the text is empty"))
        else:
            rows.append(Example.document(f"line {number}", text, label))
    return rows, problems, 0, NAME
