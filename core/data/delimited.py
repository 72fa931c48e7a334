"""Rows of cells from lines, following RFC 4180: a quoted cell may contain the delimiter, line ends and doubled quotes.

The official tab-separated data sets do not quote: a ``"`` is part of the sentence. So a tab-separated record is treated
as quoted only if nothing else explains its quotes.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.data.dataset import Problem
from core.data.lines import Line

DELIMITERS = "\t,;|"
MAX_QUOTED_LINES = 50
"""A quote still open after this many lines was not meant as one: its first line is reported as broken."""
MAX_DOCUMENT_LINES = 2_000
"""The same limit for cells that hold whole documents."""

# The csv module rejects cells of more than 131,072 characters; the tokeniser reads 200,000.
csv.field_size_limit(2**31 - 1)


def split(text: str, delimiter: str) -> list[str]:
    """The cells of a record by RFC 4180; empty if its quotes are unbalanced."""
    if '"' not in text:
        return text.split(delimiter)
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error:
        return []


def _quotes_every_text(text: str, delimiter: str) -> bool:
    """Whether all cells of a line except numbers and empty ones are quoted, as some programs write them."""
    texts = [cell for cell in text.split(delimiter) if cell and not _is_number(cell)]
    return bool(texts) and all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in texts)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Form:
    """How the cells of a table are delimited."""

    delimiter: str
    quoted: bool | None = True
    """Whether quotes follow RFC 4180: always, only if nothing else explains them (False), or never (None)."""

    @classmethod
    def of(cls, head: Sequence[Line], delimiter: str) -> Form:
        """The form of a file with these first lines."""
        quoting = [_quotes_every_text(text, delimiter) for _, text in head]
        return cls(delimiter, delimiter != "\t" or quoting[0] or 2 * sum(quoting) > len(head))

    def first(self, head: Sequence[Line]) -> tuple[list[str], int]:
        """The cells of the first record, and the number of lines it spans."""
        cells, taken = self._joined(deque(head), iter(()), MAX_QUOTED_LINES) if self.quoted else ([], 1)
        return (cells, taken) if cells else (self.split(head[0][1]), 1)

    def records(
        self, lines: Iterable[Line], width: int, problems: list[Problem], longest: int, least: int | None = None
    ) -> Iterator[tuple[int, list[str]]]:
        """Rows as lists of ``width`` cells, or of at least ``least``; all others are added to ``problems``. Empty cells
        beyond the width are left out.

        A quoted cell may contain line ends, up to ``longest`` lines in all; a stray quote breaks only its own line.
        """
        rest, waiting = iter(lines), deque[Line]()
        while waiting or (waiting := deque(itertools.islice(rest, 1))):
            number, _ = waiting[0]
            cells, taken = self._record(waiting, rest, width, longest)
            if len(cells) == width or (least is not None and len(cells) >= least):
                yield number, cells
            elif cells:
                problems.append(Problem(number, f"{len(cells)} columns instead of {width}"))
            else:
                problems.append(Problem(number, 'a quote (") is opened and never closed'))
            for _ in range(taken):
                waiting.popleft()

    def _record(self, waiting: deque[Line], rest: Iterator[Line], width: int, longest: int) -> tuple[list[str], int]:
        """The cells of the record that begins with the first waiting line, and the number of lines it spans."""
        text = waiting[0][1]
        if self.quoted is None or '"' not in text:
            # In space-separated rows only the first cell is split off: the rest is a sentence.
            return _fitted(text.split(self.delimiter, width - 1 if self.delimiter == " " else -1), width), 1
        if not self.quoted and '""' not in text and text.count('"') % 2 == 0:
            plain = _fitted(text.split(self.delimiter), width)
            if len(plain) == width:
                return plain, 1
        cells, taken = self._joined(waiting, rest, longest)
        cells = _fitted(cells, width)
        if len(cells) == width and (self.quoted or _is_written(cells, waiting, taken, self.delimiter)):
            return cells, taken
        return _fitted(self.split(text), width), 1

    def split(self, text: str) -> list[str]:
        """The cells of a single line; empty if its quotes are unbalanced."""
        return split(text, self.delimiter) if self.quoted else text.split(self.delimiter)

    def _joined(self, waiting: deque[Line], rest: Iterator[Line], longest: int) -> tuple[list[str], int]:
        """The record that begins with the first waiting line, including all lines that its quotes span, and the number
        of these lines; further lines are taken from ``rest`` as needed."""
        taken = 1
        # RFC 4180 doubles a quote inside a quoted cell, so a complete record has an even number of them.
        quotes = waiting[0][1].count('"')
        while quotes % 2 and taken < longest:
            if taken == len(waiting):
                waiting.extend(itertools.islice(rest, 1))
                if taken == len(waiting):
                    break
            quotes += waiting[taken][1].count('"')
            taken += 1
        return split(_text_of(waiting, taken), self.delimiter), taken


def _text_of(waiting: deque[Line], taken: int) -> str:
    """The first ``taken`` lines as one text, including skipped empty lines between them."""
    if taken == 1:
        return waiting[0][1]
    parts, before = [], waiting[0][0]
    for number, text in itertools.islice(waiting, taken):
        parts.append("\n" * (number - before) + text)
        before = number
    return "".join(parts)


def _fitted(cells: list[str], width: int) -> list[str]:
    """The cells without trailing empty ones beyond the width."""
    while len(cells) > width and not cells[-1].strip():
        cells = cells[:-1]
    return cells


def _is_written(cells: list[str], waiting: deque[Line], taken: int, delimiter: str) -> bool:
    """Whether a program that follows RFC 4180 would write these cells as these lines: with quotes around exactly the
    cells that need them."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerow(cells)
    return out.getvalue()[:-2] == _text_of(waiting, taken).rstrip(delimiter)
