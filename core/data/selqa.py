"""The SelQA answer sentence selection layout: question, sentence, 0 or 1; tabs, no header, no quoting."""

from __future__ import annotations

from core.data.dataset import Example, Parsed, Problem
from core.data.delimited import binary_pairs
from core.data.lines import Line

NAME = "SelQA TSV"


def recognises(head: list[Line]) -> bool:
    """True when one of the first lines has three cells of which the last is 0 or 1."""
    return any(text.count("\t") == 2 and text.split("\t")[2].strip() in ("0", "1") for _, text in head)


def read(lines: list[Line], labelled: bool) -> Parsed:
    """All rows; the layout has no mark for a missing label, so none is dropped."""
    problems: list[Problem] = []
    rows = [
        Example(f"line {number}", cells[0], cells[1], cells[2].strip(), cells[0])
        for number, cells in binary_pairs(lines, 3, 0, 2, "sentence", problems)
    ]
    return rows, problems, 0, NAME
