"""The parts that readers of data files share: a reader is a module of this package that recognises its layouts and
makes a row of each record.

@recogniser
def recognise(head: list[Line]) -> RowReader | None: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from core.data.dataset import Example, Problem
from core.data.lines import Line

Records = Iterable[tuple[int, Any]]
"""Records (a line, the cells of a row, a JSON object) with the number of their first line."""


@dataclass(frozen=True)
class RowReader:
    """How one file is read."""

    layout: str
    row: Callable[[int, Any], Example]
    """The row of a record by its line. Raises ValueError with the reason for a broken record."""
    records: Callable[[Iterable[Line], list[Problem]], Records] = lambda lines, problems: lines
    """The records of the lines; a line without one is added to the problems."""
    finished: Callable[[list[Example]], list[Example | None]] | None = None
    """Completes a block of rows that depend on each other; a row that cannot be used becomes None."""
    unfinished: str = ""
    """Why such a row cannot be used."""
    task: str = ""
    """The task of files of this layout, as cards name tasks; empty where the layout does not say."""
    no_label: str = ""
    """Why no row has a label; empty where rows have one."""


Recogniser = Callable[[list[Line]], RowReader | None]
"""Takes a file's first lines and returns its reader; None for another layout."""

_RECOGNISERS: list[Recogniser] = []


def recogniser(recognise: Recogniser) -> Recogniser:
    """Decorator: register a reader. Files are tried in the order of registration."""
    _RECOGNISERS.append(recognise)
    return recognise


def reader_of(head: list[Line]) -> RowReader | None:
    """The reader of a file with these first lines."""
    readers = (recognise(head) for recognise in _RECOGNISERS)
    return next((reader for reader in readers if reader is not None), None)
