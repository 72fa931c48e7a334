"""What a reader of data files is: a module of this package that recognises its layouts and makes a row of each record.

@layouts("My layout", clue=LOOK)
def recognise(head: list[Line]) -> RowReader | None: ...
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from core.data.dataset import Example, Problem
from core.data.labels import key
from core.data.lines import Line

KEYS, HEADER, LOOK = range(3)
"""What a layout is recognised by: keys that it alone has, names of columns, or how most of the first lines look. Those
that ask more of a file are asked before those that ask less."""

Items = Iterable[tuple[int, Any]]
"""Records (a line, the cells of a row, a JSON object) with the number of their first line."""


def _lines(lines: Iterable[Line], problems: list[Problem]) -> Items:
    return lines


@dataclass
class LeftOut:
    """What is left out of a file: broken rows, and how many lack a gold label."""

    problems: list[Problem] = field(default_factory=list)
    dropped: int = 0


@dataclass(frozen=True)
class RowReader:
    """How one file is read."""

    layout: str
    row: Callable[[int, Any], Example]
    """The row of a record by its line. Raises ValueError that says what is wrong with a broken record."""
    items: Callable[[Iterable[Line], list[Problem]], Items] = _lines
    """The records of the lines; what is none is added to the problems."""
    finished: Callable[[list[Example]], list[Example | None]] | None = None
    """What becomes of a block of rows once all of them are known; a row that cannot be used becomes None."""
    unfinished: str = ""
    """Why such a row cannot be used."""
    task: str = ""
    """What files of this layout are for, as cards name tasks; empty where it does not say."""
    no_label: str = ""
    """Why no row has a label; empty where they have."""

    def read(
        self, lines: Iterable[Line], labelled: bool, left_out: LeftOut, mapped: Collection[str] = ()
    ) -> Iterator[Example]:
        """The rows of lines, one by one as far as none depends on others (``finished``); of all others ``left_out`` is
        told. ``labelled``: rows without a gold label are left out; ``mapped``: keys of labels that are gold though they
        look as if they meant none."""
        if labelled and self.no_label:
            for number, _ in itertools.islice(lines, 1):
                left_out.problems.append(Problem(number, self.no_label))
            return
        if self.finished is None:
            yield from (row for _, row in self._rows(lines, labelled, left_out, mapped))
            return
        numbered = [*self._rows(lines, labelled, left_out, mapped)]
        finished = self.finished([row for _, row in numbered])
        for (number, _), row in zip(numbered, finished, strict=True):
            if row is None:
                left_out.problems.append(Problem(number, self.unfinished))
            else:
                yield row

    def _rows(
        self, lines: Iterable[Line], labelled: bool, left_out: LeftOut, mapped: Collection[str]
    ) -> Iterator[tuple[int, Example]]:
        for number, record in self.items(lines, left_out.problems):
            try:
                row = self.row(number, record)
            except ValueError as error:
                left_out.problems.append(Problem(number, str(error)))
                continue
            if row.label is None and row.label_text:
                own = key(row.label_text)
                row = replace(row, label=own) if own in mapped else replace(row, label_text="")
            if labelled and row.label is None:
                left_out.dropped += 1
            else:
                yield number, row


Recogniser = Callable[[list[Line]], RowReader | None]
"""From a file's first lines to what reads it; None for another layout."""

_RECOGNISERS: list[tuple[int, tuple[str, ...], Recogniser]] = []


def layouts(*names: str, clue: int) -> Callable[[Recogniser], Recogniser]:
    """Decorator: make the reader of these layouts known."""

    def add(recognise: Recogniser) -> Recogniser:
        _RECOGNISERS.append((clue, names, recognise))
        return recognise

    return add


def known_layouts() -> tuple[str, ...]:
    """The names of all layouts, in the order in which a file is held against them."""
    return tuple(name for _, names, _ in _in_order() for name in names)


def reader_of(head: list[Line]) -> RowReader | None:
    """What reads a file with these first lines."""
    readers = (recognise(head) for _, _, recognise in _in_order())
    return next((reader for reader in readers if reader is not None), None)


def _in_order() -> Iterator[tuple[int, tuple[str, ...], Recogniser]]:
    return iter(sorted(_RECOGNISERS, key=lambda known: known[0]))
