"""Wang et al.'s (2017) layout of Quora question pairs: 0 or 1, question, question, id; tabs, no header, no quoting."""

from __future__ import annotations

from core.data.dataset import Example, Parsed, Problem
from core.data.delimited import binary_pairs
from core.data.lines import Line, mostly

NAME = "Quora TSV"


def recognises(head: list[Line]) -> bool:
    """True when most of the first lines have four cells of which the first is 0 or 1."""
    return mostly(head, lambda text: text.count("\t") == 3 and text.split("\t")[0].strip() in ("0", "1"))


def read(lines: list[Line], labelled: bool) -> Parsed:
    """All rows; the layout has no mark for a missing label, so none is dropped."""
    problems: list[Problem] = []
    rows = [
        Example(cells[3].strip() or f"line {number}", cells[1], cells[2], cells[0].strip())
        for number, cells in binary_pairs(lines, 4, 1, 0, "question", problems)
    ]
    return rows, problems, 0, NAME
