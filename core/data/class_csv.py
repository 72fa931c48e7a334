"""The layout of Zhang et al. (2015) for DBpedia, AG's news and Yelp: ``class,title,text`` or ``class,text``, no header.

Comma-separated and quoted; the class is a number and stays one (its name is in the set's own classes.txt).
"""

from __future__ import annotations

import re

from core.data.dataset import Example, Parsed, Problem
from core.data.delimited import MAX_DOCUMENT_LINES, records
from core.data.lines import HEAD, Line, says_something

NAME = "class CSV"

_CLASS = re.compile(r"[0-9]{1,3}")


def recognises(head: list[Line]) -> bool:
    """True when most of the first records are a class number and one or two texts."""
    return _width(head) > 0


def _width(head: list[Line]) -> int:
    """Number of columns, 0 when the layout is another one."""
    for width in (3, 2):
        broken: list[Problem] = []
        rows = [cells for _, cells in records(head, ",", width, broken, MAX_DOCUMENT_LINES)]
        fitting = sum(bool(_CLASS.fullmatch(cells[0].strip())) and _has_letter(cells[-1]) for cells in rows)
        if 2 * fitting > len(rows) + len(broken):
            return width
    return 0


def _has_letter(text: str) -> bool:
    return any(c.isalpha() for c in text)


def read(lines: list[Line], labelled: bool) -> Parsed:
    """All rows; the layout has no mark for a missing label, so none is dropped."""
    rows: list[Example] = []
    problems: list[Problem] = []
    for number, cells in records(lines, ",", _width(lines[:HEAD]), problems, MAX_DOCUMENT_LINES):
        label, text = cells[0].strip(), _unescaped(cells[-1])
        if not _CLASS.fullmatch(label):
            problems.append(Problem(number, f"class {label[:40]!r} is not a number of at most three digits"))
        elif not says_something(text):
            problems.append(Problem(number, "the text is empty"))
        else:
            title = _unescaped(cells[1]) if len(cells) == 3 else ""
            rows.append(Example.document(f"line {number}", text, label, title))
    return rows, problems, 0, NAME


def _unescaped(text: str) -> str:
    r"""The text with its line ends, written ``\n`` in these files, and without the ``\`` before quotes of Yelp's."""
    return re.sub(r'\\"+', '"', text.replace(r"\n", "\n"))
