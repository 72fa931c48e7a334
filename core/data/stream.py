"""Iterates over the rows of a data file, or of all files in a folder or matching a pattern, in turn."""

from __future__ import annotations

import glob
import hashlib
import itertools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TypedDict

from core.data.dataset import DataError, Example, Problem, UnknownLayoutError, summary
from core.data.labels import gold
from core.data.lines import HEAD, LARGEST, Line, lines_of
from core.data.picked import Picked, Seen, not_known, reader_by, seen
from core.data.reader import RowReader, reader_of
from core.data.structured import one_row_a_line

SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".json", ".ndjson", ".parquet")
"""Suffixes of the files read in a folder, optionally followed by one of ``PACKED``."""
PACKED = (".gz", ".zst")
MOST_LABELS = 1000
"""Maximum number of distinct labels kept."""
_FURTHER = 5000
"""Lines after the first from which a guess reads some rows."""
TOLD = 1000
"""Maximum number of broken rows reported individually; further ones are counted."""


class _FirstProblems(list[Problem]):
    """The first broken rows and the total number."""

    def __init__(self, most: int | None) -> None:
        super().__init__()
        self.most, self.seen = most, 0

    def append(self, problem: Problem) -> None:
        self.seen += 1
        if self.most is None or len(self) < self.most:
            super().append(problem)


class ReadOptions(TypedDict, total=False):
    """Options for reading files: the ``columns`` to use instead of a recognised layout, whether rows need labels, the
    labels ``named`` by a model or the user (:func:`core.data.labels.names_of`), and the limits of
    :func:`core.data.read`."""

    labelled: bool
    named: Collection[str]
    block: int
    largest: int
    columns: Picked | None


@dataclass
class Stream:
    """Rows from one file, or several with the same layout; iterate over it only once. During iteration, these describe
    what has been read so far: ``layout``, its ``task``, ``rows`` (number yielded), ``gold`` (how many of these have a
    gold label), ``labels`` (the first :data:`MOST_LABELS` found), ``problems`` (the first ``told`` broken rows),
    ``broken`` (their total), ``dropped`` (rows without a gold label), ``notes`` on how files were read, and the
    ``sha256`` of the bytes, in plain text without carriage returns.

    Only rows that depend on each other (FEVER's) are held together. Takes the arguments of :func:`core.data.read`;
    ``most``: maximum number of lines in a file, which are then all read before its first row is yielded. Iterating
    raises DataError as :func:`core.data.read` does.
    """

    path: str | Path
    name: str = ""
    _: KW_ONLY
    labelled: bool = True
    named: Collection[str] = ()
    block: int = 0
    largest: int = LARGEST
    columns: Picked | None = None
    most: int | None = None
    told: int | None = TOLD

    def __post_init__(self) -> None:
        self.name = self.name or Path(self.path).name
        self.layout, self.task, self._no_label = "", "", ""
        self.text_names: tuple[str, ...] = ()
        self.rows, self.gold, self.dropped, self.labels = 0, 0, 0, set[str]()
        self.notes: list[str] = []
        self._problems = _FirstProblems(self.told)
        self._digests: list[str] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(self._problems)

    @property
    def broken(self) -> int:
        return self._problems.seen

    @property
    def sha256(self) -> str:
        return together(self._digests, self.columns)

    def summary(self) -> str:
        """One line: the number of rows, how many have a label, and the first broken rows."""
        rows = self.rows + self.dropped
        return summary(self.name, self.layout, self.gold, rows, self.problems, self.broken, self.notes)

    def __iter__(self) -> Iterator[Example]:
        files = files_of(Path(self.path))
        for file in files:
            for row in self._of_file(file, f" (in {file.name})" if len(files) > 1 else ""):
                self.rows += 1
                self.gold += row.label is not None
                if row.label is not None and len(self.labels) < MOST_LABELS:
                    self.labels.add(row.label)
                yield row
        if not self.rows:
            first = f"; {self._problems[0]}" if self._problems else ""
            why = first or (" because every row lacks a gold label" if self.dropped else "")
            remedy = "fix the file or give another one"
            if self.dropped or self._no_label:
                remedy = "`python -m trainers predict` needs no labels"
            raise DataError(f"{self.name} has no usable row ({self.layout}{why}); {remedy}")

    def _of_file(self, file: Path, where: str) -> Iterator[Example]:
        problems, digest = _FirstProblems(self.told), hashlib.sha256()
        notes: list[str] = []
        lines = lines_of(file, problems, digest, self.largest, self.most, notes)
        lines = one_row_a_line(lines, problems, file.name)
        if self.most is not None:  # rows take more memory than lines: reject too large files first
            lines = iter([*lines])
        head = [*itertools.islice(lines, HEAD)]
        reader = self._reader(file, head, problems)
        try:
            for block in _blocks(itertools.chain(head, lines), self.block):
                yield from self._of_block(reader, block, problems)
        finally:
            for problem in sorted(problems, key=lambda problem: problem.line):
                self._problems.append(Problem(problem.line, f"{problem.what}{where}"))
            self._problems.seen += problems.seen - len(problems)
            self._digests.append(digest.hexdigest())
            self.notes += [f"{note}{where}" for note in notes]

    def _of_block(self, reader: RowReader, lines: Iterable[Line], problems: list[Problem]) -> Iterator[Example]:
        """The rows for these lines, one at a time unless they depend on each other."""
        if self.labelled and reader.no_label:
            problems.extend(Problem(number, reader.no_label) for number, _ in itertools.islice(lines, 1))
            return
        rows = self._numbered(reader, lines, problems)
        if reader.finished is None:
            yield from (row for _, row in rows)
            return
        numbered = [*rows]
        finished = reader.finished([row for _, row in numbered])
        for (number, _), row in zip(numbered, finished, strict=True):
            if row is None:
                problems.append(Problem(number, reader.unfinished))
            else:
                yield row

    def _numbered(
        self, reader: RowReader, lines: Iterable[Line], problems: list[Problem]
    ) -> Iterator[tuple[int, Example]]:
        """Usable rows with the numbers of their first lines. If labels are required, rows without one are counted and
        left out."""
        for number, _, row in reader.rows(lines, problems):
            if row.label is None and row.label_text:
                label = gold(row.label_text, self.named)
                row = row if label is None else replace(row, label=label)
            if self.labelled and row.label is None:
                self.dropped += 1
            else:
                yield number, row

    def _reader(self, file: Path, head: list[Line], problems: list[Problem]) -> RowReader:
        if not head:
            why = f"no row that can be read ({problems[0]}); fix it" if problems else "no text in it"
            raise DataError(f"{file.name} has {why}; check that it was saved or downloaded whole, or give another file")
        reader = reader_by(self.columns, head, file.name) if self.columns else reader_of(head)
        if reader is None:
            raise UnknownLayoutError(not_known(file.name, head))
        if self.block and reader.finished is None:
            raise DataError(f"{file.name} is {reader.layout}, whose rows do not depend on each other: leave block out")
        if self.layout not in ("", reader.layout):
            raise DataError(
                f"{file.name} looks like {reader.layout}, the files before it like {self.layout}: divide them"
            )
        self.layout, self.task, self._no_label = reader.layout, reader.task, reader.no_label
        self.text_names = tuple(name.rpartition(".")[2] for name in reader.texts)
        return reader


def _blocks(lines: Iterator[Line], size: int) -> Iterator[Iterable[Line]]:
    if not size:
        yield lines
        return
    while block := [*itertools.islice(lines, size)]:
        yield block


def files_of(path: Path) -> list[Path]:
    """The file itself, the data files in a folder, or those matching a pattern (``*.jsonl``), sorted by name. Hidden
    files and names beginning with ``_`` are skipped. Raises DataError if nothing is found."""
    if path.is_dir():
        found = [file for file in sorted(path.iterdir()) if file.is_file() and _is_data(file)]
        if not found:
            raise DataError(f"{path} is a folder without data files ({', '.join(SUFFIXES)}); give another one")
        return found
    if not path.exists() and glob.has_magic(str(path)):
        matches = (Path(name) for name in sorted(glob.glob(str(path), recursive=True)))  # noqa: PTH207
        found = [file for file in matches if file.is_file() and not file.name.startswith((".", "_"))]
        if not found:
            raise DataError(f"no file fits {path}; give another pattern, in quotes")
        return found
    return [path]


def _is_data(file: Path) -> bool:
    suffixes = [suffix for suffix in file.suffixes if suffix not in PACKED]
    return bool(suffixes) and suffixes[-1] in SUFFIXES and not file.name.startswith((".", "_"))


def together(digests: list[str], columns: Picked | None = None) -> str:
    """The checksum of several files, computed from theirs (a single file keeps its own); it depends on ``columns``."""
    own = digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    return columns.checksum(own) if columns else own


def seen_in(path: Path, largest: int = LARGEST) -> Seen:
    """The columns found in a file's first lines, and rows from further ones for a guess. Raises DataError as
    :class:`Stream` does."""
    problems: list[Problem] = []
    lines = one_row_a_line(lines_of(path, problems, hashlib.sha256(), largest), problems, path.name)
    head = [*itertools.islice(lines, HEAD)]
    if not head:
        raise DataError(f"{path.name} has no text in it; check that it was saved or downloaded whole")
    known = seen(head, [*itertools.islice(lines, _FURTHER)])
    if not known.names:
        raise DataError(not_known(path.name, head))
    return known


def survey(path: Path, columns: Picked | None = None) -> tuple[str, int] | None:
    """The checksum of the data :class:`Stream` would read, and its approximate number of rows (one per line); None for
    data that can be read only once, such as a pipe. Raises DataError as :class:`Stream` does."""
    files = files_of(path)
    if not all(file.is_file() for file in files):
        return None
    digests = [hashlib.sha256() for _ in files]
    lines = sum(sum(1 for _ in lines_of(file, [], digest)) for file, digest in zip(files, digests, strict=True))
    return together([digest.hexdigest() for digest in digests], columns), lines
