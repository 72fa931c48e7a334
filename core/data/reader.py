"""Shared by all readers of data files: a reader is a module of this package that recognises its layouts and converts
each record to a row.

@recogniser
def recognise(head: list[Line]) -> RowReader | None: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from core.data.dataset import Example, Problem
from core.data.lines import Line

Split = Callable[[Iterable[Line], list[Problem]], Iterable[tuple[int, Any]]]
"""Splits lines into records (a line, a JSON object, a row's cells by name), each with the number of its first line;
lines without one are added to the problems."""


@dataclass(frozen=True)
class RowReader:
    """How to read one file."""

    layout: str
    row: Callable[[int, Any], Example]
    """Converts a record to a row, given its line number. Raises ValueError with the reason for a broken record."""
    records: Split = lambda lines, problems: lines
    finished: Callable[[list[Example]], list[Example | None]] | None = None
    """Completes a block of rows that depend on each other; unusable rows become None."""
    unfinished: str = ""
    """The reason why such a row is unusable."""
    task: str = ""
    """The task of this layout, named as on cards; empty if the layout does not determine it."""
    no_label: str = ""
    """The reason why no row has a label; empty if rows have one."""
    label: str = ""
    """The column with the label, as a record names it; empty if there is none."""
    texts: tuple[str, ...] = ()
    """The columns with the texts, as a record names them."""
    table: object = None
    """The :class:`core.data.table.DataTable` whose cells the records are; None for other files."""

    def rows(self, lines: Iterable[Line], problems: list[Problem]) -> Iterator[tuple[int, Any, Example]]:
        """Each record with the number of its first line and its row; broken ones are added to the problems."""
        for number, record in self.records(lines, problems):
            try:
                row = self.row(number, record)
            except ValueError as error:
                problems.append(Problem(number, str(error)))
            else:
                yield number, record, row


Recogniser = Callable[[list[Line]], RowReader | None]
"""Takes a file's first lines and returns its reader; None if the layout does not match."""

_RECOGNISERS: list[Recogniser] = []


def recogniser(recognise: Recogniser) -> Recogniser:
    """Decorator: registers a reader. Layouts are tried in the order of registration."""
    _RECOGNISERS.append(recognise)
    return recognise


def reader_of(head: list[Line]) -> RowReader | None:
    """The reader for a file with these first lines."""
    readers = (recognise(head) for recognise in _RECOGNISERS)
    return next((reader for reader in readers if reader is not None), None)
