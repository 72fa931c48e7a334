"""The word of each row with the largest effect, by method of removing words. Until now the method was dropping."""

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"

OLD = ("file", "row", "checkpoint", "word", "side")


def upgrade() -> None:
    # SQLite cannot change the primary key of a table that is there.
    op.create_table(
        "strongest_word_anew",
        sa.Column("file", sa.String(64), primary_key=True),
        sa.Column("row", sa.Text, primary_key=True),
        sa.Column("checkpoint", sa.String(64), primary_key=True),
        sa.Column("way", sa.String(20), primary_key=True),
        sa.Column("word", sa.Text, nullable=False),
        sa.Column("side", sa.String(80), nullable=False),
    )
    names = ", ".join(f'"{name}"' for name in OLD)  # "row" is a word of SQL
    op.execute(f"INSERT INTO strongest_word_anew ({names}, way) SELECT {names}, 'dropped' FROM strongest_word")
    op.drop_table("strongest_word")
    op.rename_table("strongest_word_anew", "strongest_word")
