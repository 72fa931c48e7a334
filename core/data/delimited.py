"""Rows of cells from lines: tab-separated ones read without quoting, all others with it, as RFC 4180 has it."""

from __future__ import annotations

import csv
import itertools
from collections import deque
from collections.abc import Iterable, Iterator

from core.data.dataset import Problem
from core.data.lines import Line

MAX_QUOTED_LINES = 50
"""A quote that is still open after so many lines was never meant to be one: its first line is reported as broken."""
MAX_DOCUMENT_LINES = 2_000
"""The same where a cell holds a whole document."""

# The csv module refuses cells of more than 131,072 characters; the tokeniser reads 200,000.
csv.field_size_limit(2**31 - 1)


def split(text: str, delimiter: str) -> list[str]:
    """The cells of a record, none when its quotes do not close."""
    if delimiter == "\t":
        return text.split("\t")
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error:
        return []


def records(
    lines: Iterable[Line], delimiter: str, width: int, problems: list[Problem], longest: int
) -> Iterator[tuple[int, list[str]]]:
    """Rows as lists of ``width`` cells; all others are added to ``problems``.

    A quoted cell may hold line ends, up to ``longest`` lines in all; a stray quote costs its own line only.
    """
    rest, waiting = iter(lines), deque[Line]()
    while waiting or (waiting := deque(itertools.islice(rest, 1))):
        number, text = waiting[0]
        cells, taken = _joined(waiting, rest, delimiter, longest)
        if len(cells) != width:
            cells, taken = split(text, delimiter), 1
        if len(cells) == width:
            yield number, cells
        elif cells:
            problems.append(Problem(number, f"{len(cells)} columns instead of {width}"))
        else:
            problems.append(Problem(number, 'a quote (") is opened and never closed'))
        for _ in range(taken):
            waiting.popleft()


def _joined(waiting: deque[Line], rest: Iterator[Line], delimiter: str, longest: int) -> tuple[list[str], int]:
    """The record that begins with the first line that waits, with all lines that its quotes span, and how many these
    are; lines are taken from the ``rest`` as they are needed."""
    taken = 1
    # RFC 4180 doubles a quote inside a quoted cell, so a whole record has an even number of them.
    quotes = 0 if delimiter == "\t" else waiting[0][1].count('"')
    while quotes % 2 and taken < longest:
        if taken == len(waiting):
            waiting.extend(itertools.islice(rest, 1))
            if taken == len(waiting):
                break
        quotes += waiting[taken][1].count('"')
        taken += 1
    return split("\n".join(text for _, text in itertools.islice(waiting, taken)), delimiter), taken
