"""Wang et al.'s (2017) layout of Quora question pairs: 0 or 1, question, question, id; tabs, no header, no quoting."""

from __future__ import annotations

from trainers.data.lines import Line, mostly, says_something
from trainers.data.records import Example, Found, Problem

NAME = "Quora TSV"


def recognises(head: list[Line]) -> bool:
    """True when most of the first lines have four cells of which the first is 0 or 1."""
    return mostly(head, lambda text: text.count("\t") == 3 and text.split("\t")[0].strip() in ("0", "1"))


def read(lines: list[Line], labelled: bool) -> Found:
    """All rows; the layout has no mark for a missing label, so none is dropped."""
    rows: list[Example] = []
    problems: list[Problem] = []
    for number, text in lines:
        cells = text.split("\t")
        if len(cells) != 4:
            problems.append(Problem(number, f"{len(cells)} columns instead of 4"))
        elif not says_something(cells[1]) or not says_something(cells[2]):
            problems.append(Problem(number, "an empty question"))
        elif cells[0].strip() not in ("0", "1"):
            problems.append(Problem(number, f"label {cells[0].strip()[:40]!r} is neither 0 nor 1"))
        else:
            rows.append(Example(cells[3].strip() or f"line {number}", cells[1], cells[2], cells[0].strip()))
    return rows, problems, 0, NAME
