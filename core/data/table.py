"""Tables with one row per record of cells: with a header that matches a layout, or without a header.

Cells follow RFC 4180: a quoted one may contain the delimiter, line ends and doubled quotes. The official tab-separated
data sets do not quote: a ``"`` is part of the sentence. So a tab-separated record is treated as quoted only if nothing
else explains its quotes.
"""

from __future__ import annotations

import csv
import functools
import io
import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.data.dataset import Problem
from core.data.layouts import EXPORTED, HEADERLESS, ColumnLayout, drops_a_text, fitting, plain, reader_of
from core.data.lines import Line
from core.data.reader import RowReader, recogniser
from core.spreadsheet import is_rows_export, original

DELIMITERS = "\t,;|"
MAX_QUOTED_LINES = 50
"""A quote still open after this many lines was not meant as one: its first line is reported as broken."""
MAX_DOCUMENT_LINES = 2_000
"""The same limit for cells that hold whole documents."""
_MOST_VOTES = 4
"""Maximum number of votes beyond the first in a row of GLUE's copy of SNLI."""

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
class DataTable:
    """How a file's lines become named cells."""

    delimiter: str
    quoted: bool | None = True
    """Whether quotes follow RFC 4180: always, only if nothing else explains them (False), or never (None)."""
    names: tuple[str, ...] = ()
    header: int = 0
    """Number of lines in the header; 0 without one."""
    titles: tuple[str, ...] = ()
    """The header's cells, unchanged."""
    least: int | None = None
    """Minimum number of cells if rows vary in length; None: every row has as many as there are names."""
    exported: bool = False
    """Whether it is the Error desk's export, whose cells have apostrophes against formulas."""

    @classmethod
    def of(cls, head: Sequence[Line], delimiter: str, header: bool = True) -> DataTable:
        """The table that begins with these lines; unnamed columns are called by their numbers."""
        quoting = [_quotes_every_text(text, delimiter) for _, text in head]
        table = cls(delimiter, delimiter != "\t" or quoting[0] or 2 * sum(quoting) > len(head))
        cells, taken = table.first(head)
        if not header:
            return replace(table, names=tuple(map(str, range(1, len(cells) + 1))))
        rows = [table.split(text) for _, text in head[taken:]]
        while len(cells) > 1 and not cells[-1].strip() and not any("".join(row[len(cells) - 1 :]) for row in rows):
            cells.pop()
        # R's write.table does not name its column of row numbers.
        if rows and all(len(row) == len(cells) + 1 and row[0].isdecimal() for row in rows):
            cells.insert(0, "")
        exported = is_rows_export(cells)
        shown = map(original, cells) if exported else cells
        names = tuple(_unique(cell.strip() or f"column {place}" for place, cell in enumerate(shown, start=1)))
        return replace(table, names=names, header=taken, titles=tuple(cells), exported=exported)

    def first(self, head: Sequence[Line]) -> tuple[list[str], int]:
        """The cells of the first record, and the number of lines it spans."""
        cells, taken = self._joined(deque(head), iter(()), MAX_QUOTED_LINES) if self.quoted else ([], 1)
        return (cells, taken) if cells else (self.split(head[0][1]), 1)

    def reader(self, layout: ColumnLayout, keys: Mapping[str, str], joined: bool = False) -> RowReader:
        """Reads the rows with a layout's parts in these columns."""
        records = functools.partial(self.records, MAX_QUOTED_LINES if layout.of_pairs else MAX_DOCUMENT_LINES)
        reader = reader_of(layout, keys, records, self.names, joined)
        return replace(reader, layout=EXPORTED if self.exported else reader.layout, table=self)

    def records(
        self, longest: int, lines: Iterable[Line], problems: list[Problem]
    ) -> Iterator[tuple[int, dict[str, str]]]:
        """The cells of each row by name, with its first line's number; rows with too few or too many are added to
        ``problems``. Skips headers repeated where files were concatenated. Cells beyond the names (of rows that vary in
        length) are called by their numbers.

        A quoted cell may contain line ends, up to ``longest`` lines in all; a stray quote breaks only its own line.
        """
        rest, waiting, width = itertools.islice(lines, self.header, None), deque[Line](), len(self.names)
        while waiting or (waiting := deque(itertools.islice(rest, 1))):
            number, _ = waiting[0]
            cells, taken = self._record(waiting, rest, longest)
            if len(cells) == width or (self.least is not None and len(cells) >= self.least):
                if tuple(cells) != self.titles:
                    yield number, self._named([*map(original, cells)] if self.exported else cells)
            elif self._voted and width < len(cells) <= width + _MOST_VOTES:
                # The further votes stand before the gold label.
                votes = {f"label{place}": vote for place, vote in enumerate(cells[width - 1 : -1], start=2)}
                yield number, self._named([*cells[: width - 1], cells[-1]]) | votes
            elif cells:
                problems.append(Problem(number, f"{len(cells)} columns instead of {width}"))
            else:
                problems.append(Problem(number, 'a quote (") is opened and never closed'))
            for _ in range(taken):
                waiting.popleft()

    def _named(self, cells: Sequence[str]) -> dict[str, str]:
        """The cells by name, or by number beyond the names."""
        more = range(len(self.names) + 1, len(cells) + 1)
        return dict(zip([*self.names, *map(str, more)] if more else self.names, cells, strict=False))

    @property
    def _voted(self) -> bool:
        """Whether it is GLUE's copy of SNLI, whose header names one vote where rows have up to five."""
        return [plain(name) for name in self.names[-2:]] == ["label1", "goldlabel"]

    def _record(self, waiting: deque[Line], rest: Iterator[Line], longest: int) -> tuple[list[str], int]:
        """The cells of the record that begins with the first waiting line, and the number of lines it spans."""
        text, width = waiting[0][1], len(self.names)
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


def _unique(names: Iterable[str]) -> list[str]:
    """Makes column names unique: a second ``text`` becomes ``text 2``."""
    out: dict[str, None] = {}
    for name in names:
        spellings = itertools.chain([name], (f"{name} {count}" for count in itertools.count(2)))
        out[next(spelling for spelling in spellings if spelling not in out)] = None
    return [*out]


def guessed(head: Sequence[Line], header: bool = True) -> DataTable:
    """The table with the delimiter that splits most of these lines into as many cells as the first."""
    tables = [DataTable.of(head, delimiter, header) for delimiter in DELIMITERS]

    def even(table: DataTable) -> tuple[int, int]:
        width = len(table.names)
        return sum(len(table.split(text)) == width for _, text in head) * (width > 1), width

    return max(tables, key=even)


@recogniser
def with_header(head: list[Line]) -> RowReader | None:
    """Recognises a first line that is a header matching one of the layouts (a label column may be missing)."""
    for delimiter in DELIMITERS:
        table = DataTable.of(head, delimiter)
        matched = fitting(table.names)
        # A single known name could be a word in a sentence.
        if matched and len(matched[1]) > 1:
            rows = [record for _, record in table.records(MAX_DOCUMENT_LINES, head, [])]
            return None if drops_a_text(*matched, rows) else table.reader(*matched)
        if table.exported:
            return _exported(table)
    return None


def _exported(table: DataTable) -> RowReader | None:
    """Reads an export whose texts have the names of a user's own model: they stand between the id and the label."""
    texts = table.names[1 : table.names.index("gold")]
    if table.names[0] != "id" or len(texts) not in (1, 2):
        return None
    parts = dict(zip(("first", "second"), texts, strict=False))
    return table.reader(ColumnLayout(EXPORTED, (texts,)), {"id": "id", **parts, "label": "gold"})


@recogniser
def without_header(head: list[Line]) -> RowReader | None:
    """Recognises files in which most of the first lines have a layout's cells, with one of its labels in place."""
    for layout in HEADERLESS:
        table = DataTable(layout.delimiter, True if layout.delimiter == "," else None, layout.columns)
        broken: list[Problem] = []
        rows = [record for _, record in table.records(MAX_DOCUMENT_LINES, head[: layout.head], broken)]
        if 2 * sum(map(layout.fits, rows)) > len(rows) + len(broken) and not layout.counts_rows(rows):
            return table.reader(*(fitting(layout.columns, (layout,)) or (layout, {})))
    return None
