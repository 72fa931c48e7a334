"""How a change is made and written down, in a transaction of its caller's.

``what`` names a kind of change: looked, tag, note, settled, reported (of a row), tag added, tag renamed, tag merged (of
a tag), name removed (of an annotator). Its values are texts; None: nothing is there.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection

from core.desk import schema
from core.errors import DeskError
from core.reading.tokens import well_formed

YES, NO = "yes", "no"
NAME_REMOVED = "name removed"
_TAG_CHANGES = ("tag added", "tag renamed", "tag merged")
_NO_TAG = "the tag was taken out of the list since: undo that first"


class Subject(NamedTuple):
    """What a change is of: its kind, the row, and the tag's number; None for what it is not about."""

    what: str
    file: str | None = None
    row: str | None = None
    tag: int | None = None


def clean(text: str, longest: int = schema.LONGEST_NAME) -> str:
    """A text as the database can hold it: without NUL and half characters, cut, no spaces around it."""
    return well_formed(text).replace("\0", "").strip()[:longest].rstrip()


def check_row(row: str) -> None:
    """Raises DeskError for a row's key that not every database can hold."""
    remedy = "give the file's rows other ids, or none"
    if "\0" in row or well_formed(row) != row:
        raise DeskError(f"the row's id {row[:40]!r} has a character that no database holds: {remedy}")
    size = len(row.encode())
    if size > schema.LONGEST_ROW:
        raise DeskError(
            f"the row's id “{row[:40]}…” takes {size:,} bytes, and at most {schema.LONGEST_ROW:,} can be held: {remedy}"
        )


def reads_as(connection: Connection) -> dict[int, tuple[int, str]]:
    """Number and name of the tag that each tag reads as: itself, unless it was merged."""
    known = {row.id: row for row in connection.execute(sa.select(schema.tag))}
    out = {}
    for number, row in known.items():
        while row.merged_into is not None:
            row = known[row.merged_into]
        out[number] = row.id, row.name
    return out


def tag_number(connection: Connection, name: str) -> int:
    """The number of a tag that can be given. Raises DeskError where there is none of this name."""
    query = sa.select(schema.tag.c.id).where(schema.tag.c.name == name, schema.tag.c.merged_into.is_(None))
    number = connection.scalar(query)
    if number is None:
        raise no_tag(name)
    return int(number)


def no_tag(name: str) -> DeskError:
    """The error for a tag that is not there."""
    return DeskError(f"there is no tag {name[:80]!r}: choose one of the list, or add it first")


def free_name(connection: Connection, name: str, tag: int | None = None) -> str:
    """A name for a tag (by number, None: a new one), cleaned. Raises DeskError where it is empty or another tag's."""
    name = clean(name.replace("|", "/"))  # which stands between tags in a CSV file
    if not name:
        raise DeskError("a tag needs a name: type one")
    names = connection.execute(sa.select(schema.tag.c.id, schema.tag.c.name)).all()
    if any(name.casefold() == other.casefold() for number, other in names if number != tag):
        raise DeskError(f"there is a tag {name!r} already: give another name, or merge the two")
    return name


def annotator_number(connection: Connection, name: str) -> int:
    """The number of an annotator, who is new where nobody has the name. Raises DeskError for no name at all."""
    name, own = clean(name), schema.annotator.c
    if not name:
        raise DeskError("a change needs its author: type your name first")
    known = connection.execute(sa.select(own.id, own.removed).where(own.name == name)).one_or_none()
    if known is not None and known.removed:
        raise DeskError(f"{name!r} stands for a removed annotator: type another name")
    if known is not None:
        return int(known.id)
    query = sa.insert(schema.annotator).values(name=name, removed=False).returning(own.id)
    return int(connection.execute(query).scalar_one())


TABLES: dict[str, tuple[sa.Table, str | None]] = {
    "looked": (schema.look, None),
    "tag": (schema.mark, None),
    "note": (schema.note, "text"),
    "settled": (schema.settled, "given"),
    "reported": (schema.reported, None),
}
"""Where each kind of change is written, and the column of its value (None: being there is the value)."""


def put(connection: Connection, annotator: str, subject: Subject, value: str | None) -> None:
    """Make it so, and write the change down; nothing where it is so already. Raises DeskError for a row that cannot be
    written."""
    if subject.row is not None:
        check_row(subject.row)
    by = annotator_number(connection, annotator)
    before = value_of(connection, by, subject)
    if before != value:
        put_in_place(connection, by, subject, value)
        log(connection, by, subject, before, value)


def key_of(table: sa.Table, by: int, subject: Subject) -> dict[str, Any]:
    """The primary key of the subject in its table."""
    known = {"annotator": by, **subject._asdict()}
    return {column.name: known[column.name] for column in table.primary_key.columns}


def value_of(connection: Connection, by: int, subject: Subject) -> str | None:
    """What is there now."""
    if subject.what in _TAG_CHANGES:
        known = connection.execute(sa.select(schema.tag).where(schema.tag.c.id == subject.tag)).one_or_none()
        if known is None:
            return None
        if subject.what != "tag merged":
            return str(known.name)
        return None if known.merged_into is None else str(known.merged_into)
    table, column = TABLES[subject.what]
    query = sa.select(table).filter_by(**key_of(table, by, subject))
    there = connection.execute(query).mappings().one_or_none()
    if there is None:
        return None
    value = YES if column is None else there[column]
    return value if isinstance(value, str) else YES if value else NO


def put_in_place(connection: Connection, by: int, subject: Subject, value: str | None) -> None:
    """Make it what ``value`` says, whatever it was. Raises DeskError where the tags that it needs are not there."""
    if subject.what != "tag added" and subject.tag is not None:
        _check_tag(connection, subject.tag)
    if subject.what in _TAG_CHANGES:
        _set_tag(connection, subject, value)
        return
    table, column = TABLES[subject.what]
    where = key_of(table, by, subject)
    connection.execute(sa.delete(table).filter_by(**where))
    if value is not None:
        more = {} if column is None else {column: value == YES if subject.what == "settled" else value}
        connection.execute(sa.insert(table).values(**where, **more))


def _check_tag(connection: Connection, tag: int) -> None:
    if connection.scalar(sa.select(schema.tag.c.id).where(schema.tag.c.id == tag)) is None:
        raise DeskError(_NO_TAG)


def _set_tag(connection: Connection, subject: Subject, value: str | None) -> None:
    own, tag = schema.tag, subject.tag
    if subject.what == "tag added" and value is None:
        used = [
            connection.scalar(sa.select(sa.func.count()).where(t.c.tag == tag)) for t in (schema.mark, schema.settled)
        ]
        merged = connection.scalar(sa.select(sa.func.count()).where(own.c.merged_into == tag))
        if any(used) or merged:
            raise DeskError("this tag was given to rows meanwhile: merge it into another one instead")
        connection.execute(sa.delete(own).where(own.c.id == tag))
    elif subject.what == "tag added":
        connection.execute(sa.insert(own).values(id=tag, name=free_name(connection, value or "")))
    elif subject.what == "tag renamed":
        connection.execute(sa.update(own).where(own.c.id == tag).values(name=free_name(connection, value or "", tag)))
    else:
        into = None if value is None else int(value)
        if into is not None:
            _check_tag(connection, into)
            if reads_as(connection)[into][0] == tag:
                raise DeskError("the other tag was merged into this one meanwhile: undo that first")
        connection.execute(sa.update(own).where(own.c.id == tag).values(merged_into=into))


def add_tag(connection: Connection, by: int, name: str) -> None:
    """Extend the taxonomy. Raises DeskError where the name is empty or another tag's."""
    name = free_name(connection, name)
    number = connection.scalar(sa.insert(schema.tag).values(name=name).returning(schema.tag.c.id))
    log(connection, by, Subject("tag added", tag=number), None, name)


def entry(
    by: int, subject: Subject, before: str | None, after: str | None, undoes: int | None = None
) -> dict[str, Any]:
    """The line of the history that says what the annotator ``by`` changed just now."""
    values = {"at": datetime.now(UTC), "annotator": by, "before": before, "after": after, "undoes": undoes}
    return subject._asdict() | values


def log(
    connection: Connection, by: int, subject: Subject, before: str | None, after: str | None, undoes: int | None = None
) -> None:
    """Write a change down."""
    connection.execute(sa.insert(schema.change).values(entry(by, subject, before, after, undoes)))
