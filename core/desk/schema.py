"""The tables of the desk's database. A change to them comes with a migration (core/desk/migrations/versions)."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

LONGEST_NAME = 80
"""Characters of an annotator's or a tag's name."""
LONGEST_NOTE = 5000
LONGEST_ROW = 2500
"""Bytes of a row's key in UTF-8: with the rest of its key it fits into a page of PostgreSQL's index (2,704)."""

annotator = Table(
    "annotator",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(LONGEST_NAME), nullable=False),
    Column("removed", Boolean, nullable=False, default=False),
    UniqueConstraint("name", name="annotator_name"),
)
"""Those who write. A removed one keeps its number: its name is gone from everything at once."""

tag = Table(
    "tag",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(LONGEST_NAME), nullable=False),
    Column("merged_into", Integer, ForeignKey("tag.id")),
    UniqueConstraint("name", name="tag_name"),
    # The history names tags by their numbers, so the number of one that is gone must not be another's.
    sqlite_autoincrement=True,
)
"""A merged tag stays, with all that was marked with it: it only reads as the other one."""


def _of_row() -> list[Column[object]]:
    """A row of a data file: the file's checksum and the row's key."""
    return [Column("file", String(64), primary_key=True), Column("row", Text, primary_key=True)]


def _by() -> Column[object]:
    return Column("annotator", Integer, ForeignKey("annotator.id"), primary_key=True, autoincrement=False)


look = Table("look", metadata, *_of_row(), _by())
"""Rows that an annotator looked at and gave no tag."""

mark = Table(
    "mark",
    metadata,
    *_of_row(),
    _by(),
    Column("tag", Integer, ForeignKey("tag.id"), primary_key=True, autoincrement=False),
)
"""Tags that annotators gave to rows."""

note = Table("note", metadata, *_of_row(), _by(), Column("text", Text, nullable=False))

settled = Table(
    "settled",
    metadata,
    *_of_row(),
    Column("tag", Integer, ForeignKey("tag.id"), primary_key=True, autoincrement=False),
    Column("given", Boolean, nullable=False),
)
"""What was settled about a tag that annotators disagreed on; their own marks stay beside it."""

reported = Table("reported", metadata, *_of_row())
"""Rows that the file's report shows."""

change = Table(
    "change",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("annotator", Integer, ForeignKey("annotator.id"), nullable=False),
    Column("what", String(20), nullable=False),
    Column("file", String(64)),
    Column("row", Text),
    Column("tag", Integer),
    Column("before", Text),
    Column("after", Text),
    Column("undoes", Integer, ForeignKey("change.id")),
    Index("change_of_row", "file", "row"),
    Index("change_undone_once", "undoes", unique=True),
)
"""Every change with its time and author, never changed itself. None before or after: nothing was there."""
