"""The tables of rooms for a class (:mod:`core.rooms.tables`)."""

import sqlalchemy as sa
from alembic import op

revision = "rooms"
down_revision = "0.2.0"


def upgrade() -> None:
    op.create_table(
        "room",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("code", sa.String(8), nullable=False),
        sa.Column("lecturer", sa.String(64), nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("word", sa.String(64), nullable=False),
        sa.Column("opened", sa.Float, nullable=False),
        sa.Column("closed", sa.Boolean, nullable=False),
        sa.UniqueConstraint("code", name="room_code"),
    )
    op.create_table(
        "room_participant",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("room", sa.Integer, sa.ForeignKey("room.id"), nullable=False),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("nickname", sa.String(30), nullable=False),
        sa.Column("joined", sa.Boolean, nullable=False),
        sa.Column("muted", sa.Boolean, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.UniqueConstraint("room", "token", name="room_participant_token"),
    )
    op.create_table(
        "room_round",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("room", sa.Integer, sa.ForeignKey("room.id"), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("hands", sa.Text, nullable=False),
        sa.Column("revealed", sa.Boolean, nullable=False),
        sa.Column("result", sa.Text, nullable=False),
    )
    op.create_index("room_round_of_room", "room_round", ["room"])
    op.create_table(
        "room_guess",
        sa.Column("round", sa.Integer, sa.ForeignKey("room_round.id"), primary_key=True),
        sa.Column("participant", sa.Integer, sa.ForeignKey("room_participant.id"), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "room_pair",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("room", sa.Integer, sa.ForeignKey("room.id"), nullable=False),
        sa.Column("round", sa.Integer, sa.ForeignKey("room_round.id"), nullable=False),
        sa.Column("author", sa.Integer, sa.ForeignKey("room_participant.id")),
        sa.Column("first", sa.Text, nullable=False),
        sa.Column("second", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("chance", sa.Float, nullable=False),
        sa.Column("sentence", sa.Text, nullable=False),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("shown", sa.Boolean, nullable=False),
        sa.Column("sent", sa.Float, nullable=False),
    )
    op.create_index("room_pair_of_author", "room_pair", ["author", "sent"])
    op.create_index("room_pair_of_room", "room_pair", ["room", "status"])
    op.create_index("room_pair_of_round", "room_pair", ["round", "first"])
    op.create_table(
        "room_check",
        sa.Column("pair", sa.Integer, sa.ForeignKey("room_pair.id"), primary_key=True),
        sa.Column("participant", sa.Integer, sa.ForeignKey("room_participant.id"), primary_key=True),
        sa.Column("asked", sa.Float, nullable=False),
        sa.Column("label", sa.Text),
    )
    op.create_index("room_check_of_participant", "room_check", ["participant"])
