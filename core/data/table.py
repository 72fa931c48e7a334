"""Tables with one row per line, with a header that matches a layout, or without a header."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.data.dataset import Problem
from core.data.delimited import DELIMITERS, MAX_DOCUMENT_LINES, MAX_QUOTED_LINES, Form
from core.data.layouts import HEADERLESS, ColumnLayout, drops_a_text, fitting, reader_of
from core.data.lines import Line
from core.data.reader import RowReader, recogniser


@dataclass(frozen=True)
class DataTable:
    """How a file's lines become named cells."""

    form: Form
    names: tuple[str, ...]
    header: int = 0
    """Number of lines in the header; 0 without one."""
    titles: tuple[str, ...] = ()
    """The header's cells, unchanged."""
    least: int | None = None
    """Minimum number of cells if rows vary in length; None: every row has as many as there are names."""

    @classmethod
    def of(cls, head: Sequence[Line], delimiter: str, header: bool = True) -> DataTable:
        """The table that begins with these lines; unnamed columns are called by their numbers."""
        form = Form.of(head, delimiter)
        cells, taken = form.first(head)
        if not header:
            return cls(form, tuple(map(str, range(1, len(cells) + 1))))
        rows = [form.split(text) for _, text in head[taken:]]
        while len(cells) > 1 and not cells[-1].strip() and not any("".join(row[len(cells) - 1 :]) for row in rows):
            cells.pop()
        # R's write.table does not name its column of row numbers.
        if rows and all(len(row) == len(cells) + 1 and row[0].isdecimal() for row in rows):
            cells.insert(0, "")
        named = (cell.strip() or f"column {place}" for place, cell in enumerate(cells, start=1))
        return cls(form, tuple(_unique(named)), taken, tuple(cells))

    def records(
        self, longest: int, lines: Iterable[Line], problems: list[Problem]
    ) -> Iterator[tuple[int, dict[str, str]]]:
        """The cells of each row by name, with its first line's number; skips headers repeated where files were
        concatenated. Cells beyond the names are called by their numbers."""
        rest = itertools.islice(lines, self.header, None)
        for number, cells in self.form.records(rest, len(self.names), problems, longest, self.least):
            more = range(len(self.names) + 1, len(cells) + 1)
            if tuple(cells) != self.titles:
                yield number, dict(zip([*self.names, *map(str, more)] if more else self.names, cells, strict=False))

    def reader(self, layout: ColumnLayout, places: Mapping[str, int], joined: bool = False) -> RowReader:
        """Reads the rows with a layout's parts in the columns at these ``places``."""
        records = functools.partial(self.records, MAX_QUOTED_LINES if layout.of_pairs else MAX_DOCUMENT_LINES)
        return reader_of(layout, {part: self.names[at] for part, at in places.items()}, records, self.names, joined)


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
        return sum(len(table.form.split(text)) == width for _, text in head) * (width > 1), width

    return max(tables, key=even)


@recogniser
def with_header(head: list[Line]) -> RowReader | None:
    """Recognises a first line that is a header matching one of the layouts (a label column may be missing)."""
    for delimiter in DELIMITERS:
        table = DataTable.of(head, delimiter)
        matched = fitting(table.names)
        # A single known name could be a word in a sentence.
        if matched and len(matched[1]) > 1:
            layout, places = matched
            keys = {part: table.names[at] for part, at in places.items()}
            rows = [record for _, record in table.records(MAX_DOCUMENT_LINES, head, [])]
            return None if drops_a_text(layout, keys, rows) else table.reader(layout, places)
    return None


@recogniser
def without_header(head: list[Line]) -> RowReader | None:
    """Recognises files in which most of the first lines have a layout's cells, with one of its labels in place."""
    for layout in HEADERLESS:
        table = DataTable(Form(layout.delimiter, True if layout.delimiter == "," else None), layout.columns)
        broken: list[Problem] = []
        rows = [record for _, record in table.records(MAX_DOCUMENT_LINES, head[: layout.head], broken)]
        if 2 * sum(map(layout.fits, rows)) > len(rows) + len(broken):
            return table.reader(layout, layout.places(layout.columns) or {})
    return None
