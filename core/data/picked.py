"""Tables and JSON lines whose columns a person names: which holds the first text, the second, the label.

    columns_of(path) -> the names to choose from
    read_picked(path, Picked("claim", "evidence", "label")) -> Dataset

For files that no layout of :mod:`core.data` knows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from core.data.dataset import DataError, Dataset, Example, Problem, other_columns
from core.data.delimited import MAX_DOCUMENT_LINES, records, split
from core.data.labels import gold
from core.data.lines import HEAD, LARGEST, Line, objects, read_lines, says_something
from core.data.reader import LeftOut, RowReader
from core.json_types import JsonMapping

NAME = "picked columns"


@dataclass(frozen=True)
class Picked:
    """Names of a file's columns; empty where it has none of the kind. Without ``second`` rows are single texts."""

    first: str
    second: str = ""
    label: str = ""
    id: str = ""
    group: str = ""


def columns_of(path: Path, largest: int = LARGEST) -> list[str]:
    """Names of a table's columns, or of the keys of the first JSON objects. Raises DataError where there are none."""
    lines, _, _ = read_lines(path, largest)
    names = _names(lines)
    if not names:
        raise DataError(f"{path.name} has no named columns; give CSV or TSV with a header, or JSON lines")
    return names


def read_picked(path: Path, picked: Picked, largest: int = LARGEST) -> Dataset:
    """Read the columns that a person named; a list of sentences in a JSON row is read as one text. ``largest``: bytes
    that a packed file may unpack to.

    The checksum is that of the bytes with the names: the same file read otherwise is another data set. Broken rows are
    named in ``problems`` and left out. Raises DataError for a column that is not there or when no row is usable.
    """
    lines, problems, digest = read_lines(path, largest)
    known = _names(lines)
    for name in asdict(picked).values():
        if name and name not in known:
            raise DataError(f"{path.name} has no column {name!r}; it has {', '.join(known[:20])}")
    reader = RowReader(NAME, lambda number, record: _row(number, record, picked), _records)
    left_out = LeftOut(problems)
    rows = tuple(reader.read(lines, False, left_out))
    problems.sort(key=lambda problem: problem.line)
    if not rows:
        why = f" ({problems[0]})" if problems else ""
        raise DataError(f"{path.name} has no usable row{why}; pick other columns or mend the file")
    own = hashlib.sha256(f"{digest} {json.dumps(asdict(picked))}".encode()).hexdigest()
    return Dataset(path.name, NAME, rows, tuple(problems), 0, own)


def _names(lines: Sequence[Line]) -> list[str]:
    if lines and lines[0][1].lstrip().startswith("{"):
        keys = (key for _, record in objects(list(lines[:HEAD]), []) for key in record)
        return list(dict.fromkeys(keys))
    return [name.strip() for name in split(lines[0][1], _delimiter(lines[0][1]))] if lines else []


def _delimiter(head: str) -> str:
    return max("\t,;", key=head.count)


def _records(given: Iterable[Line], problems: list[Problem]) -> Iterator[tuple[int, JsonMapping]]:
    lines = [*given]
    if lines and lines[0][1].lstrip().startswith("{"):
        yield from objects(lines, problems)
        return
    names, delimiter = _names(lines), _delimiter(lines[0][1]) if lines else ","
    for number, cells in records(lines[1:], delimiter, len(names), problems, MAX_DOCUMENT_LINES):
        yield number, dict(zip(names, cells, strict=True))


def _row(number: int, record: JsonMapping, picked: Picked) -> Example:
    first, second, label, key, group = (_text(record.get(name, "")) if name else "" for name in asdict(picked).values())
    for name, text in ((picked.first, first), (picked.second, second)):
        if name and not says_something(text):
            raise ValueError(f"{name} is empty")
    # A list of sentences says how many there were, so it stays with the row.
    lists = {name for name, value in record.items() if isinstance(value, list)}
    others = other_columns(record.items(), {*asdict(picked).values()} - lists)
    where = key or f"line {number}"
    return Example(where, first, second, gold(label), group or None, "", others, label.strip())


def _text(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
