"""Tags and notes on rows: who gave which, and every change with its author and time, to be undone.

All writes go one way: a change says what was there before and what is there after, and is written in the transaction
that makes it so. Undoing one is a change of its own, refused where somebody has changed the same thing since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, count

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from core.desk import changes, schema
from core.desk.changes import NAME_REMOVED, NO, YES, Subject
from core.desk.database import reading, writing
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


@dataclass(slots=True)
class RowState:
    """All that people said of a row."""

    tags: dict[str, set[str]] = field(default_factory=dict)
    """Who gave each tag."""
    looked: set[str] = field(default_factory=set)
    """Who tagged it, wrote a note on it, or looked at it and gave no tag."""
    notes: dict[str, str] = field(default_factory=dict)
    """By annotator."""
    settled: dict[str, bool] = field(default_factory=dict)
    """By tag: whether it is given."""

    def tags_of(self, annotator: str) -> set[str]:
        """The tags that one annotator gave."""
        return {tag for tag, annotators in self.tags.items() if annotator in annotators}

    def tags_that_hold(self) -> set[str]:
        """By what was settled, else by what anybody gave."""
        return {tag for tag in (*self.tags, *self.settled) if self.settled.get(tag, True)}


@dataclass(frozen=True)
class FileState:
    """All that people said of a file's rows."""

    rows: Mapping[str, RowState] = field(default_factory=dict)
    """By key; :meth:`row` has the others, too."""
    reported: tuple[str, ...] = ()
    """Rows that the report shows, those chosen first at the front."""

    def row(self, key: str) -> RowState:
        """What was said of a row, perhaps nothing."""
        return self.rows.get(key) or RowState()


class Annotations:
    """What is written in a database (:func:`core.desk.database.open_database`). All methods raise DeskError where the
    database cannot be reached or a change is refused."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # What is there.

    def version(self) -> int:
        """Another number after every change."""
        with reading(self._engine) as connection:
            return int(connection.scalar(sa.select(sa.func.max(schema.change.c.id))) or 0)

    def taxonomy(self) -> list[Tag]:
        """The tags that can be given, oldest first."""
        with reading(self._engine) as connection:
            tags = connection.execute(sa.select(schema.tag).order_by(schema.tag.c.id)).all()
            merged: dict[int, list[str]] = defaultdict(list)
            for number, (into, _) in sorted(changes.reads_as(connection).items()):
                merged[into] += [tag.name for tag in tags if tag.id == number != into]
        return [Tag(tag.id, tag.name, tuple(merged[tag.id])) for tag in tags if tag.merged_into is None]

    def annotators(self) -> list[str]:
        """Names of all who wrote anything and were not removed."""
        own = schema.annotator.c
        with reading(self._engine) as connection:
            return list(connection.scalars(sa.select(own.name).where(~own.removed).order_by(own.name)))

    def state(self, file: str) -> FileState:
        """All that people said of the rows of the file with this checksum."""
        with reading(self._engine) as connection:
            names = {known.id: known.name for known in connection.execute(sa.select(schema.annotator))}
            read_as = changes.reads_as(connection)
            rows: dict[str, RowState] = defaultdict(RowState)
            for subject, value in changes.values_of_rows(connection, file).items():
                if subject.what == "reported":
                    continue
                row = rows[subject.row or ""]
                tag = "" if subject.tag is None else read_as[subject.tag][1]
                if subject.what == "settled":
                    row.settled[tag] = value == YES
                    continue
                annotator = names[subject.annotator]
                row.looked.add(annotator)
                if subject.what == "tag":
                    row.tags.setdefault(tag, set()).add(annotator)
                elif subject.what == "note":
                    row.notes[annotator] = value
            return FileState(dict(rows), _reported(connection, file))

    def history(self, file: str | None = None, row: str | None = None, limit: int = 200) -> list[Change]:
        """The last changes, newest first: of a row, of a file, or of all. Raises DeskError for a row that cannot be
        written."""
        own, undoing, gone = schema.change.c, schema.change.alias(), schema.change.alias()
        last_name = (
            sa.select(gone.c.before)
            .where(gone.c.tag == own.tag, gone.c.what == "tag added", gone.c.after.is_(None))
            .order_by(gone.c.id.desc())
            .limit(1)
            .scalar_subquery()
        )
        tag, undone = sa.func.coalesce(schema.tag.c.name, last_name), undoing.c.id.is_not(None)
        about = own.what, own.file, own.row, tag, own.before, own.after, own.undoes, undone
        query = (
            sa.select(own.id, own.at, schema.annotator.c.name, *about)
            .select_from(schema.change)
            .join(schema.annotator, schema.annotator.c.id == own.annotator)
            .outerjoin(schema.tag, schema.tag.c.id == own.tag)
            .outerjoin(undoing, undoing.c.undoes == own.id)
            .order_by(own.id.desc())
            .limit(limit)
        )
        if file is not None:
            query = query.where(own.file == file)
        if row is not None:
            changes.check_row(row)
            query = query.where(own.row == row)
        with reading(self._engine) as connection:
            # SQLite forgets that its times are UTC.
            return [
                Change(number, at if at.tzinfo else at.replace(tzinfo=UTC), *rest)
                for number, at, *rest in connection.execute(query)
            ]

    # What is changed.

    def give(self, annotator: str, file: str, row: str, tag: str, given: bool = True) -> None:
        """Give a row a tag, or take it away."""
        with self._writing(annotator) as (connection, by):
            target = changes.tag_number(connection, tag)
            # A mark made with a tag that was merged into this one is taken away with it.
            merged = [number for number, (into, _) in changes.reads_as(connection).items() if into == target]
            for number in [target] if given else merged:
                changes.put(connection, by, Subject("tag", file, row, number, by), YES if given else None)

    def look(self, annotator: str, file: str, row: str, looked: bool = True) -> None:
        """Say that a row was looked at, whether or not it has a tag."""
        with self._writing(annotator) as (connection, by):
            changes.put(connection, by, Subject("looked", file, row, annotator=by), YES if looked else None)

    def note(self, annotator: str, file: str, row: str, text: str) -> None:
        """Write an annotator's note on a row; an empty one takes it away."""
        text = changes.clean(text, schema.LONGEST_NOTE)
        with self._writing(annotator) as (connection, by):
            changes.put(connection, by, Subject("note", file, row, annotator=by), text or None)

    def settle(self, annotator: str, file: str, row: str, tag: str, given: bool | None) -> None:
        """Settle whether a row has a tag; None opens the question again."""
        value = None if given is None else YES if given else NO
        with self._writing(annotator) as (connection, by):
            changes.put(connection, by, Subject("settled", file, row, changes.tag_number(connection, tag)), value)

    def report(self, annotator: str, file: str, row: str, reported: bool = True) -> None:
        """Say that the file's report shows a row, whoever makes it."""
        with self._writing(annotator) as (connection, by):
            changes.put(connection, by, Subject("reported", file, row), YES if reported else None)

    def add_tag(self, annotator: str, name: str) -> None:
        """Extend the taxonomy."""
        with self._writing(annotator) as (connection, by):
            changes.add_tag(connection, by, name)

    def rename_tag(self, annotator: str, name: str, new: str) -> None:
        """Give a tag another name, on all rows at once."""
        with self._writing(annotator) as (connection, by):
            number = changes.tag_number(connection, name)
            changes.put(connection, by, Subject("tag renamed", tag=number), changes.free_name(connection, new, number))

    def merge_tags(self, annotator: str, name: str, into: str) -> None:
        """Let a tag read as another one; what was marked with it stays marked with it, so the merger can be undone."""
        with self._writing(annotator) as (connection, by):
            number, target = changes.tag_number(connection, name), changes.tag_number(connection, into)
            if number == target:
                raise DeskError("a tag cannot be merged into itself: choose two tags")
            changes.put(connection, by, Subject("tag merged", tag=number), str(target))

    def take(self, author: str, file: str, new_tags: Iterable[str], lines: Sequence[Marked]) -> None:
        """Make so what the lines of an imported file say, all of them or none; ``author`` adds those of ``new_tags``
        that are not there yet. Raises DeskError where a line's tag is neither there nor new."""
        with self._writing(author) as (connection, by):
            take(connection, by, file, new_tags, lines)

    def undo(self, annotator: str, change: int) -> None:
        """Put back what was there before a change. Raises DeskError where it was undone already, or what it made is
        not there any more."""
        with self._writing(annotator) as (connection, by):
            old = first = _logged(connection, change)
            if old.what == NAME_REMOVED:
                raise DeskError("a name that was taken out cannot be put back: it is written nowhere")
            if connection.scalar(sa.select(schema.change.c.id).where(schema.change.c.undoes == change)) is not None:
                raise DeskError("this was undone already: to have it back, undo its undoing")
            while first.undoes is not None:
                first = _logged(connection, first.undoes)
            # What an undoing puts back is still the first author's.
            whose = first.annotator if old.what in changes.PERSONAL else None
            subject = Subject(old.what, old.file, old.row, old.tag, whose)
            if changes.value_of(connection, subject) != old.after:
                raise DeskError("somebody has changed this since: undo the later change first")
            changes.put(connection, by, subject, old.before, undoes=change)

    def remove_name(self, name: str, by: str = "") -> None:
        """Take an annotator's name out of everything; what they gave stays, as an unnamed annotator's. ``by``: who does
        it, unless that annotator."""
        own = schema.annotator
        with writing(self._engine) as connection:
            number = connection.scalar(sa.select(own.c.id).where(own.c.name == name, ~own.c.removed))
            if number is None:
                raise DeskError(f"there is no annotator {name!r}: choose one from the list")
            author = changes.annotator_number(connection, by or name)
            taken, plain = set(connection.scalars(sa.select(own.c.name))), f"annotator {number}"
            unnamed = next(new for new in chain([plain], (f"{plain} ({n})" for n in count(2))) if new not in taken)
            connection.execute(sa.update(own).where(own.c.id == number).values(name=unnamed, removed=True))
            changes.log(connection, author, Subject(NAME_REMOVED), None, unnamed)
        if self._engine.dialect.name == "sqlite":
            # The old page lies in the log until it is written back.
            own_connection = self._engine.raw_connection()
            own_connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            own_connection.close()

    @contextmanager
    def _writing(self, annotator: str) -> Iterator[tuple[Connection, int]]:
        """A transaction, with the annotator's number."""
        with writing(self._engine) as connection:
            yield connection, changes.annotator_number(connection, annotator)


def _reported(connection: Connection, file: str) -> tuple[str, ...]:
    own, change = schema.reported.c, schema.change.c
    chosen = (change.file == own.file) & (change.row == own.row) & (change.what == "reported")
    query = sa.select(own.row).join(schema.change, chosen).where(own.file == file)
    return tuple(connection.scalars(query.group_by(own.row).order_by(sa.func.max(change.id))))


def _logged(connection: Connection, number: int) -> sa.Row[tuple[object, ...]]:
    known = connection.execute(sa.select(schema.change).where(schema.change.c.id == number)).one_or_none()
    if known is None:
        raise DeskError("there is no such change: load the page again")
    return known
