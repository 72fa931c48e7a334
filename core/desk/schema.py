"""The tables of the desk's database. A change to them comes with a migration (core/desk/migrations/versions)."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

LONGEST_NAME = 80
"""Characters of an annotator's or a tag's name."""
LONGEST_NOTE = 5000
LONGEST_ROW = 2500
"""Bytes of a row's key in UTF-8: with the rest of its key it fits into a page of PostgreSQL's index (2,704)."""

annotator = sa.Table(
    "annotator",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(LONGEST_NAME), nullable=False),
    sa.Column("removed", sa.Boolean, nullable=False, default=False),
    sa.UniqueConstraint("name", name="annotator_name"),
)
"""Those who write. A removed one keeps its number: its name is gone from everything at once."""

tag = sa.Table(
    "tag",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(LONGEST_NAME), nullable=False),
    sa.Column("merged_into", sa.Integer, sa.ForeignKey("tag.id")),
    sa.UniqueConstraint("name", name="tag_name"),
    # The history names tags by their numbers, so the number of one that is gone must not be another's.
    sqlite_autoincrement=True,
)
"""A merged tag stays, with all that was marked with it: it only reads as the other one."""


def _of_row() -> list[sa.Column[object]]:
    """A row of a data file: the file's checksum and the row's key."""
    return [sa.Column("file", sa.String(64), primary_key=True), sa.Column("row", sa.Text, primary_key=True)]


def _of(table: str) -> sa.Column[object]:
    return sa.Column(table, sa.Integer, sa.ForeignKey(f"{table}.id"), primary_key=True, autoincrement=False)


look = sa.Table("look", metadata, *_of_row(), _of("annotator"))
"""Rows that an annotator looked at and gave no tag."""

mark = sa.Table("mark", metadata, *_of_row(), _of("annotator"), _of("tag"))
"""Tags that annotators gave to rows."""

note = sa.Table("note", metadata, *_of_row(), _of("annotator"), sa.Column("text", sa.Text, nullable=False))

settled = sa.Table("settled", metadata, *_of_row(), _of("tag"), sa.Column("given", sa.Boolean, nullable=False))
"""What was settled about a tag that annotators disagreed on; their own marks stay beside it."""

reported = sa.Table("reported", metadata, *_of_row())
"""Rows that the file's report shows."""

strongest_word = sa.Table(
    "strongest_word",
    metadata,
    *_of_row(),
    sa.Column("checkpoint", sa.String(64), primary_key=True),
    sa.Column("way", sa.String(20), primary_key=True),
    sa.Column("word", sa.Text, nullable=False),
    sa.Column("side", sa.String(LONGEST_NAME), nullable=False),
)
"""Of a row, the word with the largest effect on what a checkpoint (its checksum) says, by a way of taking words away,
and the role of its text; both empty where no word supports it. It can be computed again, so no change tells of it."""

change = sa.Table(
    "change",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("annotator", sa.Integer, sa.ForeignKey("annotator.id"), nullable=False),
    sa.Column("what", sa.String(20), nullable=False),
    sa.Column("file", sa.String(64)),
    sa.Column("row", sa.Text),
    sa.Column("tag", sa.Integer),
    sa.Column("before", sa.Text),
    sa.Column("after", sa.Text),
    sa.Column("undoes", sa.Integer, sa.ForeignKey("change.id")),
    sa.Index("change_of_row", "file", "row"),
    sa.Index("change_undone_once", "undoes", unique=True),
)
"""Every change with its time and author, never changed itself. None before or after: nothing was there."""
