"""The layout of Zhang et al. (2015) for DBpedia, AG's news and Yelp: ``class,title,text`` or ``class,text``, no header.

Comma-separated and quoted; the class is a number and stays one (its name is in the set's own classes.txt).
"""

from __future__ import annotations

import re

from core.data.dataset import Example, Problem
from core.data.delimited import MAX_DOCUMENT_LINES, Form
from core.data.labels import key
from core.data.lines import Line, says_something
from core.data.reader import LOOK, RowReader, layouts

NAME = "class CSV"

_FORM = Form(",")
_CLASS = re.compile(r"[0-9]{1,3}")


@layouts(NAME, clue=LOOK)
def recognise(head: list[Line]) -> RowReader | None:
    """Most of the first records are a class number and one or two texts."""
    width = _width(head)
    if not width:
        return None
    return RowReader(NAME, _row, lambda lines, problems: _FORM.records(lines, width, problems, MAX_DOCUMENT_LINES))


def _width(head: list[Line]) -> int:
    """Number of columns, 0 when the layout is another one."""
    for width in (3, 2):
        broken: list[Problem] = []
        rows = [cells for _, cells in _FORM.records(head, width, broken, MAX_DOCUMENT_LINES)]
        fitting = sum(bool(_CLASS.fullmatch(cells[0].strip())) and any(map(str.isalpha, cells[-1])) for cells in rows)
        if 2 * fitting > len(rows) + len(broken):
            return width
    return 0


def _row(number: int, cells: list[str]) -> Example:
    label, text = cells[0].strip(), _unescaped(cells[-1])
    if not _CLASS.fullmatch(label):
        raise ValueError(f"class {label[:40]!r} is not a number of at most three digits")
    if not says_something(text):
        raise ValueError("the text is empty")
    title = _unescaped(cells[1]) if len(cells) == 3 else ""
    return Example.document(f"line {number}", text, key(label), title, label_text=label)


def _unescaped(text: str) -> str:
    r"""The text with its line ends, written ``\n`` in these files, and without the ``\`` before quotes of Yelp's."""
    return re.sub(r'\\"+', '"', text.replace(r"\n", "\n"))
