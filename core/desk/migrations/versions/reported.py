"""The rows of a file that its report shows."""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    op.create_table(
        "reported",
        sa.Column("file", sa.String(64), primary_key=True),
        sa.Column("row", sa.Text, primary_key=True),
    )
