"""The lecturer's side of a room: rounds, moderation, the class's answers, and closing the room."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Engine

from core.desk.database import empty_log, reading, writing
from core.json_types import JsonObject
from core.rooms.phones import titles_of
from core.rooms.room import (
    AGREED,
    CHECKING,
    DISPUTED,
    GUESS,
    REMOVED,
    RIGHT,
    NoRoom,
    Room,
    Round,
    Sent,
    checksum,
    counts_of,
    current_round,
    delete_room,
    find_room,
    rounds,
    sent_pairs,
)
from core.rooms.tables import check, guess, pair, participant, room, round_
from core.spreadsheet import csv_text
from core.wording import counted

HEADER = (
    "round", "kind", "by", "sentence1", "sentence2", "asked", "label", "guess", "model", "verdict", "probability",
    "status", "checks", "result",
)  # fmt: skip


@dataclass(frozen=True)
class Overview:
    """The state of a room for the lecturer's page. ``names``: participants' names by number, "phone 3" for one without
    a nickname; ``counts``: answers in the current guessing round; ``answered``: number of phones that answered;
    ``pairs``: pairs of the current round and agreed pairs of earlier rounds, without removed ones, oldest first."""

    room: Room
    round: Round | None
    names: dict[int, str]
    muted: frozenset[int]
    counts: dict[str, int]
    answered: int
    pairs: list[Sent]

    def of_round(self) -> list[Sent]:
        """The pairs of the current round."""
        return [one for one in self.pairs if self.round is not None and one.round == self.round.id]


class Lecturer:
    """What a lecturer can do in the room that they opened. ``secret``: their browser's secret, or their login. All
    methods raise NoRoom if the lecturer has no open room with this code, and DeskError if the database cannot be
    used."""

    def __init__(self, engine: Engine, code: str, secret: str) -> None:
        found = find_room(engine, code)
        if found.lecturer != checksum(secret):
            raise NoRoom
        self._engine, self.id, self.code = engine, found.id, found.code

    # --- what the page shows ---

    def model(self) -> str:
        """The name of the model of the next round."""
        return find_room(self._engine, self.code).model

    def closed(self) -> bool:
        """Whether the room is closed for phones."""
        return find_room(self._engine, self.code).closed

    def overview(self) -> Overview:
        """The room as it is now."""
        found = find_room(self._engine, self.code)
        with reading(self._engine) as connection:
            asked = current_round(connection, self.id)
            columns = participant.c.id, participant.c.nickname, participant.c.muted
            joined = sa.select(*columns).where(participant.c.room == self.id, participant.c.joined)
            phones = list(connection.execute(joined.order_by(participant.c.id)))
            here = sa.or_(pair.c.round == (asked.id if asked else 0), pair.c.status == AGREED)
            sent = sent_pairs(connection, pair.c.room == self.id, pair.c.status != REMOVED, here)
            counts = counts_of(connection, asked) if asked is not None else {}
            guesses = sa.select(sa.func.count()).where(guess.c.round == (asked.id if asked else 0))
            answered = int(connection.scalar(guesses) or 0)
        names = {number: name or f"phone {place}" for place, (number, name, _) in enumerate(phones, start=1)}
        muted = frozenset(number for number, _, muted in phones if muted)
        return Overview(found, asked, names, muted, counts, answered, sent)

    # --- rounds ---

    def start(self, kind: str, model: str, question: JsonObject, answer: JsonObject) -> Round:
        """Starts a round, which ends the previous one."""
        values = {"question": json.dumps(question), "answer": json.dumps(answer), "hands": "{}", "result": "null"}
        with writing(self._engine) as connection:
            connection.execute(sa.insert(round_).values(room=self.id, kind=kind, model=model, revealed=False, **values))
            started = current_round(connection, self.id)
        assert started is not None
        return started

    def reveal(self, asked: int, revealed: bool = True) -> None:
        """Reveals the answer of a round of guessing, or hides it again."""
        self._change_round(asked, revealed=revealed)

    def count_hands(self, asked: int, hands: dict[str, int]) -> None:
        """Stores the number of raised hands for each answer."""
        self._change_round(asked, hands=json.dumps({value: count for value, count in hands.items() if count > 0}))

    def set_result(self, asked: int, result: JsonObject) -> None:
        """Stores the result of teaching."""
        self._change_round(asked, result=json.dumps(result))

    def use_model(self, model: str) -> None:
        """Sets the model for later rounds."""
        with writing(self._engine) as connection:
            connection.execute(sa.update(room).where(room.c.id == self.id).values(model=model))

    # --- pairs and people ---

    def let_through(self, numbers: Iterable[int], shown: bool = True) -> None:
        """Shows pairs on the projector, or hides them again."""
        with writing(self._engine) as connection:
            these = pair.c.room == self.id, pair.c.id.in_([*numbers])
            connection.execute(sa.update(pair).where(*these).values(shown=shown))

    def remove(self, numbers: Iterable[int]) -> None:
        """Removes pairs, so that they are neither shown nor checked any more."""
        self._set_status(numbers, REMOVED, (RIGHT, CHECKING, AGREED, DISPUTED))

    def decide(self, numbers: Iterable[int], agreed: bool) -> None:
        """Decides, instead of classmates, whether the labels of pairs that fool the model are right."""
        self._set_status(numbers, AGREED if agreed else DISPUTED, (CHECKING, AGREED, DISPUTED))

    def _set_status(self, numbers: Iterable[int], status: str, before: Sequence[str]) -> None:
        with writing(self._engine) as connection:
            these = pair.c.room == self.id, pair.c.id.in_([*numbers]), pair.c.status.in_(before)
            connection.execute(sa.update(pair).where(*these).values(status=status))

    def mute(self, number: int, muted: bool = True) -> None:
        """Mutes or unmutes a phone. A muted phone cannot send anything, and its pairs that were not let through yet are
        removed."""
        with writing(self._engine) as connection:
            this = participant.c.room == self.id, participant.c.id == number
            connection.execute(sa.update(participant).where(*this).values(muted=muted))
            if muted:
                sent = pair.c.room == self.id, pair.c.author == number, ~pair.c.shown
                connection.execute(sa.update(pair).where(*sent).values(status=REMOVED))

    def add(self, asked: Round, texts: Sequence[str], label: str, verdict: str, chance: float) -> None:
        """Adds the lecturer's own pair, or one that a student called out: it is shown at once, and its label counts as
        right."""
        first, second = texts
        values = {"first": first, "second": second, "label": label, "verdict": verdict, "chance": chance}
        status = RIGHT if verdict == label else AGREED
        with writing(self._engine) as connection:
            of_round = {"room": self.id, "round": asked.id, "author": None, "status": status, "shown": True}
            connection.execute(sa.insert(pair).values(**values, **of_round, sentence="", sent=0.0))

    # --- the end ---

    def close(self) -> None:
        """Closes the room for phones; its data stay until they are deleted."""
        with writing(self._engine) as connection:
            connection.execute(sa.update(room).where(room.c.id == self.id).values(closed=True))

    def delete(self) -> list[Round]:
        """Deletes the room with everything in it, and returns its rounds."""
        with writing(self._engine) as connection:
            found = rounds(connection, self.id)
            delete_room(connection, self.id)
        empty_log(self._engine)
        return found

    def to_csv(self) -> str:
        """All data of the room as a CSV file: one line per pair, guess and result of teaching. Removed pairs are left
        out."""
        seen, checks = self.overview(), defaultdict[int, list[str]](list)
        with reading(self._engine) as connection:
            asked = rounds(connection, self.id)
            given = list(connection.execute(sa.select(guess).where(guess.c.round.in_([one.id for one in asked]))))
            pairs = sent_pairs(connection, pair.c.room == self.id, pair.c.status != REMOVED)
            labels = sa.select(check.c.pair, check.c.label).join(pair, pair.c.id == check.c.pair)
            of_room = pair.c.room == self.id, check.c.label.is_not(None)
            for number, label in connection.execute(labels.where(*of_room).order_by(check.c.asked)):
                checks[number].append(label or "not sure")
        lines = list[JsonObject]()
        for place, one in enumerate(asked, start=1):
            start = {"round": place, "kind": one.kind, "model": one.model}
            if one.kind == GUESS:
                said = [(seen.names.get(by, ""), value) for number, by, value in given if number == one.id]
                said += [(f"{count} raised hands", value) for value, count in one.hands.items()]
                lines += [start | _guess_line(one, by, value) for by, value in said]
            lines += [start | _pair_line(sent, seen.names, checks[sent.id]) for sent in pairs if sent.round == one.id]
            if one.result:
                lines.append(start | {"result": _what_was_taught(one.result)})
        return csv_text(HEADER, [[line.get(name, "") for name in HEADER] for line in lines])

    def _change_round(self, asked: int, **values: object) -> None:
        with writing(self._engine) as connection:
            this = round_.c.room == self.id, round_.c.id == asked
            connection.execute(sa.update(round_).where(*this).values(**values))


def _guess_line(asked: Round, by: str, value: str) -> JsonObject:
    """A guess in the file: a class by its name, a word as written."""
    word, verdict = asked.question["word"], asked.answer["value"]
    if word is not None:
        value, verdict = (titles_of(asked).get(name, name) for name in (value, verdict))
    return {
        "by": by, "sentence1": asked.question["first"], "sentence2": asked.question["second"], "guess": value,
        "asked": "" if word is None else word["tokens"][word["side"]][word["index"]],
        "label": asked.answer.get("people", ""), "verdict": verdict, "probability": asked.answer.get("chance", ""),
    }  # fmt: skip


def _what_was_taught(result: JsonObject) -> str:
    right = f"{result['before']} of {result['held_back']} held-back pairs right before, {result['after']} after"
    return f"{right} {counted(result['taught'], 'pair')}. {result['suites']}".rstrip()


def _pair_line(sent: Sent, names: dict[int, str], checks: Sequence[str]) -> JsonObject:
    """A pair in the file."""
    return {
        "by": "lecturer" if sent.author is None else names.get(sent.author, ""),
        "sentence1": sent.first, "sentence2": sent.second, "label": sent.label, "verdict": sent.verdict,
        "probability": round(sent.chance, 4), "status": sent.status, "checks": "; ".join(checks),
    }  # fmt: skip
