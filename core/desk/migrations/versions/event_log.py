"""The current tables, created in an empty database or from revisions 1 to 5, which had one table per kind of annotation
and a history of changes: one event log replaces them.

The old tables determine the state. If the history does not lead to it, as for the tags that every database starts with,
events without an author are added.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = None

TAGS = (
    "language conventions",
    "knowledge beyond the text",
    "discourse relation",
    "evidence missing",
    "misled by noise",
    "out-of-vocabulary",
    "wrong gold label",
    "other",
)
"""AttConv's kinds of errors, the tags in a new database."""

SUBJECT = ("kind", "file", "row", "tag", "owner")
KINDS = {"tag added": "tag name", "tag renamed": "tag name"}
TABLES = {"look": "looked", "mark": "tag", "note": "note", "settled": "settled", "reported": "reported"}
Subject = tuple[str, str, str, int, int]
Line = dict[str, Any]
"""A line of the old history, by column name."""


def upgrade() -> None:
    connection = op.get_bind()
    old = sa.MetaData()
    old.reflect(connection)
    if "change" in old.tables:
        events = _fold(dict(_state(connection, old)), list(_history(connection, old)))
    else:
        op.create_table(
            "annotator",
            sa.Column("id", sa.Integer, primary_key=True),
            sa.Column("name", sa.String(80), nullable=False),
            sa.Column("removed", sa.Boolean, nullable=False),
            sa.UniqueConstraint("name", name="annotator_name"),
        )
        events = _fold({("tag name", "", "", number, 0): name for number, name in enumerate(TAGS, start=1)}, [])
    connection.execute(sa.insert(_create()), events)
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT setval('event_id_seq', (SELECT max(id) FROM event))"))
    for name in ("change", *TABLES, "tag"):
        op.drop_table(name, if_exists=True)
    _create_strongest_word(connection, old)


def _fold(state: dict[Subject, str], history: list[tuple[Subject, Line]]) -> list[Line]:
    """The events in the history, with additional ones so that they end in the state."""
    now, known = datetime.now(UTC), {subject for subject, _ in history}
    events: list[Line] = []
    current: dict[Subject, str | None] = {}
    numbers: dict[int, int] = {}

    def log(subject: Subject, value: str | None, line: Line | None = None) -> None:
        if line is not None or current.get(subject) != value:
            current[subject] = value
            line = line or {"at": now, "annotator": None, "undoes": None}
            about = {"id": len(events) + 1, "at": line["at"], "author": line["annotator"], "value": value}
            about["undoes"] = numbers.get(line["undoes"])
            events.append(dict(zip(SUBJECT, subject, strict=True)) | about)

    for subject, value in state.items():
        if subject not in known:
            log(subject, value)
    for subject, line in history:
        log(subject, line["before"])
        log(subject, line["after"], line)
        numbers[line["id"]] = len(events)
    for subject in sorted(known):
        log(subject, state.get(subject))
    return events


def _create() -> sa.Table:
    event = op.create_table(
        "event",
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
    )
    op.create_index("event_of_subject", "event", ["file", "row", "kind", "tag", "owner", "id"])
    op.create_index("event_undone_once", "event", ["undoes"], unique=True)
    return event


def _create_strongest_word(connection: sa.Connection, old: sa.MetaData) -> None:
    """The table of strongest words. Revision 4 did not record how words were removed: by dropping."""
    name = "strongest_word_anew" if "strongest_word" in old.tables else "strongest_word"
    new = op.create_table(
        name,
        sa.Column("file", sa.String(64), primary_key=True),
        sa.Column("row", sa.Text, primary_key=True),
        sa.Column("checkpoint", sa.String(64), primary_key=True),
        sa.Column("way", sa.String(20), primary_key=True),
        sa.Column("word", sa.Text, nullable=False),
        sa.Column("side", sa.String(80), nullable=False),
    )
    if name == "strongest_word_anew":
        known = old.tables["strongest_word"]
        values = [known.c.get(column.name, sa.literal("dropped")) for column in new.c]
        connection.execute(sa.insert(new).from_select(list(new.c), sa.select(*values)))
        op.drop_table("strongest_word")
        op.rename_table("strongest_word_anew", "strongest_word")


def _state(connection: sa.Connection, old: sa.MetaData) -> Iterator[tuple[Subject, str]]:
    """Subjects and values in the old tables."""
    for tag in connection.execute(sa.select(old.tables["tag"])).mappings():
        yield ("tag name", "", "", tag["id"], 0), tag["name"]
        if tag["merged_into"] is not None:
            yield ("tag merged", "", "", tag["id"], 0), str(tag["merged_into"])
    for table, kind in TABLES.items():
        for line in connection.execute(sa.select(old.tables[table])).mappings() if table in old.tables else ():
            value = line["text"] if kind == "note" else "yes" if line.get("given", True) else "no"
            yield (kind, line["file"], line["row"], line.get("tag", 0), line.get("annotator", 0)), value
    for name in connection.execute(sa.select(old.tables["annotator"])).mappings():
        if name["removed"]:
            yield ("name removed", "", "", 0, name["id"]), name["name"]


def _history(connection: sa.Connection, old: sa.MetaData) -> Iterator[tuple[Subject, Line]]:
    """The entries of the old history with their subjects. A value restored by undoing belongs to its first author. If
    two changes in revision 1 undo the same one, the later one actually undid the previous change of that subject."""
    names = {known.name: known.id for known in connection.execute(sa.select(old.tables["annotator"]))}
    change, owners = old.tables["change"], dict[int, int]()
    last, undone = dict[tuple[str, Subject], int](), set[int]()
    for known in connection.execute(sa.select(change).order_by(change.c.id)).mappings():
        line = dict(known)
        owners[line["id"]] = owners[line["undoes"]] if line["undoes"] else line["annotator"]
        owner = owners[line["id"]] if line["what"] in ("looked", "tag", "note") else 0
        if line["what"] == "name removed":
            owner = names.get(line["after"], 0)
        kind = KINDS.get(line["what"], line["what"])
        subject = kind, line["file"] or "", line["row"] or "", line["tag"] or 0, owner
        if line["undoes"] in undone:
            line["undoes"] = last[line["what"], subject]
        undone.add(line["undoes"] or 0)
        last[line["what"], subject] = line["id"]
        yield subject, line
