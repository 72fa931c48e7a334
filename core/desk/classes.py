"""The classes with which people label a file's rows, and the values in the log that name one.

A class is the subject ("class", file, number) with its name as the value, so that renaming it renames all labels at
once. A label is a class's number, or a word if the row has no label yet; a decision is a class's number and the number
of the person who decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy import Connection

from core.data.labels import key
from core.desk import event_log
from core.desk.event_log import Event, Subject
from core.desk.file_state import Decision
from core.desk.schema import clean, event
from core.errors import DeskError
from core.spreadsheet import neutral

UNSURE, SKIPPED = "unsure", "skipped"
"""Values of a label: the annotator cannot tell the class; the row is left for later."""
MOST_CLASSES = 50
_GONE = "this class was removed since: undo that first"


def classes_in(values: Mapping[Subject, str]) -> dict[int, str]:
    """The classes of a file by number, in order, extracted from all values set on the file."""
    return dict(sorted((int(one.row), name) for one, name in values.items() if one.kind == "class"))


def classes_of(connection: Connection, file: str) -> dict[int, str]:
    """The classes of a file by number, in order."""
    return classes_in(event_log.values(connection, file, kind="class"))


def new_number(connection: Connection, file: str) -> int:
    """A number that no class of the file has used."""
    query = sa.select(event.c.row).where(event.c.file == file, event.c.kind == "class").distinct()
    return max((int(row) for row in connection.scalars(query)), default=0) + 1


def free_name(classes: Mapping[int, str], name: str, number: int | None = None) -> str:
    """A cleaned name for a class (None: a new one). Raises DeskError if it cannot be one, or another class has it."""
    name = " ".join(clean(name).split())
    if not name:
        raise DeskError("a class needs a name: type one")
    if neutral(name) != name:
        raise DeskError(f"a spreadsheet would run {name[:40]!r} as a formula: begin the name with a letter or a digit")
    same = next((other for at, other in classes.items() if at != number and key(other) == key(name)), None)
    if same is not None:
        raise DeskError(f"there is a class {same!r} already: give another name")
    return name


def decision(value: str, classes: Mapping[int, str], people: Mapping[int, str]) -> Decision:
    """Parses a decision's value in the log; ``people``: names by number."""
    number, by = map(int, value.split())
    return Decision(classes[number], people[by])


def check(connection: Connection, subject: Subject, value: str | None) -> None:
    """Raises DeskError if a class, a label or a decision may not be set to the value."""
    if subject.kind == "class":
        number, classes = int(subject.row), classes_of(connection, subject.file)
        if value is None and _used(connection, subject.file, number):
            raise DeskError("rows have this class as their label: label them with another class first")
        if value is not None and number not in classes and len(classes) >= MOST_CLASSES:
            raise DeskError(f"a file can have at most {MOST_CLASSES} classes: remove one first")
        if value is not None:
            free_name(classes, value, number)
    elif subject.kind in ("label", "decided") and value not in (None, UNSURE, SKIPPED):
        own = Subject("class", subject.file, value.partition(" ")[0])
        if own not in event_log.values(connection, own.file, own.row):
            raise DeskError(_GONE)
    if subject.kind == "label" and value is not None:
        decides = Subject("decides", subject.file, owner=subject.owner)
        if decides in event_log.values(connection, subject.file, ""):
            raise DeskError("you decide on the labels of others in this file: stop that before you label rows yourself")


def _used(connection: Connection, file: str, number: int) -> bool:
    """Whether a row's label or decision is this class."""
    set_on = event_log.values(connection, file)
    return any(
        value.partition(" ")[0] == str(number) for one, value in set_on.items() if one.kind in ("label", "decided")
    )


def in_words(connection: Connection, events: Sequence[Event]) -> list[Event]:
    """The events with the names of classes instead of their numbers."""
    files = {one.subject.file for one in events if one.subject.kind in ("label", "decided")}
    names = {file: _all_names(connection, file) for file in files}
    return [
        replace(one, before=_named(names[file], one.before), value=_named(names[file], one.value))
        if (file := one.subject.file) in files and one.subject.kind in ("label", "decided")
        else one
        for one in events
    ]


def _named(names: Mapping[str, str], value: str | None) -> str | None:
    return value and names.get(value.partition(" ")[0], value)


def _all_names(connection: Connection, file: str) -> dict[str, str]:
    """The current or last name of each class of a file, by number."""
    named = event.c.file == file, event.c.kind == "class", event.c.value.is_not(None)
    query = sa.select(event.c.row, event.c.value).where(*named).order_by(event.c.id)
    return {line.row: line.value for line in connection.execute(query)}
