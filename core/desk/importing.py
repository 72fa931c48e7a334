"""Tags and notes on many rows of a file, all of them or none: what each line says becomes so, and is written down as
changes that can be undone one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from core.desk import schema
from core.desk.changes import (
    TABLES,
    YES,
    Subject,
    add_tag,
    annotator_number,
    check_row,
    entry,
    key_of,
    no_tag,
    reads_as,
)

_Values = dict[tuple[int, Subject], str | None]
"""By annotator and subject."""


@dataclass(frozen=True)
class Marked:
    """What one line of a file of tags says."""

    row: str
    annotator: str
    tags: frozenset[str]
    note: str


def take(connection: Connection, author: str, file: str, new_tags: Iterable[str], lines: Sequence[Marked]) -> None:
    """Make all lines so; ``author`` adds those of ``new_tags`` that are not there yet. Raises DeskError for a tag that
    is neither there nor new."""
    adds = annotator_number(connection, author)
    known = {name.casefold() for name in connection.scalars(sa.select(schema.tag.c.name))}
    for name in new_tags:
        if name.casefold() not in known:
            add_tag(connection, adds, name)
    names = dict.fromkeys(line.annotator for line in lines)
    annotators = {name: annotator_number(connection, name) for name in names}
    before = _of_file(connection, file)
    now, changes = dict(before), []
    for by, subject, value in _wanted(connection, file, before, annotators, lines):
        if now.get((by, subject)) != value:
            changes.append(entry(by, subject, now.get((by, subject)), value))
            now[by, subject] = value
    _write(connection, before, now)
    if changes:
        connection.execute(sa.insert(schema.change), changes)


def _of_file(connection: Connection, file: str) -> _Values:
    """What is there."""
    values: _Values = {}
    for what in ("tag", "looked", "note"):
        table, column = TABLES[what]
        for row in connection.execute(sa.select(table).where(table.c.file == file)).mappings():
            values[row["annotator"], Subject(what, file, row["row"], row.get("tag"))] = row[column] if column else YES
    return values


def _wanted(
    connection: Connection, file: str, before: _Values, annotators: Mapping[str, int], lines: Iterable[Marked]
) -> Iterator[tuple[int, Subject, str | None]]:
    """What the lines say, in their order: whose, of what, and its value."""
    read_as = {number: into for number, (into, _) in reads_as(connection).items()}
    numbers = {
        name.casefold(): read_as[i] for i, name in connection.execute(sa.select(schema.tag.c.id, schema.tag.c.name))
    }
    marked: dict[tuple[int, str | None], list[int]] = defaultdict(list)
    for by, subject in before:
        if subject.tag is not None:
            marked[by, subject.row].append(subject.tag)
    for line in lines:
        check_row(line.row)
        by, tags = annotators[line.annotator], []
        for name in sorted(line.tags):
            if name.casefold() not in numbers:
                raise no_tag(name)
            tags.append(numbers[name.casefold()])
        # A mark made with a tag that was merged into another one counts as that one's.
        own = marked.get((by, line.row), [])
        gone = [(tag, None) for tag in own if read_as[tag] not in tags]
        new = [(tag, YES) for tag in tags if tag not in {read_as[tag] for tag in own}]
        for tag, value in (*gone, *new):
            yield by, Subject("tag", file, line.row, tag), value
        if not tags:
            yield by, Subject("looked", file, line.row), YES
        if line.note:
            yield by, Subject("note", file, line.row), line.note


def _write(connection: Connection, before: _Values, now: _Values) -> None:
    changed = defaultdict(list)
    for (by, subject), value in now.items():
        was = before.get((by, subject))
        if was != value:
            changed[subject.what].append((by, subject, was, value))
    for what, changes in changed.items():
        table, column = TABLES[what]
        gone, new = [], []
        for by, subject, was, value in changes:
            key = key_of(table, by, subject)
            if was is not None:
                gone.append({f"own_{name}": own for name, own in key.items()})
            if value is not None:
                new.append(key | ({column: value} if column else {}))
        if gone:
            own = (known == sa.bindparam(f"own_{known.name}") for known in table.primary_key.columns)
            connection.execute(sa.delete(table).where(*own), gone)
        if new:
            connection.execute(sa.insert(table), new)
