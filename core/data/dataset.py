"""The contents of a data file in any layout: a frozen :class:`Dataset` of :class:`Example` rows."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from sys import intern

from core.errors import UserError
from core.wording import counted, with_label

LABEL_BEFORE, CORRECTED_BY = "label_before", "label_by"
"""Columns of a corrected file (:mod:`core.data.corrected`)."""


class DataError(UserError):
    """The data file cannot be used; the message is one sentence with the problem and the remedy."""


class UnknownLayoutError(DataError):
    """No reader knows the file's layout: the user can pick its columns."""


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled pair, in file order (premise then hypothesis, question then answer), or one document."""

    id: str
    """The row's id in the file, or ``line N`` if it has none."""
    first: str
    second: str
    """Empty for documents, whose whole text is in ``first``."""
    label: str | None
    """The label normalised for comparison (:func:`core.data.labels.key`); None if the row has no gold label."""
    group: str | None = None
    """The question of a candidate answer; None outside ranking sets."""
    title: str = ""
    """A document's title if the file has a field for it; ``first`` begins with it."""
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The file's other columns, or other keys of a JSON row, as text by name; empty if columns have no names."""
    label_text: str = ""
    """The label as written in the file, even one that does not count as gold, such as ``-``; empty if there is none."""

    @property
    def shown_label(self) -> str:
        """The gold label for display, as written in the file; empty if there is none."""
        return "" if self.label is None else self.label_text or self.label

    def relabelled(self, names: Mapping[str, str]) -> Example:
        """A copy with its label renamed if ``names`` has it."""
        name = names.get(self.label or "")
        return self if name is None else replace(self, label=name, label_text=name)


def other_columns(row: Iterable[tuple[str, object]], taken: Collection[str]) -> dict[str, str]:
    """The value of :attr:`Example.columns` for a row: all names and values except those ``taken`` by other fields.

    Values other than strings are written as JSON, null as an empty text. Names and short values, which repeat across
    rows, are interned.
    """
    return {intern(name): _as_text(value) for name, value in row if name not in taken}


def _as_text(value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return intern(text) if len(text) < 20 else text


@dataclass(frozen=True)
class SourceFile:
    """The bytes of a data file, compressed with zstd, to write it again with other labels."""

    name: str
    sha256: str
    """Checksum of the data set that was read from it."""
    packed: bytes = field(repr=False)
    size: int
    columns: Mapping[str, object] | None
    """The columns that the user picked, as fields of :class:`core.data.picked.Picked`."""
    rows: tuple[int, ...] | None = None
    """Indices of the data set's rows in the file; None if it has all."""


@dataclass(frozen=True)
class Problem:
    """A row that cannot be used."""

    line: int
    """Line number of the row's first line, from 1."""
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


@dataclass(frozen=True)
class Dataset:
    """All usable rows of a file, and what was left out."""

    name: str
    layout: str
    """Name of the recognised layout, such as ``SNLI jsonl``."""
    rows: tuple[Example, ...]
    problems: tuple[Problem, ...] = ()
    """Broken rows by line."""
    dropped: int = 0
    """Number of rows left out for lack of a gold label (``-`` in SNLI: the annotators did not agree)."""
    sha256: str = field(default="", repr=False)
    """Checksum of the file, to detect whether a resumed run still reads the same data."""
    task: str = field(default="", compare=False)
    """The task of this layout, named as on cards; empty if unknown."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Remarks on how the file was read, such as its encoding."""
    text_names: tuple[str, ...] = field(default=(), compare=False)
    """The file's own names of the texts; empty if it has none."""
    source: SourceFile | None = field(default=None, compare=False, repr=False)
    """The file itself, if it is kept."""

    @property
    def ranking(self) -> bool:
        """True when rows are candidate answers grouped by question, scored by MAP and MRR."""
        return bool(self.rows) and self.rows[0].group is not None

    @property
    def single(self) -> bool:
        """True when rows are single texts, not pairs."""
        return bool(self.rows) and all(row.second == "" for row in self.rows)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur, sorted."""
        return tuple(sorted({row.label for row in self.rows if row.label is not None}))

    def relabelled(self, names: Mapping[str, str]) -> Dataset:
        """A copy with labels renamed by ``names``; other labels stay."""
        return replace(self, rows=tuple(row.relabelled(names) for row in self.rows))

    def summary(self) -> str:
        """One line: the number of rows, how many have a label, and the first broken rows."""
        gold = sum(row.label is not None for row in self.rows)
        rows, broken = len(self.rows) + self.dropped, len(self.problems)
        return summary(self.name, self.layout, gold, rows, self.problems, broken, self.notes)


def summary(
    name: str,
    layout: str,
    gold: int,
    rows: int,
    problems: Sequence[Problem],
    broken: int,
    notes: Sequence[str] = (),
) -> str:
    """The line for :meth:`Dataset.summary`: ``rows``, of which ``gold`` have a label; ``problems`` lists some of the
    ``broken`` rows."""
    text = f"{name}: {counted(rows, 'row')} ({layout})"
    if gold < rows:
        text += f", {with_label(gold, rows)}"
    if broken:
        some = "; ".join(str(problem) for problem in problems[:3])
        more = f"; and {broken - 3:,} more" if broken > 3 else ""
        text += f", {counted(broken, 'broken row')} left out ({some}{more})"
    return "; ".join([text, *notes])
