"""Rooms and their rounds, as stored in the database."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, RowMapping

from core.desk.database import empty_log, reading, writing
from core.errors import UserError
from core.json_types import JsonObject
from core.rooms.tables import CODE, check, guess, pair, participant, room, round_

LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
"""Letters and digits of a code, without ones that are easily confused."""
SECONDS = 24 * 3600
"""Seconds for which a room is kept at most."""
LONGEST_TEXT = 300
"""Length limit in characters of a text that a phone sends."""
GUESS, BREAK, TEACH = "guess", "break", "teach"
"""The kinds of rounds."""
RIGHT, CHECKING, AGREED, DISPUTED, REMOVED = "right", "checking", "agreed", "disputed", "removed"
"""States of a pair: the model agrees with the author; classmates check it; they agree with the author; they do not; the
lecturer removed it."""


class RoomError(UserError):
    """The room rejects a request of a phone or its lecturer; one sentence."""


class NoRoom(RoomError):
    """No open room has this code."""

    def __init__(self) -> None:
        super().__init__("no room has this code, or it is closed: check the code on the screen")


class TooFast(RoomError):
    """A phone sends faster than allowed; ``wait``: seconds after which it may send again."""

    def __init__(self, sentence: str, wait: float) -> None:
        super().__init__(sentence)
        self.wait = wait


@dataclass(frozen=True)
class Room:
    """A room. ``model``: the name of the checkpoint; ``word``: checksum of its password, or empty;
    ``opened``: seconds since 1970."""

    id: int
    code: str
    lecturer: str
    model: str
    word: str
    opened: float
    closed: bool

    @property
    def shown(self) -> str:
        """The code with a hyphen, as shown on screen."""
        return f"{self.code[:4]}-{self.code[4:]}"


@dataclass(frozen=True)
class Round:
    """A round. ``question``: the data that phones show (roles, texts, classes, and the word asked about); ``answer``:
    the model's answer with its probability, and the gold label; ``hands``: raised hands, counted by the lecturer, by
    answer; ``result``: the result of teaching, None until then."""

    id: int
    room: int
    kind: str
    model: str
    question: JsonObject
    answer: JsonObject
    hands: dict[str, int]
    revealed: bool
    result: JsonObject | None


@dataclass(frozen=True)
class Sent:
    """A pair that a phone, or the lecturer (``author`` None), sent. ``chance``: the model's probability of its
    ``verdict``; ``shown``: whether the lecturer let it through."""

    id: int
    round: int
    author: int | None
    first: str
    second: str
    label: str
    verdict: str
    chance: float
    sentence: str
    status: str
    shown: bool

    @property
    def fooled(self) -> bool:
        """Whether the model's verdict differs from the author's label."""
        return self.verdict != self.label


def checksum(*parts: str) -> str:
    """A checksum of a token or a password, which is not stored itself."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def code_in(text: str) -> str:
    """The code in typed text, in any case and with any hyphens. Raises NoRoom if it cannot be a code."""
    code = re.sub(r"[\s-]", "", text).upper()
    if len(code) != CODE or set(code) - set(LETTERS):
        raise NoRoom
    return code


def open_room(engine: Engine, lecturer: str, model: str, word: str = "", now: Callable[[], float] = time.time) -> Room:
    """Opens a room for a lecturer, given by their browser's secret or their login, with an optional password ``word``.
    Deletes rooms that are more than a day old."""
    delete_old(engine, now)
    code = "".join(secrets.choice(LETTERS) for _ in range(CODE))
    protected = checksum(code, word.strip().casefold()) if word.strip() else ""
    values = {"code": code, "lecturer": checksum(lecturer), "model": model, "word": protected, "opened": now()}
    with writing(engine) as connection:
        connection.execute(sa.insert(room).values(**values, closed=False))
    return find_room(engine, code)


def find_room(engine: Engine, code: str) -> Room:
    """The room with this code, open or closed. Raises NoRoom."""
    with reading(engine) as connection:
        found = connection.execute(sa.select(room).where(room.c.code == code_in(code))).mappings().one_or_none()
    if found is None:
        raise NoRoom
    return Room(**found)


def rooms_of(engine: Engine, lecturer: str) -> list[Room]:
    """The rooms that a lecturer opened, the newest first."""
    query = sa.select(room).where(room.c.lecturer == checksum(lecturer)).order_by(room.c.id.desc())
    with reading(engine) as connection:
        return [Room(**found) for found in connection.execute(query).mappings()]


def rounds(connection: Connection, room_id: int) -> list[Round]:
    """A room's rounds, the current one last."""
    query = sa.select(round_).where(round_.c.room == room_id).order_by(round_.c.id)
    return [round_of(found) for found in connection.execute(query).mappings()]


def current_round(connection: Connection, room_id: int) -> Round | None:
    """A room's current round."""
    query = sa.select(round_).where(round_.c.room == room_id).order_by(round_.c.id.desc()).limit(1)
    found = connection.execute(query).mappings().one_or_none()
    return None if found is None else round_of(found)


def round_of(found: RowMapping) -> Round:
    """A round from its row."""
    values = {**found}
    for name in ("question", "answer", "hands", "result"):
        values[name] = json.loads(values[name])
    return Round(**values)


def sent_pairs(connection: Connection, *conditions: sa.ColumnElement[bool]) -> list[Sent]:
    """The pairs that fulfil the conditions, oldest first."""
    columns = [pair.c[name] for name in Sent.__dataclass_fields__]
    query = sa.select(*columns).where(*conditions).order_by(pair.c.id)
    return [Sent(*found) for found in connection.execute(query)]


def equal_pairs(pairs: Iterable[Sent]) -> list[list[Sent]]:
    """The pairs in groups of equal texts and labels, in the order of the first of each."""
    groups: dict[tuple[str, str, str], list[Sent]] = {}
    for one in pairs:
        groups.setdefault((one.first, one.second, one.label), []).append(one)
    return [*groups.values()]


def counts_of(connection: Connection, asked: Round) -> dict[str, int]:
    """How often each answer was given in a round: by phones, and by raised hands."""
    query = sa.select(guess.c.value, sa.func.count()).where(guess.c.round == asked.id).group_by(guess.c.value)
    found = {value: int(count) for value, count in connection.execute(query)}
    for value, count in asked.hands.items():
        found[value] = found.get(value, 0) + count
    return found


def delete_room(connection: Connection, room_id: int) -> None:
    """Deletes everything of a room."""
    of_room = sa.select(pair.c.id).where(pair.c.room == room_id)
    asked = sa.select(round_.c.id).where(round_.c.room == room_id)
    connection.execute(sa.delete(check).where(check.c.pair.in_(of_room)))
    connection.execute(sa.delete(pair).where(pair.c.room == room_id))
    connection.execute(sa.delete(guess).where(guess.c.round.in_(asked)))
    for table in (round_, participant):
        connection.execute(sa.delete(table).where(table.c.room == room_id))
    connection.execute(sa.delete(room).where(room.c.id == room_id))


def delete_old(engine: Engine, now: Callable[[], float] = time.time) -> list[int]:
    """Deletes the rooms that were opened more than a day ago, and returns their numbers."""
    old = sa.select(room.c.id).where(room.c.opened < now() - SECONDS)
    with reading(engine) as connection:
        found = list(connection.scalars(old))
    if found:
        with writing(engine) as connection:
            for number in found:
                delete_room(connection, number)
        empty_log(engine)
    return found
