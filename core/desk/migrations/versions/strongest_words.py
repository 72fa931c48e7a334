"""The word with the largest effect of each row, by checkpoint."""

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    op.create_table(
        "strongest_word",
        sa.Column("file", sa.String(64), primary_key=True),
        sa.Column("row", sa.Text, primary_key=True),
        sa.Column("checkpoint", sa.String(64), primary_key=True),
        sa.Column("word", sa.Text, nullable=False),
        sa.Column("side", sa.String(80), nullable=False),
    )
