"""SciTail (Khot et al. 2018), ``tsv_format``: premise, hypothesis and label, tab-separated, no header, no quoting."""

from __future__ import annotations

from core.data.dataset import Example, Parsed, Problem
from core.data.lines import Line, mostly, says_something

NAME = "SciTail"
LABELS = {"entails": "entailment", "neutral": "neutral"}


def recognises(head: list[Line]) -> bool:
    """True when most of the first lines are three cells that end in one of the two labels."""
    return mostly(head, lambda text: text.count("\t") == 2 and text.rpartition("\t")[2].strip() in LABELS)


def read(lines: list[Line], labelled: bool) -> Parsed:
    """All rows, "entails" as entailment; the layout has no mark for a missing label, so none is dropped."""
    rows: list[Example] = []
    problems: list[Problem] = []
    for number, text in lines:
        cells = [cell.strip() for cell in text.split("\t")]
        if len(cells) != 3:
            problems.append(Problem(number, f"{len(cells)} columns instead of 3"))
        elif not says_something(cells[0]) or not says_something(cells[1]):
            problems.append(Problem(number, "an empty sentence"))
        elif cells[2] not in LABELS:
            problems.append(Problem(number, f"label {cells[2][:40]!r} is neither entails nor neutral"))
        else:
            rows.append(Example(f"line {number}", cells[0], cells[1], LABELS[cells[2]]))
    return rows, problems, 0, NAME
