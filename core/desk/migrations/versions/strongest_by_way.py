"""The word with the largest effect of each row by the way of taking words away; those of before were dropped."""

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"

OLD = ("file", "row", "checkpoint", "word", "side")


def upgrade() -> None:
    _made_anew(sa.Column("way", sa.String(20), primary_key=True), into=", way", value=", 'dropped'")


def downgrade() -> None:
    op.execute("DELETE FROM strongest_word WHERE way <> 'dropped'")
    _made_anew()


def _made_anew(*more: sa.Column[str], into: str = "", value: str = "") -> None:
    """The table with another primary key, which SQLite cannot change of one that is there."""
    op.create_table(
        "strongest_word_anew",
        sa.Column("file", sa.String(64), primary_key=True),
        sa.Column("row", sa.Text, primary_key=True),
        sa.Column("checkpoint", sa.String(64), primary_key=True),
        *more,
        sa.Column("word", sa.Text, nullable=False),
        sa.Column("side", sa.String(80), nullable=False),
    )
    names = ", ".join(f'"{name}"' for name in OLD)  # "row" is a word of SQL
    op.execute(f"INSERT INTO strongest_word_anew ({names}{into}) SELECT {names}{value} FROM strongest_word")
    op.drop_table("strongest_word")
    op.rename_table("strongest_word_anew", "strongest_word")
