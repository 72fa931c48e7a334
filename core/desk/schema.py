"""The tables of the desk's database, and the texts they can store. A change to the tables needs a migration
(core/desk/migrations/versions)."""

from __future__ import annotations

import sqlalchemy as sa

from core.errors import DeskError
from core.reading.tokens import well_formed

metadata = sa.MetaData()

LONGEST_NAME = 80
"""Length limit in characters of an annotator's or a tag's name."""
LONGEST_NOTE = 5000
LONGEST_ROW = 2500
"""Length limit in bytes of a row's key in UTF-8: with the rest of an event's subject it fits into a PostgreSQL index
(2,704)."""

annotator = sa.Table(
    "annotator",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(LONGEST_NAME), nullable=False),
    sa.Column("removed", sa.Boolean, nullable=False, default=False),
    sa.UniqueConstraint("name", name="annotator_name"),
)
"""The only table that stores a name, so that removing it here removes it everywhere."""

SUBJECT = ("file", "row", "kind", "tag", "owner")

event = sa.Table(
    "event",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("author", sa.Integer, sa.ForeignKey("annotator.id")),
    sa.Column("file", sa.String(64), nullable=False),
    sa.Column("row", sa.Text, nullable=False),
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("tag", sa.Integer, nullable=False),
    sa.Column("owner", sa.Integer, nullable=False),
    sa.Column("value", sa.Text),
    sa.Column("undoes", sa.Integer, sa.ForeignKey("event.id")),
    sa.Index("event_of_subject", *SUBJECT, "id"),
    sa.Index("event_undone_once", "undoes", unique=True),
)
"""The log: entries are appended, never altered or deleted (:mod:`core.desk.event_log`). No author: the program's own
events, such as the tags in a new database."""


strongest_word = sa.Table(
    "strongest_word",
    metadata,
    sa.Column("file", sa.String(64), primary_key=True),
    sa.Column("row", sa.Text, primary_key=True),
    sa.Column("checkpoint", sa.String(64), primary_key=True),
    sa.Column("way", sa.String(20), primary_key=True),
    sa.Column("word", sa.Text, nullable=False),
    sa.Column("side", sa.String(LONGEST_NAME), nullable=False),
)
"""The word in a row with the largest effect on a checkpoint's prediction (checkpoint: its checksum), and its text's
role; both are empty if no word supports the prediction. ``way``: how words were removed, currently by dropping. A
cache, and therefore not logged."""


def clean(text: str, longest: int = LONGEST_NAME) -> str:
    """A text that the database can store: no NUL, unpaired surrogates or outer spaces, truncated to ``longest``."""
    return well_formed(text).replace("\0", "").strip()[:longest].rstrip()


def check_row(row: str) -> None:
    """Raises DeskError for a row key that some databases cannot store."""
    remedy = "give the file's rows other ids, or none"
    if "\0" in row or well_formed(row) != row:
        raise DeskError(f"the row's id {row[:40]!r} contains a character that databases cannot store: {remedy}")
    size = len(row.encode())
    if size > LONGEST_ROW:
        raise DeskError(f"the row's id “{row[:40]}…” takes {size:,} bytes; the limit is {LONGEST_ROW:,}: {remedy}")
