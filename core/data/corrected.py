"""A data file with some of its labels replaced: in the order and format of the file, with its own headers and columns.

    corrected(path, {0: NewLabel("neutral", "Ann")}) -> CorrectedFile

Next to the label stand two columns for the corrected rows: ``label_before`` and ``label_by``.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import itertools
import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from core.data.dataset import CORRECTED_BY, LABEL_BEFORE, DataError, Example, Problem
from core.data.labels import key
from core.data.lines import HEAD, LARGEST, Line, lines_of, objects
from core.data.picked import Picked, reader_by
from core.data.reader import RowReader, reader_of
from core.data.structured import one_row_a_line
from core.data.table import MAX_DOCUMENT_LINES, DataTable
from core.data.workbook import as_text
from core.spreadsheet import neutral
from core.wording import counted

_ADDED = (LABEL_BEFORE, CORRECTED_BY)


class NewLabel(NamedTuple):
    """A row's new label, and who decided on it."""

    label: str
    by: str


@dataclass(frozen=True)
class CorrectedFile:
    """A corrected file: its bytes."""

    content: bytes
    suffix: str
    """The ending of its name: .csv, .tsv, .txt, .jsonl or .xlsx."""
    left_out: int = 0
    """Number of broken rows of the original, which are left out."""


class NotRewritableError(DataError):
    """The file has no named columns, or its rows depend on each other."""


def corrected(
    path: Path, corrections: Mapping[int, NewLabel], columns: Picked | None = None, largest: int = LARGEST
) -> CorrectedFile:
    """The file with these labels, by the index of a row that :func:`core.data.read` reads with ``labelled=False`` and
    the same ``columns``. Compressed files come out plain; Parquet, XML and lists of JSON as JSON lines.

    Raises NotRewritableError for a file that has no columns to add to: :func:`as_table` writes its rows.
    """
    problems: list[Problem] = []
    lines = one_row_a_line(lines_of(path, problems, hashlib.sha256(), largest), problems, path.name)
    head = [*itertools.islice(lines, HEAD)]
    reader = reader_by(columns, head, path.name) if columns else reader_of(head)
    table = reader.table if reader is not None and isinstance(reader.table, DataTable) else None
    if reader is None or reader.finished is not None or not (table.header if table else reader.records is objects):
        raise NotRewritableError(f"{path.name} has no named columns to write its labels into")
    records = _replaced(reader, itertools.chain(head, lines), problems, corrections)
    start = path.open("rb").read(4)
    if table is None:
        text = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for _, record in records)
        return CorrectedFile(text.encode("utf-8", "surrogatepass"), ".jsonl", len(problems))
    if start.startswith(b"PK"):
        return _workbook(path, table, reader.label, head[0][0], records, problems)
    return _table(path, table, records, problems)


def _replaced(
    reader: RowReader, lines: Iterator[Line], problems: list[Problem], corrections: Mapping[int, NewLabel]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The record of each usable row with its new label, and the number of its first line."""
    names: list[str] = []
    for index, (number, record, row) in enumerate(reader.rows(lines, problems)):
        names = names or [*record]
        yield number, _with_label(record, _label_name(reader, names), row, corrections.get(index))


def _label_name(reader: RowReader, names: Sequence[str]) -> str:
    """The column of the label, or the name of a new one."""
    return reader.label or ("label" if "label" not in names else "decided_label")


def _with_label(record: Mapping[str, Any], name: str, row: Example, new: NewLabel | None) -> dict[str, Any]:
    """The record with a new label and, next to it, the previous one and the person who decided; a label of the same
    class keeps its spelling."""
    before = row.label_text
    label = before if new is None or key(new.label) == key(before) else new.label
    told = {LABEL_BEFORE: before, CORRECTED_BY: new.by} if new else dict.fromkeys(_ADDED, "")
    if LABEL_BEFORE in record and new is None:
        told = {}
    out: dict[str, Any] = {}
    for own, value in record.items():
        out[own] = _like(value, label) if own == name and label != before else value
        if own == name:
            out |= {added: told.get(added, "") for added in _ADDED if added not in record}
    if name not in record:
        out = _nested(out, name, label) if "." in name and label != before else out
        out |= {} if "." in name else {name: label}
        out |= {added: told.get(added, "") for added in _ADDED if added not in record}
    return out | told


def _nested(record: dict[str, Any], name: str, label: str) -> dict[str, Any]:
    """The record with the label under a dotted name."""
    outer, _, rest = name.partition(".")
    inner = record.get(outer)
    if not isinstance(inner, dict):
        return record | {name: label}
    return record | {outer: inner | {rest: _like(inner[rest], label)} if rest in inner else _nested(inner, rest, label)}


def _like(before: Any, label: str) -> Any:
    """The label as a value of the same type as the one before."""
    if isinstance(before, int | float):
        try:
            value = json.loads(label)
        except ValueError:
            return label
        return value if isinstance(value, int | float) else label
    return label


def _table(
    path: Path, table: DataTable, records: Iterable[tuple[int, Mapping[str, str]]], problems: list[Problem]
) -> CorrectedFile:
    """The table with the delimiter, line ends and mark of its file."""
    start = path.open("rb").read(1 << 16)
    end, lines = "\r\n" if b"\r\n" in start else "\n", list[str]()
    new = table
    for _, record in records:
        if not lines:
            names = tuple(record)
            titles = dict(zip(table.names, table.titles, strict=False))
            new = replace(table, names=names, titles=tuple(titles.get(name, name) for name in names))
            lines.append(_line(new, new.titles))
        cells = [str(record[name]) for name in names]
        lines.append(_line(new, [*map(neutral, cells)] if table.exported else cells))
    suffix = next((each for each in reversed(path.suffixes) if each.lower() in (".csv", ".tsv", ".txt")), "")
    mark = codecs.BOM_UTF8 if start.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else b""
    content = mark + "".join(f"{line}{end}" for line in lines).encode("utf-8", "surrogatepass")
    return CorrectedFile(content, suffix or (".tsv" if table.delimiter == "\t" else ".csv"), len(problems))


def _line(table: DataTable, cells: Sequence[str]) -> str:
    """A line that the table reads as these cells, quoted only if it has to be."""
    plain = table.delimiter.join(cells)
    simple = '"' not in plain and "\n" not in plain and len(plain.split(table.delimiter)) == len(cells)
    if table.quoted is None or simple:
        return plain
    if not table.quoted:
        found, _ = table._record(deque([(1, plain)]), iter(()), MAX_DOCUMENT_LINES)
        if found == [*cells]:
            return plain
    out = io.StringIO()
    csv.writer(out, delimiter=table.delimiter, lineterminator="").writerow(cells)
    return out.getvalue()


def _workbook(
    path: Path,
    table: DataTable,
    label: str,
    header: int,
    records: Iterable[tuple[int, Mapping[str, str]]],
    problems: list[Problem],
) -> CorrectedFile:
    """The workbook itself with new cells in its first sheet: formats and other sheets stay, and new columns come last,
    so that formulas keep their cells."""
    import openpyxl  # imported here, so that other files need no openpyxl

    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    places = {name: at for at, name in enumerate(table.names, start=1)}
    changed = {*_ADDED, label}
    for number, record in records:
        for name, value in record.items():
            if name not in places:
                places[name] = max(places.values()) + 1
                sheet.cell(header, places[name], name)
            cell = sheet.cell(number, places[name])
            if name in changed or name not in table.names:
                if str(value) == as_text(cell.value):
                    continue
                cell.value = _like(cell.value, value) if value else None
                if isinstance(cell.value, str):
                    cell.data_type = "s"  # a name that begins with = is not a formula
    out = io.BytesIO()
    book.save(out)
    return CorrectedFile(out.getvalue(), ".xlsx", len(problems))


def as_table(rows: Iterable[Example], names: tuple[str, str], corrections: Mapping[int, NewLabel]) -> CorrectedFile:
    """Rows as CSV under usual names, with their other columns: for files that cannot be written again as they are.
    ``names``: the columns of the texts."""
    out, columns = io.StringIO(), list[str]()
    writer = csv.writer(out, lineterminator="\n")
    for index, row in enumerate(rows):
        record: dict[str, Any] = {"id": row.id, names[0]: row.first}
        record |= {names[1]: row.second} if row.second else {}
        record |= {"label": row.label_text} | {name: text for name, text in row.columns.items() if name not in record}
        record = _with_label(record, "label", row, corrections.get(index))
        if not columns:
            columns = [*record]
            writer.writerow(columns)
        writer.writerow([record.get(name, "") for name in columns])
    return CorrectedFile(out.getvalue().encode("utf-8", "surrogatepass"), ".csv")


def notes_on(rows: Sequence[Example], name: str) -> list[str]:
    """A sentence about a file that :func:`corrected` wrote, by its columns; none for other files."""
    own = [row.columns for row in rows if {*_ADDED} <= row.columns.keys()]
    decided = [row for row in rows if row.columns.get(CORRECTED_BY)]
    if not own:
        return []
    changed = sum(key(row.columns[LABEL_BEFORE]) != key(row.label_text) for row in decided)
    before = name.replace("-corrected", "")
    return [f"corrected from {before}: {counted(len(decided), 'label')} decided by people, {changed:,} changed"]
