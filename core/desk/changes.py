"""How changes are made and written down, in a transaction of their caller's.

``what`` names a kind of change: looked, tag, note, settled, reported (of a row), tag added, tag renamed, tag merged (of
a tag), name removed (of an annotator). Its values are texts; None: nothing is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import Connection

from core.desk import schema
from core.errors import DeskError
from core.reading.tokens import well_formed

YES, NO = "yes", "no"
NAME_REMOVED = "name removed"


class Subject(NamedTuple):
    """What a change is of: its kind, the row, the tag's number, and the annotator's where each has a value of their
    own; None for what it is not about."""

    what: str
    file: str | None = None
    row: str | None = None
    tag: int | None = None
    annotator: int | None = None


TABLES: dict[str, tuple[sa.Table, str | None]] = {
    "looked": (schema.look, None),
    "tag": (schema.mark, None),
    "note": (schema.note, "text"),
    "settled": (schema.settled, "given"),
    "reported": (schema.reported, None),
}
"""Where each kind of change to a row is written, and the column of its value (None: being there is the value)."""
PERSONAL = ("looked", "tag", "note")
"""Kinds of change to a row of which every annotator has a value of their own."""


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


def values_of_rows(connection: Connection, file: str | None, row: str | None = None) -> dict[Subject, str]:
    """All that is there of a file's rows, or of one of them. Raises DeskError for a row that cannot be written."""
    values = {}
    if row is not None:
        check_row(row)
    for what, (table, column) in TABLES.items():
        own, none = table.c, sa.null()
        parts = own.row, own.get("tag", none), own.get("annotator", none), own.get(column or "", sa.literal(YES))
        query = sa.select(*parts).where(own.file == file).order_by(*table.primary_key)
        if row is not None:
            query = query.where(own.row == row)
        for key, tag, annotator, value in connection.execute(query):
            subject = Subject(what, file, key, tag, annotator)
            values[subject] = value if isinstance(value, str) else YES if value else NO
    return values


def write(
    connection: Connection,
    wanted: Iterable[tuple[int, Subject, str | None]],
    there: Mapping[Subject, str],
    undoes: int | None = None,
) -> None:
    """Make values of rows so and write down who changed what, in this order; nothing for what is so already.
    ``wanted``: author, subject and value; ``there``: the rows' values before (:func:`values_of_rows`)."""
    changed: dict[Subject, str | None] = {}
    lines = []
    for by, subject, value in wanted:
        before = changed.get(subject, there.get(subject))
        if before != value:
            changed[subject] = value
            lines.append(_entry(by, subject, before, value, undoes))
    for what, (table, column) in TABLES.items():
        names = [part.name for part in table.primary_key]
        old, new = [], []
        for subject, value in changed.items():
            if subject.what == what:
                key = {name: getattr(subject, name) for name in names}
                old.append(key)
                if value is not None:
                    new.append(key | ({column: value == YES if what == "settled" else value} if column else {}))
        if old:
            same = (table.c[name] == sa.bindparam(name) for name in names)
            connection.execute(sa.delete(table).where(*same), old)
        if new:
            connection.execute(sa.insert(table), new)
    if lines:
        connection.execute(sa.insert(schema.change), lines)


def value_of(connection: Connection, subject: Subject) -> str | None:
    """What is there now."""
    if subject.what in TABLES:
        return values_of_rows(connection, subject.file, subject.row).get(subject)
    known = connection.execute(sa.select(schema.tag).where(schema.tag.c.id == subject.tag)).one_or_none()
    value = known and (known.merged_into if subject.what == "tag merged" else known.name)
    return None if value is None else str(value)


def put(connection: Connection, by: int, subject: Subject, value: str | None, undoes: int | None = None) -> None:
    """Make it so, and write down that the annotator ``by`` changed it (``undoes``: to undo that change); nothing where
    it is so already. Raises DeskError for a row that cannot be written, and where a tag that is needed is not there."""
    if subject.what != "tag added" and subject.tag is not None:
        _check_tag(connection, subject.tag)
    if subject.what in TABLES:
        write(connection, [(by, subject, value)], values_of_rows(connection, subject.file, subject.row), undoes)
        return
    before = value_of(connection, subject)
    if before != value:
        _set_tag(connection, subject, value)
        log(connection, by, subject, before, value, undoes)


def _check_tag(connection: Connection, tag: int) -> None:
    if connection.scalar(sa.select(schema.tag.c.id).where(schema.tag.c.id == tag)) is None:
        raise DeskError("the tag was taken out of the list since: undo that first")


def _set_tag(connection: Connection, subject: Subject, value: str | None) -> None:
    own, tag = schema.tag, subject.tag
    if subject.what == "tag added" and value is None:
        uses = (schema.mark.c.tag, schema.settled.c.tag, own.c.merged_into)
        if any(connection.scalar(sa.select(sa.func.count()).where(use == tag)) for use in uses):
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


def log(
    connection: Connection, by: int, subject: Subject, before: str | None, after: str | None, undoes: int | None = None
) -> None:
    """Write down what the annotator ``by`` changed just now."""
    connection.execute(sa.insert(schema.change).values(_entry(by, subject, before, after, undoes)))


def _entry(by: int, subject: Subject, before: str | None, after: str | None, undoes: int | None) -> dict[str, object]:
    """A line of the history."""
    values = {"at": datetime.now(UTC), "annotator": by, "before": before, "after": after, "undoes": undoes}
    return subject._asdict() | values
