"""The tables of rooms, in the desk's database. Unlike the desk's log, their rows are altered, and deleted with the
room. Times are seconds since 1970, by the servers' clocks."""

from __future__ import annotations

import sqlalchemy as sa

from core.desk.schema import metadata

CODE = 8
LONGEST_NICKNAME = 30

room = sa.Table(
    "room",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("code", sa.String(CODE), nullable=False),
    sa.Column("lecturer", sa.String(64), nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("word", sa.String(64), nullable=False),
    sa.Column("opened", sa.Float, nullable=False),
    sa.Column("closed", sa.Boolean, nullable=False),
    sa.UniqueConstraint("code", name="room_code"),
)
"""``lecturer``: checksum of who opened it; ``model``: the name of the checkpoint; ``word``: checksum of the
room's password, or empty."""

participant = sa.Table(
    "room_participant",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("room", sa.Integer, sa.ForeignKey("room.id"), nullable=False),
    sa.Column("token", sa.String(64), nullable=False),
    sa.Column("nickname", sa.String(LONGEST_NICKNAME), nullable=False),
    sa.Column("joined", sa.Boolean, nullable=False),
    sa.Column("muted", sa.Boolean, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.UniqueConstraint("room", "token", name="room_participant_token"),
)
"""A phone. ``token``: checksum of the browser's token with the room's code; ``tries``: wrong passwords before it
``joined``."""

round_ = sa.Table(
    "room_round",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("room", sa.Integer, sa.ForeignKey("room.id"), nullable=False),
    sa.Column("kind", sa.String(10), nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
    sa.Column("hands", sa.Text, nullable=False),
    sa.Column("revealed", sa.Boolean, nullable=False),
    sa.Column("result", sa.Text, nullable=False),
    sa.Index("room_round_of_room", "room"),
)
"""A room's last round is the current one. As JSON: ``question``, the data that phones show; ``answer``, the model's
answer and the gold label; ``hands``, raised hands that the lecturer counted; ``result``, the result of a round of
teaching."""

guess = sa.Table(
    "room_guess",
    metadata,
    sa.Column("round", sa.Integer, sa.ForeignKey("room_round.id"), primary_key=True),
    sa.Column("participant", sa.Integer, sa.ForeignKey("room_participant.id"), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

pair = sa.Table(
    "room_pair",
    metadata,
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
    sa.Index("room_pair_of_author", "author", "sent"),
    sa.Index("room_pair_of_room", "room", "status"),
    sa.Index("room_pair_of_round", "round", "first"),
)
"""``author``: None for the lecturer's own; ``label``: the class that the author thinks is right; ``chance``: the
model's probability of its ``verdict``; ``shown``: whether the lecturer let it through."""

check = sa.Table(
    "room_check",
    metadata,
    sa.Column("pair", sa.Integer, sa.ForeignKey("room_pair.id"), primary_key=True),
    sa.Column("participant", sa.Integer, sa.ForeignKey("room_participant.id"), primary_key=True),
    sa.Column("asked", sa.Float, nullable=False),
    sa.Column("label", sa.Text),
    sa.Index("room_check_of_participant", "participant"),
)
"""A classmate's ``label`` of a pair: None until it is given, empty for "not sure"."""
