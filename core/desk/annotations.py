"""Tags and notes on rows: the state that results from the event log, and the annotators' changes to it.

A change is one event (:mod:`core.desk.event_log`), written in an exclusive transaction. Undoing it is rejected if the
same subject has changed since.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, count

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from core.desk import event_log
from core.desk.database import reading, writing
from core.desk.event_log import NO, YES, Event, Subject, Write
from core.desk.schema import LONGEST_NOTE, annotator, check_row, clean, event
from core.desk.taxonomy import Tag, Taxonomy
from core.errors import DeskError

MOST_DEALT = 12
"""Maximum number of people to whom rows are assigned."""
_ROWS = " rows "
"""In the log, stands between the people and the packed rows of a deal of some rows."""


@dataclass(slots=True)
class RowState:
    """The annotations of a row."""

    tags: dict[str, set[str]] = field(default_factory=dict)
    """The annotators who gave each tag."""
    looked: set[str] = field(default_factory=set)
    """Those who tagged it, wrote a note on it, or marked it as done."""
    notes: dict[str, str] = field(default_factory=dict)
    """Notes by annotator."""
    settled: dict[str, bool] = field(default_factory=dict)
    """Whether a disputed tag applies, once settled."""
    done: set[str] = field(default_factory=set)
    """Those who marked it as done: no more tags apply; and the file's first annotator for rows tagged before anyone
    else reviewed one, because until then tagging a row counts as having reviewed it."""

    def add(self, kind: str, annotator: str, value: str, tag: str) -> None:
        """Adds an annotator's mark or note."""
        self.looked.add(annotator)
        if kind == "looked":
            self.done.add(annotator)
        elif kind == "tag":
            self.tags.setdefault(tag, set()).add(annotator)
        elif kind == "note":
            self.notes[annotator] = value

    def of(self, annotator: str) -> RowState:
        """One annotator's share of the row's state."""
        own = {annotator}
        tags = {tag: own.copy() for tag in self.tags_of(annotator)}
        notes = {by: note for by, note in self.notes.items() if by == annotator}
        return RowState(tags, self.looked & own, notes, done=self.done & own)

    def tags_of(self, annotator: str) -> set[str]:
        """The tags given by one annotator."""
        return {tag for tag, annotators in self.tags.items() if annotator in annotators}

    def tags_that_hold(self) -> set[str]:
        """The tags settled as applying, and unsettled tags that anyone gave."""
        return {tag for tag in (*self.tags, *self.settled) if self.settled.get(tag, True)}

    def decisions(self) -> list[str]:
        """The settled tags in words: "other: yes"."""
        return [f"{tag}: {YES if holds else NO}" for tag, holds in self.settled.items()]


@dataclass(frozen=True)
class FileState:
    """The annotations of a file's rows."""

    rows: Mapping[str, RowState] = field(default_factory=dict)
    """By key; :meth:`row` also works for rows without annotations."""
    reported: tuple[str, ...] = ()
    """The rows in the report, in the order in which they were chosen."""
    slices: Mapping[str, str] = field(default_factory=dict)
    """The filters of the saved slices by name, oldest first."""
    reviewed: Mapping[str, int] = field(default_factory=dict)
    """Number of rows each annotator reviewed."""
    blind_as_set: bool | None = None
    """See :meth:`blind`; None until someone sets it."""
    hands: tuple[tuple[str, ...], ...] = ()
    """The groups of annotators to whom rows are assigned in turn; see :meth:`Annotations.deal`."""
    maker: str = ""
    """Who made the file's run and may delete it; see :meth:`Annotations.made`."""
    dealt: str = ""
    """The assigned rows, packed; empty: all."""

    def dealt_rows(self, rows: int) -> np.ndarray:
        """The assigned ones of a file's rows, bool ``[rows]``."""
        if not self.hands or not self.dealt:
            return np.full(rows, bool(self.hands))
        return np.unpackbits(np.frombuffer(zlib.decompress(b64decode(self.dealt)), np.uint8), count=rows).astype(bool)

    def blind(self, annotator: str) -> bool:
        """Whether an annotator ("" for a visitor without a name) sees the others' annotations of a row only after
        marking it as done: the explicit setting, or else whether others have reviewed rows."""
        return bool(self.reviewed.keys() - {annotator}) if self.blind_as_set is None else self.blind_as_set

    def seen_by(self, annotator: str) -> FileState:
        """The annotations that an annotator may see."""
        if not self.blind(annotator):
            return self
        seen = {key: row if annotator in row.done else row.of(annotator) for key, row in self.rows.items()}
        return replace(self, rows={key: row for key, row in seen.items() if row.looked or row.settled})

    @property
    def withheld(self) -> int:
        """How many reviews of rows :meth:`seen_by` has left out."""
        return sum(self.reviewed.values()) - sum(len(row.looked) for row in self.rows.values())

    def row(self, key: str) -> RowState:
        """The state of a row, which may be empty."""
        return self.rows.get(key) or RowState()


class Annotations:
    """Reads and changes the annotations in a database (:func:`core.desk.database.open_database`). All methods raise
    DeskError if the database is unreachable or a change is rejected."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def version(self) -> int:
        """A number that increases with every change."""
        with reading(self._engine) as connection:
            return event_log.version(connection)

    def taxonomy(self) -> list[Tag]:
        """The available tags, oldest first."""
        with reading(self._engine) as connection:
            return Taxonomy(connection).tags()

    def annotators(self) -> list[str]:
        """Names of everyone who made a change, without removed names."""
        with reading(self._engine) as connection:
            query = sa.select(annotator.c.name).where(~annotator.c.removed).order_by(annotator.c.name)
            return list(connection.scalars(query))

    def state(self, file: str) -> FileState:
        """The state of the file with this checksum."""
        rows: dict[str, RowState] = defaultdict(RowState)
        reported, slices, blind, hands, maker = [], {}, None, list[tuple[str, ...]](), ""
        dealt, reviewers = "", set[int]()
        with reading(self._engine) as connection:
            names = {known.id: known.name for known in connection.execute(sa.select(annotator))}
            taxonomy = Taxonomy(connection)
            shown = {tag: taxonomy.names[taxonomy.shown_as(tag)] for tag in taxonomy.names}
            for (kind, _, key, tag, owner), value in event_log.values(connection, file).items():
                if kind == "reported":
                    reported.append(key)
                elif kind == "slice":
                    slices[key] = value
                elif kind == "blind":
                    blind = value == YES
                elif kind == "dealt":
                    numbers, _, dealt = value.partition(_ROWS)
                    *people, each = map(int, numbers.split())
                    hands = list(combinations([names[number] for number in people], each))
                elif kind == "made":
                    maker = names[int(value)]
                elif kind == "settled":
                    rows[key].settled[shown[tag]] = value == YES
                else:
                    rows[key].add(kind, names[owner], value, shown.get(tag, ""))
                    reviewers.add(owner)
                    if blind is None and reviewers == {owner}:  # the first annotator is not asked for "Done"
                        rows[key].done.add(names[owner])
        reviewed = Counter(name for row in rows.values() for name in row.looked)
        return FileState(dict(rows), tuple(reported), slices, reviewed, blind, tuple(hands), maker, dealt)

    def history(self, file: str | None = None, row: str | None = None, limit: int = 200) -> list[Event]:
        """The latest events, newest first: of a row, of a file ("": of the taxonomy), or all. Raises DeskError for a
        row key that cannot be stored."""
        conditions = [] if file is None else [event.c.file == file]
        if row is not None:
            check_row(row)
            conditions += [event.c.row == row, event.c.kind != "slice"]
        with reading(self._engine) as connection:
            return event_log.events(connection, *conditions, limit=limit)

    def give(self, annotator: str, file: str, row: str, tag: str, given: bool = True) -> None:
        """Gives a row a tag, or removes it, even if it was given as a tag that has been merged into this one."""
        with self._writing(annotator) as (connection, by):
            taxonomy = Taxonomy(connection)
            target = taxonomy.number(tag)
            numbers = [target] if given else [n for n in taxonomy.names if taxonomy.shown_as(n) == target]
            value = YES if given else None
            _set(connection, *(Write(by, Subject("tag", file, row, number, by), value) for number in numbers))

    def give_all(self, annotator: str, file: str, rows: Sequence[str], tag: str, given: bool = True) -> None:
        """Gives a tag to several rows, or removes it, atomically."""
        for row in rows:
            check_row(row)
        with self._writing(annotator) as (connection, by):
            number, current = Taxonomy(connection).number(tag), event_log.values(connection, file)
            subjects = [Subject("tag", file, row, number, by) for row in rows]
            event_log.append(connection, [Write(by, one, YES if given else None) for one in subjects], current)

    def look(self, annotator: str, file: str, row: str, looked: bool = True) -> None:
        """Marks a row as done by an annotator: no more tags apply, or none at all."""
        with self._writing(annotator) as (connection, by):
            _set(connection, Write(by, Subject("looked", file, row, owner=by), YES if looked else None))

    def note(self, annotator: str, file: str, row: str, text: str) -> None:
        """Writes an annotator's note on a row; an empty text deletes it."""
        with self._writing(annotator) as (connection, by):
            _set(connection, Write(by, Subject("note", file, row, owner=by), clean(text, LONGEST_NOTE) or None))

    def settle(self, annotator: str, file: str, row: str, tag: str, given: bool | None) -> None:
        """Settles whether a tag applies to a row; None reopens the question."""
        with self._writing(annotator) as (connection, by):
            subject = Subject("settled", file, row, Taxonomy(connection).number(tag))
            _set(connection, Write(by, subject, None if given is None else YES if given else NO))

    def report(self, annotator: str, file: str, row: str, reported: bool = True) -> None:
        """Adds a row to the file's report or removes it, for all annotators."""
        with self._writing(annotator) as (connection, by):
            _set(connection, Write(by, Subject("reported", file, row), YES if reported else None))

    def blind(self, annotator: str, file: str, blind: bool) -> None:
        """Sets whether the annotators of a file are :meth:`FileState.blind`."""
        with self._writing(annotator) as (connection, by):
            _set(connection, Write(by, Subject("blind", file), YES if blind else NO))

    def deal(self, annotator: str, file: str, people: Sequence[str], each: int, rows: np.ndarray | None = None) -> None:
        """Assigns each of a file's ``rows`` (bool ``[N]``, by default all) to ``each`` of these annotators, instead of
        an earlier assignment. A hash of the row's id selects them; all groups of this size get the same number of rows,
        plus or minus one."""
        if not 0 < each <= len(people) <= MOST_DEALT:
            raise DeskError(f"rows are dealt to 1 to {MOST_DEALT} people, each row to as many as there are at most")
        with self._writing(annotator) as (connection, by):
            numbers = [event_log.annotator_number(connection, name) for name in people]
            value = " ".join(map(str, [*numbers, each]))
            if rows is not None and not rows.all():
                value += _ROWS + b64encode(zlib.compress(np.packbits(rows).tobytes())).decode()
            _set(connection, Write(by, Subject("dealt", file), value))

    def made(self, annotator: str, file: str) -> None:
        """Stores who makes the file's run; "" for a visitor without a name, after whom nobody may delete it."""
        with writing(self._engine) as connection:
            by = event_log.annotator_number(connection, annotator) if annotator else None
            _set(connection, Write(by, Subject("made", file), str(by) if by else None))

    def slice_history(self, file: str) -> list[Event]:
        """The latest changes to a file's slices, newest first."""
        with reading(self._engine) as connection:
            return event_log.events(connection, event.c.file == file, event.c.kind == "slice")

    def save_slice(self, annotator: str, file: str, name: str, expression: str) -> None:
        """Saves a filter as a slice of a file, for all annotators; an empty filter deletes the slice."""
        name = clean(name.replace("`", "'"))  # filters write names in backticks
        if not name:
            raise DeskError("a slice needs a name: type one")
        with self._writing(annotator) as (connection, by):
            _set(connection, Write(by, Subject("slice", file, name), expression or None))

    def add_tag(self, annotator: str, name: str) -> None:
        """Adds a tag to the taxonomy."""
        with self._writing(annotator) as (connection, by):
            Taxonomy(connection).add(by, name)

    def define_tag(self, annotator: str, name: str, text: str) -> None:
        """Defines when a tag applies; an empty text deletes the definition."""
        with self._writing(annotator) as (connection, by):
            subject = Subject("tag definition", tag=Taxonomy(connection).number(name))
            _set(connection, Write(by, subject, clean(text, LONGEST_NOTE) or None))

    def rename_tag(self, annotator: str, name: str, new: str) -> None:
        """Renames a tag on all rows at once."""
        with self._writing(annotator) as (connection, by):
            taxonomy = Taxonomy(connection)
            number = taxonomy.number(name)
            _set(connection, Write(by, Subject("tag name", tag=number), taxonomy.free_name(new, number)))

    def merge_tags(self, annotator: str, name: str, into: str) -> None:
        """Displays a tag as another one. Marks keep their original tag, so that merging can be undone."""
        with self._writing(annotator) as (connection, by):
            taxonomy = Taxonomy(connection)
            number, target = taxonomy.number(name), taxonomy.number(into)
            if number == target:
                raise DeskError("a tag cannot be merged into itself: choose two tags")
            _set(connection, Write(by, Subject("tag merged", tag=number), str(target)))

    def undo(self, annotator: str, number: int) -> None:
        """Restores the value before an event. Raises DeskError if the event was already undone, or its subject has
        changed since."""
        with self._writing(annotator) as (connection, by):
            known = event_log.events(connection, event.c.id == number)
            if not known:
                raise DeskError("this change does not exist: reload the page")
            (undone,) = known
            subject = undone.subject
            if subject.kind == "name removed":
                raise DeskError("a removed name cannot be restored: it is not stored anywhere")
            if undone.undone:
                raise DeskError("this was undone already: to have it back, undo its undoing")
            if event_log.values(connection, subject.file, subject.row).get(subject) != undone.value:
                raise DeskError("somebody has changed this since: undo the later change first")
            _set(connection, Write(by, subject, undone.before), undoes=number)

    def remove_name(self, name: str, by: str = "") -> None:
        """Removes an annotator's name everywhere; their annotations stay, as those by an unnamed annotator. ``by``: the
        person who removes it, if not that annotator."""
        own = annotator.c
        with writing(self._engine) as connection:
            number = connection.scalar(sa.select(own.id).where(own.name == name, ~own.removed))
            if number is None:
                raise DeskError(f"{name!r} is not an annotator: choose one from the list")
            author = event_log.annotator_number(connection, by or name)
            taken, plain = set(connection.scalars(sa.select(own.name))), f"annotator {number}"
            unnamed = next(new for new in chain([plain], (f"{plain} ({n})" for n in count(2))) if new not in taken)
            connection.execute(sa.update(annotator).where(own.id == number).values(name=unnamed, removed=True))
            event_log.append(connection, [Write(author, Subject("name removed", owner=number), unnamed)], {})
        if self._engine.dialect.name == "sqlite":
            # The write-ahead log still contains the name's page until it is checkpointed.
            raw = self._engine.raw_connection()
            raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            raw.close()

    @contextmanager
    def _writing(self, annotator: str) -> Iterator[tuple[Connection, int]]:
        """A transaction, and the annotator's number."""
        with writing(self._engine) as connection:
            yield connection, event_log.annotator_number(connection, annotator)


def _set(connection: Connection, *writes: Write, undoes: int | None = None) -> None:
    """Logs these writes, all on one row or one tag. Raises DeskError if the row's key cannot be stored, or the taxonomy
    does not allow it."""
    first = writes[0].subject
    current = event_log.values(connection, first.file, first.row)
    for write in writes:
        if write.subject.tag and current.get(write.subject) != write.value:
            Taxonomy(connection).check(write.subject, write.value)
    event_log.append(connection, writes, current, undoes)
