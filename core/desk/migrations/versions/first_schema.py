"""Annotators, tags (AttConv's kinds of error to begin with), marks, notes, what was settled, and every change."""

import sqlalchemy as sa
from alembic import op

revision = "1"
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


def upgrade() -> None:
    op.create_table(
        "annotator",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("removed", sa.Boolean, nullable=False),
        sa.UniqueConstraint("name", name="annotator_name"),
    )
    tag = op.create_table(
        "tag",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("merged_into", sa.Integer, sa.ForeignKey("tag.id")),
        sa.UniqueConstraint("name", name="tag_name"),
    )
    op.bulk_insert(tag, [{"name": name} for name in TAGS])
    row = (("file", sa.String(64)), ("row", sa.Text))

    def of_row() -> list[sa.Column[object]]:
        return [sa.Column(name, kind, primary_key=True) for name, kind in row]

    def key(table: str) -> sa.Column[object]:
        return sa.Column(table, sa.Integer, sa.ForeignKey(f"{table}.id"), primary_key=True, autoincrement=False)

    op.create_table("look", *of_row(), key("annotator"))
    op.create_table("mark", *of_row(), key("annotator"), key("tag"))
    op.create_table("note", *of_row(), key("annotator"), sa.Column("text", sa.Text, nullable=False))
    op.create_table("settled", *of_row(), key("tag"), sa.Column("given", sa.Boolean, nullable=False))
    op.create_table(
        "change",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("annotator", sa.Integer, sa.ForeignKey("annotator.id"), nullable=False),
        sa.Column("what", sa.String(20), nullable=False),
        *(sa.Column(name, kind) for name, kind in row),
        sa.Column("tag", sa.Integer),
        sa.Column("before", sa.Text),
        sa.Column("after", sa.Text),
        sa.Column("undoes", sa.Integer, sa.ForeignKey("change.id")),
    )
    op.create_index("change_of_row", "change", ["file", "row"])
