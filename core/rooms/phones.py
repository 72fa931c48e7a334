"""Phones in a room: their actions (join, guess, send pairs, check classmates' pairs) and the state that they show.

Phones poll every two seconds. The state that all phones of a room share is read at most twice a second.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from core.desk.database import reading, writing
from core.desk.schema import clean
from core.json_types import JsonObject
from core.rooms.room import (
    AGREED,
    BREAK,
    CHECKING,
    DISPUTED,
    GUESS,
    LONGEST_TEXT,
    RIGHT,
    NoRoom,
    Room,
    RoomError,
    Round,
    Sent,
    TooFast,
    checksum,
    code_in,
    counts_of,
    current_round,
    equal_pairs,
    find_room,
    sent_pairs,
)
from core.rooms.tables import LONGEST_NICKNAME, check, guess, pair, participant

MOST_PARTICIPANTS = 400
MOST_TRIES = 20
"""Number of wrong passwords that a phone may try."""
MOST_PAIRS = 10
"""Pairs that a phone may send in a minute; :data:`MOST_OF_ROOM` limits a room's pairs."""
MOST_OF_ROOM = 20_000
LISTED = 10
"""Number of its own pairs that a phone shows."""
CHECKS = 2
"""Number of classmates who must agree with the author."""
MOST_WAITING = 400
"""Number of unchecked pairs that are read at once: enough for all phones."""
PATIENCE = 60.0
"""Seconds after which a pair that was sent to a classmate is sent to another one."""
SHOWN_RESULT = ("taught", "held_back", "before", "after", "suites")
FRESH = 0.5
"""Seconds for which the state that all phones of a room share is cached."""


@dataclass(frozen=True)
class Participant:
    """A phone in a room, by its number there."""

    id: int
    nickname: str
    joined: bool
    muted: bool
    tries: int


@dataclass
class _Waiting:
    """A pair that classmates check: the phones that sent it, with any label, and the number of checks that are sure or
    pending."""

    sent: Sent
    authors: set[int | None]
    busy: int


@dataclass(frozen=True)
class _Shared:
    """The state that all phones of a room share, and the pairs to check, oldest first."""

    room: Room
    round: Round | None
    revealed: JsonObject | None
    waiting: list[_Waiting]
    read: float


class Phones:
    """The phones' side of all rooms in a database. Its methods raise NoRoom for a code without an open room, other
    RoomErrors with one sentence, and DeskError if the database cannot be used. ``clock``: for this process alone;
    ``now``: the time, by all servers."""

    def __init__(
        self, engine: Engine, clock: Callable[[], float] = time.monotonic, now: Callable[[], float] = time.time
    ) -> None:
        self._engine, self._clock, self._now = engine, clock, now
        self._shared: dict[str, _Shared] = {}
        self._being_read = set[str]()
        self._lock = threading.Lock()

    # --- what a phone shows ---

    def state(self, code: str, token: str) -> JsonObject:
        """The state that a phone shows."""
        shared = self._of(code)
        room, asked = shared.room, shared.round
        with reading(self._engine) as connection:
            me = _participant(connection, room, token)
            if me is None or not me.joined:
                return {"room": room.shown, "phase": "join", "needs_word": bool(room.word)}
            shown: JsonObject = {"room": room.shown, "phase": "open", "nickname": me.nickname, "muted": me.muted}
            if asked is None:
                return shown | {"round": None}
            own = self._own(connection, shared, asked, me)
        if asked.kind == BREAK and own["check"] is None and not me.muted:
            own["check"] = self._next_check(shared, me)
        return shown | {"round": {"id": asked.id, "kind": asked.kind, **asked.question, **own}}

    def _own(self, connection: Connection, shared: _Shared, asked: Round, me: Participant) -> JsonObject:
        if asked.kind == GUESS:
            mine = sa.select(guess.c.value).where(guess.c.round == asked.id, guess.c.participant == me.id)
            return {"mine": connection.scalar(mine) or "", "revealed": shared.revealed}
        if asked.kind == BREAK:
            sent = sent_pairs(connection, pair.c.round == asked.id, pair.c.author == me.id)[: -LISTED - 1 : -1]
            return {"check": _open_check(connection, asked, me), "pairs": [shown_pair(one) for one in sent]}
        shown = asked.result and {name: asked.result[name] for name in SHOWN_RESULT if name in asked.result}
        return {"result": shown or None}

    def _of(self, code: str) -> _Shared:
        code = code_in(code)
        with self._lock:
            known = self._shared.get(code)
            # While one thread reads it again, the others answer from the cache.
            read = known is None or (self._clock() - known.read > FRESH and code not in self._being_read)
            if read:
                self._being_read.add(code)
        if known is None or read:
            try:
                known = self._read(code)
            finally:
                with self._lock:
                    self._being_read.discard(code)
        if known.room.closed:
            raise NoRoom
        return known

    def _read(self, code: str) -> _Shared:
        """Reads the state that a room's phones share; forgets rooms that no phone polls any more."""
        read = self._clock()
        try:
            room = find_room(self._engine, code)
        except NoRoom:
            self._forget(code)
            raise
        with reading(self._engine) as connection:
            asked = current_round(connection, room.id)
            revealed = None
            if asked is not None and asked.kind == GUESS and asked.revealed:
                revealed = told(asked, counts_of(connection, asked))
            to_check = asked is not None and asked.kind == BREAK
            waiting = _waiting(connection, asked, self._now() - PATIENCE) if asked and to_check else []
        found = _Shared(room, asked, revealed, waiting, read)
        with self._lock:
            self._shared = {name: one for name, one in self._shared.items() if read - one.read < PATIENCE}
            self._shared[code] = found
        return found

    def _forget(self, code: str) -> None:
        with self._lock:
            self._shared.pop(code, None)

    # --- what a phone does ---

    def join(self, code: str, token: str, nickname: str = "", word: str = "") -> JsonObject:
        """Admits a phone. A phone cannot change its nickname, because the lecturer may have let pairs through under
        it."""
        room = self._of(code).room
        with writing(self._engine) as connection:
            me = _participant(connection, room, token)
            if me is None:
                count = sa.select(sa.func.count()).where(participant.c.room == room.id)
                if int(connection.scalar(count) or 0) >= MOST_PARTICIPANTS:
                    raise RoomError(f"{MOST_PARTICIPANTS} phones are in this room: ask the lecturer for another one")
                new = {"room": room.id, "token": checksum(room.code, token), "joined": False, "muted": False}
                connection.execute(sa.insert(participant).values(**new, nickname="", tries=0))
                me = _participant(connection, room, token)
            assert me is not None
            values: JsonObject = {"nickname": me.nickname if me.joined else one_name(nickname), "joined": True}
            if room.word and not me.joined:
                if me.tries >= MOST_TRIES:
                    raise RoomError("this phone has tried too many wrong passwords: join with another phone")
                if checksum(room.code, word.strip().casefold()) != room.word:
                    values = {"tries": me.tries + 1}
            connection.execute(sa.update(participant).where(participant.c.id == me.id).values(**values))
        if "joined" not in values:
            raise RoomError("wrong password: type the room’s password as the lecturer said it")
        return self.state(code, token)

    def guess(self, code: str, token: str, round_id: int, value: str) -> None:
        """Stores a phone's guess; until the answer is revealed, it replaces an earlier one."""
        room, asked, me = self._asked(code, token, round_id, GUESS)
        if value not in values_of(asked):
            raise RoomError("this is not one of the answers: choose one of them")
        with writing(self._engine) as connection:
            latest = current_round(connection, room.id)
            if latest is None or latest.id != asked.id or latest.revealed:
                raise RoomError("this round is over: the answer is on the screen")
            mine = guess.c.round == asked.id, guess.c.participant == me.id
            if not connection.execute(sa.update(guess).where(*mine).values(value=value)).rowcount:
                connection.execute(sa.insert(guess).values(round=asked.id, participant=me.id, value=value))

    def prepare(
        self, code: str, token: str, round_id: int, first: str, second: str, label: str
    ) -> tuple[Round, Participant, Sent | None]:
        """Checks a pair that a phone sends, before the model reads it: its round and author, and the pair itself if
        this phone has sent it before (spaces are ignored). Raises TooFast if the phone has sent too many."""
        room, asked, me = self._asked(code, token, round_id, BREAK)
        first, second = one_line(first), one_line(second)
        if label not in {one["name"] for one in asked.question["classes"]}:
            raise RoomError("this is none of the classes: choose the one that is right")
        for text in (first, second):
            if len(text) > LONGEST_TEXT:
                raise RoomError(f"a text has {len(text):,} characters; at most {LONGEST_TEXT} are allowed: shorten it")
        with reading(self._engine) as connection:
            own = pair.c.author == me.id
            same = sent_pairs(connection, own, *_same(asked.id, first, second, label))
            if same:
                return asked, me, same[0]
            minute = sa.select(pair.c.sent).where(own, pair.c.sent > self._now() - 60).order_by(pair.c.sent)
            latest = list(connection.scalars(minute))
            if len(latest) >= MOST_PAIRS:
                wait = max(1.0, latest[-MOST_PAIRS] + 60 - self._now())
                raise TooFast(f"at most {MOST_PAIRS} pairs a minute are allowed: wait {wait:.0f} s", wait)
            of_room = sa.select(sa.func.count()).where(pair.c.room == room.id)
            if int(connection.scalar(of_room) or 0) >= MOST_OF_ROOM:
                raise RoomError(f"this room has {MOST_OF_ROOM:,} pairs, and takes no more")
        return asked, me, None

    def keep(
        self, asked: Round, me: Participant, texts: Sequence[str], label: str, verdict: str, chance: float
    ) -> Sent:
        """Stores a pair with the model's verdict. One that fools the model goes to classmates, once for all phones that
        send it with this label."""
        first, second = map(one_line, texts)
        status = RIGHT if verdict == label else CHECKING
        known = {"room": asked.room, "round": asked.id, "author": me.id, "first": first, "second": second}
        values = {**known, "label": label, "verdict": verdict, "chance": chance, "status": status}
        with writing(self._engine) as connection:
            if status == CHECKING:
                decided = sa.select(pair.c.status).where(*_same(asked.id, first, second, label)).order_by(pair.c.id)
                values["status"] = connection.scalar(decided.limit(1)) or CHECKING
            new = sa.insert(pair).values(**values, sentence="", shown=False, sent=self._now()).returning(pair.c.id)
            (sent,) = sent_pairs(connection, pair.c.id == connection.execute(new).scalar_one())
        return sent

    def own_pair(self, code: str, token: str, pair_id: int) -> tuple[Round, Sent]:
        """A phone's own pair, and its round."""
        room, me = self._me(code, token)
        with reading(self._engine) as connection:
            found = sent_pairs(connection, pair.c.id == pair_id, pair.c.room == room.id, pair.c.author == me.id)
            asked = self._of(code).round
        if not found or asked is None or found[0].round != asked.id:
            raise RoomError("this pair is not in this round")
        return asked, found[0]

    def explain(self, sent: Sent, sentence: str) -> None:
        """Stores the sentence about a pair."""
        with writing(self._engine) as connection:
            connection.execute(sa.update(pair).where(pair.c.id == sent.id).values(sentence=sentence))

    def check(self, code: str, token: str, pair_id: int, label: str) -> None:
        """Stores a classmate's label of a pair; "unsure" for none."""
        room, me = self._me(code, token)
        with writing(self._engine) as connection:
            mine = check.c.pair == pair_id, check.c.participant == me.id
            if connection.scalar(sa.select(check.c.pair).where(*mine, check.c.label.is_(None))) is None:
                raise RoomError("this pair is no longer to be checked")
            (sent,) = sent_pairs(connection, pair.c.id == pair_id, pair.c.room == room.id)
            asked = current_round(connection, room.id)
            classes = {one["name"] for one in asked.question["classes"]} if asked is not None else set()
            if label != "unsure" and label not in classes:
                raise RoomError("this is none of the classes: choose the one that is right")
            given = sa.update(check).where(*mine).values(label="" if label == "unsure" else label)
            connection.execute(given)
            settle(connection, sent)

    # --- helpers ---

    def _me(self, code: str, token: str) -> tuple[Room, Participant]:
        room = self._of(code).room
        with reading(self._engine) as connection:
            me = _participant(connection, room, token)
        if me is None or not me.joined:
            raise RoomError("this phone has not joined the room: load the page again")
        if me.muted:
            raise RoomError("the lecturer has muted this phone")
        return room, me

    def _asked(self, code: str, token: str, round_id: int, kind: str) -> tuple[Room, Round, Participant]:
        room, me = self._me(code, token)
        asked = self._of(code).round
        if asked is None or asked.id != round_id:  # the round may be newer than what was last read
            asked = self._read(room.code).round
        if asked is None or asked.id != round_id or asked.kind != kind:
            raise RoomError("this round is over: wait for the next one")
        return room, asked, me

    def _next_check(self, shared: _Shared, me: Participant) -> JsonObject | None:
        """Gives the phone the oldest of its classmates' pairs that needs a check and that it has not checked."""
        if not any(one.busy < CHECKS and me.id not in one.authors for one in shared.waiting):
            return None
        with reading(self._engine) as connection:
            given = {*connection.scalars(sa.select(check.c.pair).where(check.c.participant == me.id))}
        for one in shared.waiting:
            if one.sent.id in given or me.id in one.authors:
                continue
            with self._lock:
                if one.busy >= CHECKS:
                    continue
                one.busy += 1
            if self._ask_to_check(one.sent, me):
                return {"pair": one.sent.id, "first": one.sent.first, "second": one.sent.second}
        return None

    def _ask_to_check(self, sent: Sent, me: Participant) -> bool:
        """Asks the phone to check a pair, unless it is decided, or enough others were asked, perhaps by another
        server."""
        now = self._now()
        with writing(self._engine) as connection:
            counted = check.c.pair == sent.id, _still_counts(now - PATIENCE)
            busy = connection.scalar(sa.select(sa.func.count()).select_from(check).where(*counted)) or 0
            status = connection.scalar(sa.select(pair.c.status).where(pair.c.id == sent.id))
            if busy >= CHECKS or status != CHECKING:
                return False
            connection.execute(sa.insert(check).values(pair=sent.id, participant=me.id, asked=now, label=None))
        return True


def shown_pair(sent: Sent) -> JsonObject:
    """A pair as its author's phone shows it."""
    names = ("id", "first", "second", "label", "verdict", "chance", "fooled", "sentence", "status")
    return {name: getattr(sent, name) for name in names}


def values_of(asked: Round) -> list[str]:
    """The answers that can be given in a round of guessing: classes, or positions of words."""
    word = asked.question.get("word")
    if word is None:
        return [one["name"] for one in asked.question["classes"]]
    return [str(index) for index in range(len(word["tokens"][1 - word["side"]]))]


def titles_of(asked: Round) -> dict[str, str]:
    """The display names of a round's answers; repeated words get their position in the text."""
    word = asked.question.get("word")
    if word is None:
        return {one["name"]: one["title"] for one in asked.question["classes"]}
    tokens = word["tokens"][1 - word["side"]]
    often = Counter[str](tokens)
    named = [f"{token} (word {place})" if often[token] > 1 else token for place, token in enumerate(tokens, start=1)]
    return {str(index): name for index, name in enumerate(named)}


def told(asked: Round, counts: dict[str, int]) -> JsonObject:
    """The result revealed after a round of guessing: all classes, or the words that were named."""
    titles, answer = titles_of(asked), str(asked.answer["value"])
    named = [one for one in titles if "word" not in asked.question or not asked.question["word"] or counts.get(one)]
    listed = [one for one in titles if one in named or one == answer]
    people = str(asked.answer.get("people") or "")
    bars = [{"value": one, "title": titles[one], "count": counts.get(one, 0)} for one in listed]
    return {"counts": bars, "answer": answer, "chance": asked.answer.get("chance"), "people": people}


def settle(connection: Connection, sent: Sent) -> None:
    """Decides a pair after a check: as soon as a classmate gives another label it is disputed."""
    query = sa.select(check.c.label).where(check.c.pair == sent.id, check.c.label.is_not(None), check.c.label != "")
    labels = list(connection.scalars(query))
    status = DISPUTED if any(label != sent.label for label in labels) else AGREED if len(labels) >= CHECKS else ""
    if status and sent.status == CHECKING:
        same = _same(sent.round, sent.first, sent.second, sent.label)
        connection.execute(sa.update(pair).where(*same, pair.c.status == CHECKING).values(status=status))


def one_name(text: str) -> str:
    """A nickname on one line, without invisible characters: one that changes the writing direction would affect the
    whole line in which it is shown."""
    return clean("".join(filter(str.isprintable, one_line(text))), LONGEST_NICKNAME)


def one_line(text: str) -> str:
    """A text without outer spaces, line breaks and repeated spaces."""
    return " ".join(text.split())


def _same(asked: int, first: str, second: str, label: str) -> tuple[sa.ColumnElement[bool], ...]:
    """The pairs of a round with these texts and this label."""
    return pair.c.round == asked, pair.c.first == first, pair.c.second == second, pair.c.label == label


def _participant(connection: Connection, room: Room, token: str) -> Participant | None:
    columns = [participant.c[name] for name in Participant.__dataclass_fields__]
    mine = participant.c.room == room.id, participant.c.token == checksum(room.code, token)
    found = connection.execute(sa.select(*columns).where(*mine)).one_or_none()
    return None if found is None else Participant(*found)


def _asked_about(sent: Sent) -> JsonObject:
    return {"pair": sent.id, "first": sent.first, "second": sent.second}


def _open_check(connection: Connection, asked: Round, me: Participant) -> JsonObject | None:
    """The pair that a phone was asked to check, if the check is still needed."""
    mine = check.c.participant == me.id, check.c.label.is_(None)
    given = sa.select(check.c.pair).where(*mine)
    found = sent_pairs(connection, pair.c.round == asked.id, pair.c.status == CHECKING, pair.c.id.in_(given))
    return _asked_about(found[0]) if found else None


def _waiting(connection: Connection, asked: Round, late: float) -> list[_Waiting]:
    """The pairs that classmates may have to check, oldest first, equal ones once."""
    sent = sent_pairs(connection, pair.c.round == asked.id, pair.c.status == CHECKING)
    same = equal_pairs(sent)[:MOST_WAITING]
    counts = sa.select(check.c.pair, sa.func.count()).group_by(check.c.pair)
    busy = dict[int, int](
        (number, count)
        for number, count in connection.execute(
            counts.where(check.c.pair.in_([group[0].id for group in same]), _still_counts(late))
        )
    )
    authors = defaultdict[tuple[str, str], set[int | None]](set[int | None])
    for one in sent:
        authors[one.first, one.second].add(one.author)
    return [_Waiting(group[0], authors[group[0].first, group[0].second], busy.get(group[0].id, 0)) for group in same]


def _still_counts(late: float) -> sa.ColumnElement[bool]:
    """The checks that have a sure label or are pending."""
    return sa.or_(check.c.label != "", sa.and_(check.c.label.is_(None), check.c.asked > late))
