"""The tables of version 0.2.0, with the tags of a new database. Later changes to the tables are separate revisions in
other files, whose ``down_revision`` names the one before; do not change this one."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0.2.0"
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


def upgrade() -> None:
    op.create_table(
        "annotator",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("removed", sa.Boolean, nullable=False),
        sa.UniqueConstraint("name", name="annotator_name"),
    )
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
    op.create_table(
        "strongest_word",
        sa.Column("file", sa.String(64), primary_key=True),
        sa.Column("row", sa.Text, primary_key=True),
        sa.Column("checkpoint", sa.String(64), primary_key=True),
        sa.Column("way", sa.String(20), primary_key=True),
        sa.Column("word", sa.Text, nullable=False),
        sa.Column("side", sa.String(80), nullable=False),
    )
    about = {"at": datetime.now(UTC), "file": "", "row": "", "kind": "tag name", "owner": 0}
    op.bulk_insert(event, [{**about, "tag": number, "value": name} for number, name in enumerate(TAGS, start=1)])
