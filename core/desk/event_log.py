"""The log of tags, labels and notes, with all SQL on it.

An event sets one subject, such as an annotator's note on a row, to a value; None deletes it. A subject's state is the
value of its latest event. Undoing is also an event: it restores the previous value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from core.desk.schema import SUBJECT, annotator, check_row, clean, event
from core.errors import DeskError

YES, NO = "yes", "no"


class Subject(NamedTuple):
    """The subject of an event. ``kind``: looked, tag, note, settled, reported, label, guess, decided (of a row), slice
    (of a file; its value is a filter), class (of a file; its value is a name), blind, dealt, made, decides (of a file),
    tag name, tag definition, tag merged (of a tag; ``file`` is empty), name removed (of an annotator)."""

    kind: str
    file: str = ""
    """The checksum of a data file."""
    row: str = ""
    """The row's key, the slice's name, or the class's number."""
    tag: int = 0
    """The tag's number, 0 if no tag is involved."""
    owner: int = 0
    """The number of the annotator who owns the mark or note, 0 if all annotators share it."""


class Write(NamedTuple):
    """A value set by an annotator, given by number."""

    author: int | None
    subject: Subject
    value: str | None


@dataclass(frozen=True)
class Event:
    """An event with names instead of numbers. ``tag`` is the tag's current or last name, ``before`` the replaced
    value."""

    id: int
    at: datetime
    author: str
    subject: Subject
    tag: str | None
    before: str | None
    value: str | None
    undoes: int | None
    undone: bool


def values(connection: Connection, file: str, row: str | None = None, kind: str | None = None) -> dict[Subject, str]:
    """Everything set on a file's rows or on one ``row``, last set last; for the empty file (""), on the tags; of one
    ``kind`` only, if given. Raises DeskError for a row key that cannot be stored."""
    subject = [event.c[name] for name in SUBJECT]
    last = sa.select(sa.func.max(event.c.id)).where(event.c.file == file).group_by(*subject)
    if row is not None:
        check_row(row)
        last = last.where(event.c.row == row)
    if kind is not None:
        last = last.where(event.c.kind == kind)
    query = sa.select(*(event.c[name] for name in Subject._fields), event.c.value)
    query = query.where(event.c.id.in_(last), event.c.value.is_not(None)).order_by(event.c.id)
    return {Subject(*subject): value for *subject, value in connection.execute(query)}


def append(
    connection: Connection, writes: Iterable[Write], current: Mapping[Subject, str], undoes: int | None = None
) -> None:
    """Logs the ``writes`` that change something, in order. ``current``: the :func:`values` before them."""
    changed: dict[Subject, str | None] = {}
    lines = []
    for author, subject, value in writes:
        if changed.get(subject, current.get(subject)) != value:
            changed[subject] = value
            line = {"at": datetime.now(UTC), "author": author, "value": value, "undoes": undoes}
            lines.append(subject._asdict() | line)
    if lines:
        connection.execute(sa.insert(event), lines)


def events(connection: Connection, *conditions: ColumnElement[bool], limit: int = 200) -> list[Event]:
    """The latest events that fulfil the conditions, newest first, without the program's own."""
    undoing, earlier = event.alias(), event.alias()
    before = (
        sa.select(earlier.c.value)
        .where(earlier.c.id < event.c.id, *(earlier.c[name] == event.c[name] for name in SUBJECT))
        .order_by(earlier.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    query = (
        sa.select(event, annotator.c.name, before.label("before"), undoing.c.id.is_not(None).label("undone"))
        .join(annotator, annotator.c.id == event.c.author)
        .outerjoin(undoing, undoing.c.undoes == event.c.id)
        .where(*conditions)
        .order_by(event.c.id.desc())
        .limit(limit)
    )
    named = sa.select(event).where(event.c.file == "", event.c.kind == "tag name", event.c.value.is_not(None))
    names = {line.tag: line.value for line in connection.execute(named.order_by(event.c.id))}
    out = []
    for line in connection.execute(query):
        subject = Subject(line.kind, line.file, line.row, line.tag, line.owner)
        at = line.at if line.at.tzinfo else line.at.replace(tzinfo=UTC)  # SQLite does not store that its times are UTC
        tag = names.get(line.tag)
        out.append(Event(line.id, at, line.name, subject, tag, line.before, line.value, line.undoes, line.undone))
    return out


def version(connection: Connection) -> int:
    """A number that increases with every event."""
    return int(connection.scalar(sa.select(sa.func.max(event.c.id))) or 0)


def used(connection: Connection, tag: int) -> bool:
    """Whether a tag has been given to a row or settled on one, in any file."""
    last = sa.select(sa.func.max(event.c.id)).where(event.c.tag == tag, event.c.file != "")
    query = sa.select(event.c.id).where(
        event.c.id.in_(last.group_by(*(event.c[name] for name in SUBJECT))), event.c.value.is_not(None)
    )
    return connection.scalar(query.limit(1)) is not None


def new_tag(connection: Connection) -> int:
    """A number that no tag has used."""
    return int(connection.scalar(sa.select(sa.func.max(event.c.tag)).where(event.c.file == "")) or 0) + 1


def annotator_number(connection: Connection, name: str) -> int:
    """An annotator's number; new names are added. Raises DeskError for an empty or a removed name."""
    name = clean(name)
    if not name:
        raise DeskError("a change needs its author: type your name first")
    query = sa.select(annotator.c.id, annotator.c.removed).where(annotator.c.name == name)
    known = connection.execute(query).one_or_none()
    if known is None:
        new = sa.insert(annotator).values(name=name, removed=False).returning(annotator.c.id)
        return int(connection.execute(new).scalar_one())
    if known.removed:
        raise DeskError(f"{name!r} stands for a removed annotator: type another name")
    return int(known.id)
