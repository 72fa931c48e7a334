"""Tags and notes on rows: the state that results from the event log, and the annotators' changes to it.

A change is one event (:mod:`core.desk.event_log`), written in an exclusive transaction. Undoing it is rejected if the
same subject has changed since.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain, combinations, count

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Engine

from core.desk import event_log
from core.desk.changes import put, writing_as
from core.desk.classes import SKIPPED, UNSURE, classes_in, decision, in_words
from core.desk.database import empty_log, reading, writing
from core.desk.event_log import NO, YES, Event, Subject, Write
from core.desk.file_state import FileState, RowState
from core.desk.schema import LONGEST_NOTE, annotator, check_row, clean, event
from core.desk.taxonomy import Tag, Taxonomy
from core.errors import DeskError

MOST_DEALT = 12
"""Maximum number of people to whom rows are assigned."""
_ROWS = " rows "
"""In the log, the separator between the people and the packed rows when only some rows are assigned."""


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
        dealt, reviewers, deciders = "", set[int](), set[str]()
        with reading(self._engine) as connection:
            names = {known.id: known.name for known in connection.execute(sa.select(annotator))}
            taxonomy = Taxonomy(connection)
            shown = {tag: taxonomy.names[taxonomy.shown_as(tag)] for tag in taxonomy.names}
            known = event_log.values(connection, file)
        classes = classes_in(known)
        for (kind, _, key, tag, owner), value in known.items():
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
            elif kind == "decides":
                deciders.add(names[owner])
            elif kind == "decided":
                rows[key].decision = decision(value, classes, names)
            elif kind == "guess":
                number, random, count = value.split()
                rows[key].guesses[names[owner]] = classes.get(int(number), ""), random == YES, int(count)
            elif kind == "label" and value == SKIPPED:
                rows[key].skipped.add(names[owner])
            elif kind == "label":
                rows[key].answer(names[owner], None if value == UNSURE else classes[int(value)])
                reviewers.add(owner)
            elif kind != "class":
                rows[key].add(kind, names[owner], value, shown.get(tag, ""))
                reviewers.add(owner)
                if blind is None and reviewers == {owner}:  # the first annotator is not asked for "Done"
                    rows[key].done.add(names[owner])
        reviewed = Counter(name for row in rows.values() for name in row.reviewers)
        facts = tuple(reported), slices, reviewed, blind, tuple(hands), maker, dealt, classes, frozenset(deciders)
        return FileState(dict(rows), *facts)

    def history(self, file: str | None = None, row: str | None = None, limit: int = 200) -> list[Event]:
        """The latest events, newest first: of a row, of a file ("": of the taxonomy), or all. Raises DeskError for a
        row key that cannot be stored."""
        conditions = [] if file is None else [event.c.file == file]
        if row is not None:
            check_row(row)
            conditions += [event.c.row == row, event.c.kind.not_in(("slice", "class"))]
        with reading(self._engine) as connection:
            return in_words(connection, event_log.events(connection, *conditions, limit=limit))

    def give(self, annotator: str, file: str, row: str, tag: str, given: bool = True) -> None:
        """Gives a row a tag, or removes it, even if it was given as a tag that has been merged into this one."""
        with writing_as(self._engine, annotator) as (connection, by):
            taxonomy = Taxonomy(connection)
            target = taxonomy.number(tag)
            numbers = [target] if given else [n for n in taxonomy.names if taxonomy.shown_as(n) == target]
            value = YES if given else None
            put(connection, *(Write(by, Subject("tag", file, row, number, by), value) for number in numbers))

    def give_all(self, annotator: str, file: str, rows: Sequence[str], tag: str, given: bool = True) -> None:
        """Gives a tag to several rows, or removes it, atomically."""
        for row in rows:
            check_row(row)
        with writing_as(self._engine, annotator) as (connection, by):
            number, current = Taxonomy(connection).number(tag), event_log.values(connection, file)
            subjects = [Subject("tag", file, row, number, by) for row in rows]
            event_log.append(connection, [Write(by, one, YES if given else None) for one in subjects], current)

    def look(self, annotator: str, file: str, row: str, looked: bool = True) -> None:
        """Marks a row as done by an annotator: no more tags apply, or none at all."""
        with writing_as(self._engine, annotator) as (connection, by):
            put(connection, Write(by, Subject("looked", file, row, owner=by), YES if looked else None))

    def note(self, annotator: str, file: str, row: str, text: str) -> None:
        """Writes an annotator's note on a row; an empty text deletes it."""
        with writing_as(self._engine, annotator) as (connection, by):
            put(connection, Write(by, Subject("note", file, row, owner=by), clean(text, LONGEST_NOTE) or None))

    def settle(self, annotator: str, file: str, row: str, tag: str, given: bool | None) -> None:
        """Settles whether a tag applies to a row; None reopens the question."""
        with writing_as(self._engine, annotator) as (connection, by):
            subject = Subject("settled", file, row, Taxonomy(connection).number(tag))
            put(connection, Write(by, subject, None if given is None else YES if given else NO))

    def report(self, annotator: str, file: str, row: str, reported: bool = True) -> None:
        """Adds a row to the file's report or removes it, for all annotators."""
        with writing_as(self._engine, annotator) as (connection, by):
            put(connection, Write(by, Subject("reported", file, row), YES if reported else None))

    def blind(self, annotator: str, file: str, blind: bool) -> None:
        """Sets whether the annotators of a file are :meth:`FileState.blind`."""
        with writing_as(self._engine, annotator) as (connection, by):
            put(connection, Write(by, Subject("blind", file), YES if blind else NO))

    def deal(self, annotator: str, file: str, people: Sequence[str], each: int, rows: np.ndarray | None = None) -> None:
        """Assigns each of a file's ``rows`` (bool ``[N]``, by default all) to ``each`` of these annotators, instead of
        an earlier assignment. A hash of the row's id selects them; all groups of this size get the same number of rows,
        plus or minus one."""
        if not 0 < each <= len(people) <= MOST_DEALT:
            raise DeskError(f"rows are dealt to 1 to {MOST_DEALT} people, each row to as many as there are at most")
        with writing_as(self._engine, annotator) as (connection, by):
            numbers = [event_log.annotator_number(connection, name) for name in people]
            value = " ".join(map(str, [*numbers, each]))
            if rows is not None and not rows.all():
                value += _ROWS + b64encode(zlib.compress(np.packbits(rows).tobytes())).decode()
            put(connection, Write(by, Subject("dealt", file), value))

    def made(self, annotator: str, file: str) -> None:
        """Stores who makes the file's run; with "" (a visitor without a name), no visitor can delete the run."""
        with writing(self._engine) as connection:
            by = event_log.annotator_number(connection, annotator) if annotator else None
            put(connection, Write(by, Subject("made", file), str(by) if by else None))

    def slice_history(self, file: str) -> list[Event]:
        """The latest changes to a file's slices, newest first."""
        with reading(self._engine) as connection:
            return event_log.events(connection, event.c.file == file, event.c.kind == "slice")

    def save_slice(self, annotator: str, file: str, name: str, expression: str) -> None:
        """Saves a filter as a slice of a file, for all annotators; an empty filter deletes the slice."""
        name = clean(name.replace("`", "'"))  # filters write names in backticks
        if not name:
            raise DeskError("a slice needs a name: type one")
        with writing_as(self._engine, annotator) as (connection, by):
            put(connection, Write(by, Subject("slice", file, name), expression or None))

    def add_tag(self, annotator: str, name: str) -> None:
        """Adds a tag to the taxonomy."""
        with writing_as(self._engine, annotator) as (connection, by):
            Taxonomy(connection).add(by, name)

    def define_tag(self, annotator: str, name: str, text: str) -> None:
        """Defines when a tag applies; an empty text deletes the definition."""
        with writing_as(self._engine, annotator) as (connection, by):
            subject = Subject("tag definition", tag=Taxonomy(connection).number(name))
            put(connection, Write(by, subject, clean(text, LONGEST_NOTE) or None))

    def rename_tag(self, annotator: str, name: str, new: str) -> None:
        """Renames a tag on all rows at once."""
        with writing_as(self._engine, annotator) as (connection, by):
            taxonomy = Taxonomy(connection)
            number = taxonomy.number(name)
            put(connection, Write(by, Subject("tag name", tag=number), taxonomy.free_name(new, number)))

    def merge_tags(self, annotator: str, name: str, into: str) -> None:
        """Displays a tag as another one. Marks keep their original tag, so that merging can be undone."""
        with writing_as(self._engine, annotator) as (connection, by):
            taxonomy = Taxonomy(connection)
            number, target = taxonomy.number(name), taxonomy.number(into)
            if number == target:
                raise DeskError("a tag cannot be merged into itself: choose two tags")
            put(connection, Write(by, Subject("tag merged", tag=number), str(target)))

    def undo(self, annotator: str, number: int) -> None:
        """Restores the value before an event. Raises DeskError if the event was already undone, or its subject has
        changed since."""
        with writing_as(self._engine, annotator) as (connection, by):
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
                raise DeskError("this was changed since: undo the later change first")
            put(connection, Write(by, subject, undone.before), undoes=number)

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
        empty_log(self._engine)
