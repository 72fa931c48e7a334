"""Tags and notes on rows: who gave which, and every change with its author and time, to be undone.

All writes go one way: a change says what was there before and what is there after, and is written in the transaction
that makes it so. Undoing one is a change of its own, refused where somebody has changed the same thing since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, count
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from core.desk import schema
from core.desk.changes import (
    NAME_REMOVED,
    NO,
    YES,
    Subject,
    add_tag,
    annotator_number,
    check_row,
    clean,
    free_name,
    log,
    put,
    put_in_place,
    reads_as,
    tag_number,
    value_of,
)
from core.desk.database import as_desk_errors, reading, writing
from core.desk.importing import Marked, take
from core.errors import DeskError


@dataclass(frozen=True)
class Tag:
    """A tag that can be given. ``merged``: names of those merged into it, which read as it."""

    id: int
    name: str
    merged: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """One change: ``what`` (looked, tag, note, settled, reported, tag added, tag renamed, tag merged, name removed), of
    which row and tag, and what was there ``before`` and ``after`` it (None: nothing)."""

    id: int
    at: datetime
    annotator: str
    what: str
    file: str | None
    row: str | None
    tag: str | None
    before: str | None
    after: str | None
    undoes: int | None
    undone: bool


@dataclass(frozen=True)
class FileState:
    """All that people said of a file's rows, by the rows' keys."""

    marks: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """Rows by tag, then by annotator."""
    looked: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Rows by annotator: those that they tagged, wrote a note on, or looked at and gave no tag."""
    notes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By row, then by annotator."""
    settled: Mapping[tuple[str, str], bool] = field(default_factory=dict)
    """By row and tag: whether it is given."""
    reported: tuple[str, ...] = ()
    """Rows that the report shows, those chosen first at the front."""

    def tags_of(self, row: str) -> dict[str, tuple[str, ...]]:
        """The row's tags with the annotators who gave them."""
        by_tag = {tag: tuple(sorted(a for a, rows in own.items() if row in rows)) for tag, own in self.marks.items()}
        return {tag: annotators for tag, annotators in by_tag.items() if annotators}

    def tags(self) -> dict[str, set[str]]:
        """Tags of each row that holds: what was settled, else what anybody gave."""
        out: dict[str, set[str]] = {}
        for tag, own in self.marks.items():
            for rows in own.values():
                for row in rows:
                    if self.settled.get((row, tag), True):
                        out.setdefault(row, set()).add(tag)
        for (row, tag), given in self.settled.items():
            if given:
                out.setdefault(row, set()).add(tag)
        return out


class Annotations:
    """What is written in a database (:func:`core.desk.database.open_database`). All methods raise DeskError where the
    database cannot be reached or a change is refused."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # What is there.

    def version(self) -> int:
        """Another number after every change."""
        with self._reading() as connection:
            return int(connection.scalar(sa.select(sa.func.max(schema.change.c.id))) or 0)

    def taxonomy(self) -> list[Tag]:
        """The tags that can be given, oldest first."""
        with self._reading() as connection:
            return _taxonomy(connection)

    def annotators(self) -> list[str]:
        """Names of all who wrote anything and were not removed."""
        own = schema.annotator.c
        with self._reading() as connection:
            return list(connection.scalars(sa.select(own.name).where(~own.removed).order_by(own.name)))

    def state(self, file: str) -> FileState:
        """All that people said of the rows of the file with this checksum."""
        with self._reading() as connection:
            names = {known.id: known.name for known in connection.execute(sa.select(schema.annotator))}
            read_as = reads_as(connection)
            marks: dict[str, dict[str, set[str]]] = {}
            looked: dict[str, set[str]] = {}
            for row, by, tag in _rows(connection, schema.mark, file, "annotator", "tag"):
                marks.setdefault(read_as[tag][1], {}).setdefault(names[by], set()).add(row)
                looked.setdefault(names[by], set()).add(row)
            for row, by in _rows(connection, schema.look, file, "annotator"):
                looked.setdefault(names[by], set()).add(row)
            notes: dict[str, dict[str, str]] = {}
            for row, by, text in _rows(connection, schema.note, file, "annotator", "text"):
                notes.setdefault(row, {})[names[by]] = text
                looked.setdefault(names[by], set()).add(row)
            settled = {
                (row, read_as[tag][1]): bool(given)
                for row, tag, given in _rows(connection, schema.settled, file, "tag", "given")
            }
            reported = _reported(connection, file)
        return FileState(
            {tag: {by: frozenset(rows) for by, rows in own.items()} for tag, own in marks.items()},
            {by: frozenset(rows) for by, rows in looked.items()},
            notes,
            settled,
            reported,
        )

    def history(self, file: str | None = None, row: str | None = None, limit: int = 200) -> list[Change]:
        """The last changes, newest first: of a row, of a file, or of all. Raises DeskError for a row that cannot be
        written."""
        own, undoing, gone = schema.change, schema.change.alias(), schema.change.alias()
        last_name = (
            sa.select(gone.c.before)
            .where(gone.c.tag == own.c.tag, gone.c.what == "tag added", gone.c.after.is_(None))
            .order_by(gone.c.id.desc())
            .limit(1)
            .scalar_subquery()
        )
        tag_name = sa.func.coalesce(schema.tag.c.name, last_name).label("tag_name")
        query = (
            sa.select(own, schema.annotator.c.name, tag_name, undoing.c.id.label("undone"))
            .join(schema.annotator, schema.annotator.c.id == own.c.annotator)
            .outerjoin(schema.tag, schema.tag.c.id == own.c.tag)
            .outerjoin(undoing, undoing.c.undoes == own.c.id)
            .order_by(own.c.id.desc())
            .limit(limit)
        )
        if file is not None:
            query = query.where(own.c.file == file)
        if row is not None:
            check_row(row)
            query = query.where(own.c.row == row)
        with self._reading() as connection:
            return [_change(known) for known in connection.execute(query).mappings()]

    # What is changed.

    def give(self, annotator: str, file: str, row: str, tag: str, given: bool = True) -> None:
        """Give a row a tag, or take it away."""
        with self._writing() as connection:
            target = tag_number(connection, tag)
            # A mark made with a tag that was merged into this one is taken away with it.
            for number in [target, *(n for n, (into, _) in reads_as(connection).items() if into == target)]:
                if not given or number == target:
                    put(connection, annotator, Subject("tag", file, row, number), YES if given else None)

    def look(self, annotator: str, file: str, row: str, looked: bool = True) -> None:
        """Say that a row was looked at, whether or not it has a tag."""
        with self._writing() as connection:
            put(connection, annotator, Subject("looked", file, row), YES if looked else None)

    def note(self, annotator: str, file: str, row: str, text: str) -> None:
        """Write an annotator's note on a row; an empty one takes it away."""
        text = clean(text, schema.LONGEST_NOTE)
        with self._writing() as connection:
            put(connection, annotator, Subject("note", file, row), text or None)

    def settle(self, annotator: str, file: str, row: str, tag: str, given: bool | None) -> None:
        """Settle whether a row has a tag; None opens the question again."""
        value = None if given is None else YES if given else NO
        with self._writing() as connection:
            put(connection, annotator, Subject("settled", file, row, tag_number(connection, tag)), value)

    def report(self, annotator: str, file: str, row: str, reported: bool = True) -> None:
        """Say that the file's report shows a row, whoever makes it."""
        with self._writing() as connection:
            put(connection, annotator, Subject("reported", file, row), YES if reported else None)

    def add_tag(self, annotator: str, name: str) -> None:
        """Extend the taxonomy."""
        with self._writing() as connection:
            add_tag(connection, annotator_number(connection, annotator), name)

    def rename_tag(self, annotator: str, name: str, new: str) -> None:
        """Give a tag another name, on all rows at once."""
        with self._writing() as connection:
            number = tag_number(connection, name)
            new = free_name(connection, new, number)
            put(connection, annotator, Subject("tag renamed", tag=number), new)

    def merge_tags(self, annotator: str, name: str, into: str) -> None:
        """Let a tag read as another one; what was marked with it stays marked with it, so the merger can be undone."""
        with self._writing() as connection:
            number, target = tag_number(connection, name), tag_number(connection, into)
            if number == target:
                raise DeskError("a tag cannot be merged into itself: choose two tags")
            put(connection, annotator, Subject("tag merged", tag=number), str(target))

    def take(self, author: str, file: str, new_tags: Iterable[str], lines: Sequence[Marked]) -> None:
        """Make so what the lines of an imported file say, all of them or none; ``author`` adds the new tags."""
        with self._writing() as connection:
            take(connection, author, file, new_tags, lines)

    def undo(self, annotator: str, change: int) -> None:
        """Put back what was there before a change. Raises DeskError where it was undone already, or what it made is
        not there any more."""
        with self._writing() as connection:
            by = annotator_number(connection, annotator)
            old = first = _logged(connection, change)
            if old.what == NAME_REMOVED:
                raise DeskError("a name that was taken out cannot be put back: it is written nowhere")
            if connection.scalar(sa.select(schema.change.c.id).where(schema.change.c.undoes == change)) is not None:
                raise DeskError("this was undone already: to have it back, undo its undoing")
            while first.undoes is not None:
                first = _logged(connection, first.undoes)
            # What an undoing puts back is still the first author's.
            whose, subject = first.annotator, Subject(old.what, old.file, old.row, old.tag)
            if value_of(connection, whose, subject) != old.after:
                raise DeskError("somebody has changed this since: undo the later change first")
            put_in_place(connection, whose, subject, old.before)
            log(connection, by, subject, old.after, old.before, undoes=change)

    def remove_name(self, name: str, by: str = "") -> None:
        """Take an annotator's name out of everything; what they gave stays, as an unnamed annotator's. ``by``: who does
        it, unless that annotator."""
        own = schema.annotator
        with self._writing() as connection:
            number = connection.scalar(sa.select(own.c.id).where(own.c.name == name, ~own.c.removed))
            if number is None:
                raise DeskError(f"there is no annotator {name!r}: choose one from the list")
            unnamed = _unnamed(connection, number)
            author = annotator_number(connection, by) if by else number
            connection.execute(sa.update(own).where(own.c.id == number).values(name=unnamed, removed=True))
            log(connection, author, Subject(NAME_REMOVED), None, unnamed)
        if self._engine.dialect.name == "sqlite":
            # The old page lies in the log until it is written back.
            own_connection = self._engine.raw_connection()
            own_connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            own_connection.close()

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with as_desk_errors(), reading(self._engine) as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with as_desk_errors(), writing(self._engine) as connection:
            yield connection


def _rows(connection: Connection, table: sa.Table, file: str, *names: str) -> Sequence[Any]:
    columns = [table.c["row"], *(table.c[name] for name in names)]
    return connection.execute(sa.select(*columns).where(table.c.file == file).order_by(*columns)).all()


def _reported(connection: Connection, file: str) -> tuple[str, ...]:
    own, change = schema.reported.c, schema.change.c
    chosen = (change.file == own.file) & (change.row == own.row) & (change.what == "reported")
    query = sa.select(own.row).join(schema.change, chosen).where(own.file == file)
    return tuple(connection.scalars(query.group_by(own.row).order_by(sa.func.max(change.id))))


def _logged(connection: Connection, number: int) -> Any:
    known = connection.execute(sa.select(schema.change).where(schema.change.c.id == number)).one_or_none()
    if known is None:
        raise DeskError("there is no such change: load the page again")
    return known


def _unnamed(connection: Connection, number: int) -> str:
    """What an annotator is called whose name is taken out."""
    names = set(connection.scalars(sa.select(schema.annotator.c.name)))
    plain = f"annotator {number}"
    return next(name for name in chain([plain], (f"{plain} ({n})" for n in count(2))) if name not in names)


def _taxonomy(connection: Connection) -> list[Tag]:
    known = connection.execute(sa.select(schema.tag).order_by(schema.tag.c.id)).mappings().all()
    read_as = reads_as(connection)
    return [
        Tag(
            t["id"],
            t["name"],
            tuple(m["name"] for m in known if m["id"] != t["id"] and read_as[m["id"]][0] == t["id"]),
        )
        for t in known
        if t["merged_into"] is None
    ]


def _change(known: Any) -> Change:
    at: datetime = known["at"]
    return Change(
        known["id"],
        at if at.tzinfo else at.replace(tzinfo=UTC),
        known["name"],
        known["what"],
        known["file"],
        known["row"],
        known["tag_name"],
        known["before"],
        known["after"],
        known["undoes"],
        known["undone"] is not None,
    )
