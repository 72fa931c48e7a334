"""What a data file becomes: a frozen :class:`Dataset` of :class:`Example` rows, whatever its layout was."""

from __future__ import annotations

from dataclasses import dataclass, field


class DataError(ValueError):
    """A data file that cannot be used: one sentence that says what is wrong and what to do."""


@dataclass(frozen=True)
class Example:
    """One labelled pair, in the order of the file: premise then hypothesis, question then answer."""

    id: str
    """The file's own id of the pair, or ``line N`` where it has none."""
    first: str
    second: str
    label: str | None
    """Lower-case class name, or None where the file gives none (only when labels were not asked for)."""
    group: str | None = None
    """The question that a candidate answer belongs to; None outside ranking sets."""


@dataclass(frozen=True)
class Problem:
    """A row that could not be used."""

    line: int
    """Number of the row's first line in the file, from 1."""
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


@dataclass(frozen=True)
class Dataset:
    """All usable rows of a file, and what was left out."""

    name: str
    layout: str
    """Name of the layout that was recognised, such as ``SNLI jsonl``."""
    rows: tuple[Example, ...]
    problems: tuple[Problem, ...] = ()
    """Broken rows, by line."""
    dropped: int = 0
    """Rows without a gold label (``-`` in SNLI: the annotators did not agree)."""
    sha256: str = field(default="", repr=False)
    """Checksum of the file's bytes: says whether a resumed run still reads the same data."""

    @property
    def ranking(self) -> bool:
        """True when rows are candidate answers grouped by question, scored by MAP and MRR."""
        return bool(self.rows) and self.rows[0].group is not None

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes that occur, sorted."""
        return tuple(sorted({row.label for row in self.rows if row.label is not None}))

    def summary(self) -> str:
        """One line: rows kept, rows dropped, the first broken rows by line."""
        text = f"{self.name}: {len(self.rows):,} rows ({self.layout})"
        if self.dropped:
            text += f", {self.dropped:,} without a gold label dropped"
        if self.problems:
            some = "; ".join(str(problem) for problem in self.problems[:3])
            more = f"; and {len(self.problems) - 3:,} more" if len(self.problems) > 3 else ""
            text += f", {len(self.problems):,} broken rows left out ({some}{more})"
        return text
