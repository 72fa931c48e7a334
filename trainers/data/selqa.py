"""The SelQA answer sentence selection layout: question, sentence, 0 or 1; tabs, no header, no quoting."""

from __future__ import annotations

from trainers.data.lines import Line, says_something
from trainers.data.records import Example, Found, Problem

NAME = "SelQA TSV"


def recognises(head: list[Line]) -> bool:
    """True when one of the first lines has three cells of which the last is 0 or 1."""
    return any(text.count("\t") == 2 and text.split("\t")[2].strip() in ("0", "1") for _, text in head)


def read(lines: list[Line], labelled: bool) -> Found:
    """All rows; the layout has no mark for a missing label, so none is dropped."""
    rows: list[Example] = []
    problems: list[Problem] = []
    for number, text in lines:
        cells = text.split("\t")
        if len(cells) != 3:
            problems.append(Problem(number, f"{len(cells)} columns instead of 3"))
        elif not says_something(cells[0]) or not says_something(cells[1]):
            problems.append(Problem(number, "an empty sentence"))
        elif cells[2].strip() not in ("0", "1"):
            problems.append(Problem(number, f"label {cells[2].strip()[:40]!r} is neither 0 nor 1"))
        else:
            rows.append(Example(f"line {number}", cells[0], cells[1], cells[2].strip(), cells[0]))
    return rows, problems, 0, NAME
