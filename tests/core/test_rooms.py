"""Rooms for a class: codes, rounds, checks by classmates, moderation, limits and privacy."""

import csv
import io
import json

import pytest
import sqlalchemy as sa

from core.desk.database import open_database
from core.rooms import tables
from core.rooms.lecturer import Lecturer
from core.rooms.phones import MOST_PAIRS, MOST_PARTICIPANTS, MOST_TRIES, PATIENCE, Phones
from core.rooms.room import (
    AGREED,
    CHECKING,
    DISPUTED,
    LETTERS,
    SECONDS,
    NoRoom,
    RoomError,
    TooFast,
    code_in,
    delete_old,
    equal_pairs,
    open_room,
    rooms_of,
)

CLASSES = [{"name": name, "title": name} for name in ("entailment", "neutral", "contradiction")]
QUESTION = {"roles": ["premise", "hypothesis"], "first": "a", "second": "b", "classes": CLASSES, "word": None}


class Time:
    """A clock that tests set."""

    now = 1_000_000.0

    def __call__(self):
        return self.now


class Class:
    """A room with its lecturer and phones, on servers of their own: each asks the database as if it were new."""

    def __init__(self, word=""):
        self.engine, self.time = open_database(), Time()
        self.room = open_room(self.engine, "lecturer's token", "some-model", word, self.time)
        self.code, self.lecturer = self.room.code, Lecturer(self.engine, self.room.code, "lecturer's token")

    @property
    def phones(self):
        return Phones(self.engine, now=self.time)

    def join(self, *tokens, word=""):
        for token in tokens:
            self.phones.join(self.code, token, token.title(), word)

    def start(self, kind="break", question=QUESTION, **answer):
        return self.lecturer.start(kind, "some-model", question, answer)

    def send(self, token, first, label="neutral", verdict="entailment", chance=0.9):
        asked = self.lecturer.overview().round
        found, me, known = self.phones.prepare(self.code, token, asked.id, first, "b", label)
        return known or self.phones.keep(found, me, (first, "b"), label, verdict, chance)

    def round(self, token):
        return self.phones.state(self.code, token)["round"]

    def checked(self, token):
        return (self.round(token)["check"] or {}).get("first")

    def check(self, token, label):
        self.phones.check(self.code, token, self.round(token)["check"]["pair"], label)

    def statuses(self):
        return {one.first: one.status for one in self.lecturer.overview().pairs}


@pytest.fixture
def room(database):
    return Class()


@pytest.fixture
def sqlite_room(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DB", f"sqlite:///{tmp_path / 'desk.sqlite3'}")
    return Class()


def test_a_room_is_found_by_its_code_alone_and_led_by_its_lecturer_alone(sqlite_room):
    room, code = sqlite_room, sqlite_room.code
    assert len(code) == 8 and {*code} <= {*LETTERS} and not {*"01ILOU"} & {*LETTERS}
    assert code_in(f" {code[:4].lower()}-{code[4:]} ") == code and len(LETTERS) ** len(code) > 5e11
    other = Class()
    for wrong in ("", "1234", "AAAAAAA0", code[::-1], "x" * 10_000, "AAAA\0AAA"):
        with pytest.raises(NoRoom):
            room.phones.state(wrong, "ada")
    for secret in ("", "somebody", room.room.lecturer):
        with pytest.raises(NoRoom):
            Lecturer(room.engine, code, secret)
    assert [one.code for one in rooms_of(room.engine, "lecturer's token")] == [other.code, code]
    assert rooms_of(room.engine, "somebody") == []


def test_a_guess_counts_until_it_is_revealed_and_is_hidden_before(room):
    room.join("ada", "bo", "cy")
    assert room.phones.state(room.code, "ada") == {
        "room": room.room.shown, "phase": "open", "nickname": "Ada", "muted": False, "round": None,
    }  # fmt: skip
    asked = room.start("guess", value="neutral", chance=0.8, people="entailment")
    for token, value in (("ada", "neutral"), ("bo", "neutral"), ("ada", "contradiction")):
        room.phones.guess(room.code, token, asked.id, value)
    with pytest.raises(RoomError, match="not one of the answers"):
        room.phones.guess(room.code, "bo", asked.id, "yes")
    assert room.round("ada") == {
        "id": asked.id, "kind": "guess", **QUESTION, "mine": "contradiction", "revealed": None,
    }  # fmt: skip
    assert "neutral" not in json.dumps(room.round("cy") | {"classes": None})
    room.lecturer.count_hands(asked.id, {"neutral": 4, "entailment": 0})
    seen = room.lecturer.overview()
    assert (seen.counts, seen.answered, [*seen.names.values()]) == (
        {"contradiction": 1, "neutral": 5},
        2,
        ["Ada", "Bo", "Cy"],
    )
    room.lecturer.reveal(asked.id)
    revealed = room.round("cy")["revealed"]
    assert [(bar["value"], bar["count"]) for bar in revealed.pop("counts")] == [
        ("entailment", 0), ("neutral", 5), ("contradiction", 1),
    ]  # fmt: skip
    assert revealed == {"answer": "neutral", "chance": 0.8, "people": "entailment"}
    for stale in (asked.id, asked.id + 1):
        with pytest.raises(RoomError, match="this round is over"):
            room.phones.guess(room.code, "cy", stale, "neutral")


def test_a_repeated_word_is_identified_by_its_text_and_position(sqlite_room):
    room = sqlite_room
    room.join("ada", "bo")
    tokens = [["The", "dog", "sees", "the", "cat", "on", "the", "mat"], ["It", "purrs"]]
    asked = room.start("guess", QUESTION | {"word": {"side": 1, "index": 1, "tokens": tokens}}, value="4", chance=0.5)
    for token, position in (("ada", "3"), ("bo", "6")):
        room.phones.guess(room.code, token, asked.id, position)
    room.lecturer.reveal(asked.id)
    bars = [(bar["title"], bar["count"]) for bar in room.round("ada")["revealed"]["counts"]]
    assert bars == [("the (word 4)", 1), ("cat", 0), ("the (word 7)", 1)], "two bars of one name would be one"
    lines = list(csv.DictReader(io.StringIO(room.lecturer.to_csv())))
    assert [(line["asked"], line["guess"], line["verdict"]) for line in lines] == [
        ("purrs", "the (word 4)", "cat"), ("purrs", "the (word 7)", "cat"),
    ]  # fmt: skip


def test_a_nickname_stays_and_has_no_characters_that_are_not_seen(sqlite_room):
    room = sqlite_room
    for name in ("\u202eA\u200bda\n\tO’Hara ", "<i>rude</i>", ""):  # in later ones only if it may be changed
        shown = room.phones.join(room.code, "ada", name)["nickname"]
        assert shown == "Ada O’Hara", "the lecturer lets a pair through with its author’s name"
    assert len(room.phones.join(room.code, "bo", "x" * 200)["nickname"]) == 30


def test_a_pair_that_fools_the_model_counts_once_two_classmates_agree(room):
    room.join("ada", "bo", "cy", "di")
    room.start()
    assert room.send("ada", "right", "entailment").status == "right"
    assert room.send("ada", "one").status == CHECKING and room.send("ada", "two").status == CHECKING
    assert [room.checked(token) for token in ("ada", "bo", "cy", "di")] == [None, "one", "one", "two"]
    shown = json.dumps(room.round("bo")["check"])
    assert "neutral" not in shown and "entailment" not in shown, "neither the author's label nor the model's"
    assert room.checked("bo") == "one", "it stays until it is answered"
    room.check("bo", "neutral")
    assert room.checked("bo") == "two" and room.statuses()["one"] == CHECKING
    room.check("cy", "unsure")
    assert room.checked("cy") is None, "a pair goes to two classmates at a time, and never to the same one twice"
    room.check("bo", "contradiction")
    assert room.statuses() == {"right": "right", "one": CHECKING, "two": DISPUTED}
    assert room.checked("di") == "one", "instead of the one who was not sure"
    room.check("di", "neutral")
    assert room.statuses()["one"] == AGREED and ",neutral; not sure; neutral" in room.lecturer.to_csv()
    with pytest.raises(RoomError, match="no longer"):
        room.phones.check(room.code, "di", 2, "entailment")
    assert [(one["first"], one["status"]) for one in room.round("ada")["pairs"]] == [
        ("two", DISPUTED), ("one", AGREED), ("right", "right"),
    ]  # fmt: skip
    assert room.round("bo")["pairs"] == []


@pytest.mark.slow
def test_thirty_phones_with_the_same_pair_ask_two_classmates_once(sqlite_room):
    room, authors = sqlite_room, [f"a{number}" for number in range(30)]
    room.join(*authors, "bo", "cy")
    room.start()
    for token in authors:
        room.send(token, "one" if token < "a2" else " one ")
    assert [room.checked(token) for token in ("a0", "bo", "cy", "a9")] == [None, "one", "one", None]
    room.check("bo", "neutral")
    assert room.checked("bo") is None
    room.check("cy", "neutral")
    pairs = room.lecturer.overview().pairs
    assert len(pairs) == 30 and {one.status for one in pairs} == {AGREED} and len(equal_pairs(pairs)) == 1
    room.join("late")
    assert room.send("late", "one").status == AGREED, "what is decided is not asked again"
    assert room.send("late", "one", "contradiction").status == CHECKING, "another label is another pair"


def test_a_phone_that_sleeps_does_not_hold_a_pair_up(sqlite_room):
    room = sqlite_room
    room.join("ada", "bo", "cy", "di")
    room.start()
    room.send("ada", "one")
    assert [room.checked(token) for token in ("bo", "cy", "di")] == ["one", "one", None]
    room.time.now += PATIENCE + 1
    assert room.checked("di") == "one"
    room.check("di", "neutral")
    room.check("bo", "neutral")
    assert room.statuses()["one"] == AGREED
    assert room.checked("cy") is None, "it wakes up, and is asked nothing that is decided"
    room.send("ada", "two")
    for token, label in (("bo", "neutral"), ("cy", "contradiction")):
        room.checked(token)
        room.check(token, label)
    assert room.statuses()["two"] == DISPUTED, "one who disagrees is enough"


def test_nothing_is_shown_before_it_is_let_through_and_what_is_removed_is_gone(sqlite_room, tmp_path):
    room = sqlite_room
    room.join("ada", "bo", "cy", "di")
    room.start()
    sent = {name: room.send("ada", name) for name in ("one", "two", "gone")}
    sent |= {name: room.send("bo", name, "entailment") for name in ("rude", "fine")}
    assert not any(one.shown for one in room.lecturer.overview().pairs)
    assert room.checked("cy") == "one"
    room.lecturer.let_through([sent["one"].id, sent["fine"].id])
    room.lecturer.remove([sent["gone"].id])
    bo = next(number for number, name in room.lecturer.overview().names.items() if name == "Bo")
    room.lecturer.mute(bo)
    shown = [(one.first, one.shown) for one in room.lecturer.overview().pairs]
    assert shown == [("one", True), ("two", False), ("fine", True)], "what was let through stays"
    assert room.phones.state(room.code, "bo")["muted"] and room.checked("bo") is None
    for forbidden in (lambda: room.send("bo", "again"), lambda: room.phones.check(room.code, "bo", 1, "neutral")):
        with pytest.raises(RoomError, match="muted"):
            forbidden()
    assert [one["status"] for one in room.round("ada")["pairs"]] == ["removed", CHECKING, CHECKING]
    room.lecturer.mute(bo, False)
    assert room.send("bo", "again").status == CHECKING
    room.lecturer.decide([sent["two"].id], True)
    room.lecturer.decide([sent["one"].id], False)
    room.lecturer.decide([sent[name].id for name in ("gone", "rude", "fine")], True)
    room.lecturer.let_through([sent["one"].id], False)
    assert room.statuses() == {"one": DISPUTED, "two": AGREED, "fine": "right", "again": CHECKING}
    room.lecturer.let_through([sent["fine"].id], False)
    assert not any(one.shown for one in room.lecturer.overview().pairs)
    lines = csv.DictReader(io.StringIO(room.lecturer.to_csv()))
    assert [(line["sentence1"], line["by"]) for line in lines] == [
        ("one", "Ada"), ("two", "Ada"), ("fine", "Bo"), ("again", "Bo"),
    ]  # fmt: skip
    room.lecturer.delete()
    assert not any(b"rude" in file.read_bytes() for file in tmp_path.iterdir()), "nor is it in SQLite's log"


def test_one_room_changes_nothing_in_another(sqlite_room):
    room, other = sqlite_room, Class()
    for one in (room, other):
        one.join("ada", "bo")
        one.start()
    sent, theirs = room.send("ada", "one"), other.send("ada", "theirs")
    assert other.checked("bo") == "theirs" and room.checked("bo") == "one"
    for change in (
        lambda: room.lecturer.let_through([theirs.id]),
        lambda: room.lecturer.remove([theirs.id]),
        lambda: room.lecturer.decide([theirs.id], True),
        lambda: [room.lecturer.mute(number) for number in other.lecturer.overview().names],
        lambda: room.lecturer.reveal(other.lecturer.overview().round.id),
    ):
        before = other.lecturer.overview()
        change()
        assert other.lecturer.overview() == before
    for forbidden in (
        lambda: room.phones.check(room.code, "bo", theirs.id, "neutral"),
        lambda: room.phones.own_pair(room.code, "ada", theirs.id),
        lambda: room.phones.own_pair(room.code, "bo", sent.id),
        lambda: room.phones.prepare(room.code, "ada", other.lecturer.overview().round.id, "x", "y", "neutral"),
        lambda: room.phones.state(room.code, "stranger")["round"],
    ):
        with pytest.raises((RoomError, KeyError)):
            forbidden()


def test_a_room_may_be_protected_by_a_word(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DB", f"sqlite:///{tmp_path / 'desk.sqlite3'}")
    room = Class(word="Ärger ")
    assert room.phones.state(room.code, "ada") == {"room": room.room.shown, "phase": "join", "needs_word": True}
    for _ in range(MOST_TRIES):
        with pytest.raises(RoomError, match="wrong password"):
            room.join("eve", word="guess")
    for word in ("guess", "ärger"):
        with pytest.raises(RoomError, match="too many wrong passwords"):
            room.join("eve", word=word)
    room.join("ada", word=" äRGER")
    assert [*room.lecturer.overview().names.values()] == ["Ada"]
    assert b"rger" not in (tmp_path / "desk.sqlite3").read_bytes(), "only its checksum is stored"


def test_limits_hold_for_each_phone_alone(sqlite_room):
    room = sqlite_room
    room.join("ada", "bo")
    room.start()
    for number in range(MOST_PAIRS):
        first = room.send("ada", f"{number}")
    assert room.send("ada", f"{number}") == first, "the same pair again is not another one"
    with pytest.raises(TooFast, match="wait 60 s") as stopped:
        room.send("ada", "too many")
    assert stopped.value.wait == 60
    assert room.send("bo", "one").id
    room.time.now += 61
    assert room.send("ada", "again").id
    with pytest.raises(RoomError, match="10,000 characters; at most 300"):
        room.send("ada", "x" * 10_000)
    with pytest.raises(RoomError, match="none of the classes"):
        room.send("ada", "x", "yes")
    with room.engine.begin() as connection:
        rows = [{"room": room.room.id, "token": str(number)} for number in range(MOST_PARTICIPANTS - 2)]
        more = {"nickname": "", "joined": True, "muted": False, "tries": 0}
        connection.execute(sa.insert(tables.participant), [row | more for row in rows])
    with pytest.raises(RoomError, match="ask the lecturer for another one"):
        room.join("late")


def test_a_closed_room_is_exported_and_deleted_and_an_old_one_goes_by_itself(room):
    engine, kept = room.engine, Class()
    for one in (room, kept):
        one.join("ada", "bo", "cy")
        one.start("guess", value="neutral", chance=0.75)
        one.phones.guess(one.code, "ada", one.lecturer.overview().round.id, "neutral")
        one.start()
        one.send("ada", "=1+1")
        one.check("bo", "neutral")
    room.lecturer.close()
    with pytest.raises(NoRoom):
        room.phones.state(room.code, "ada")
    room.lecturer.set_result(
        room.start("teach").id, {"taught": 1, "held_back": 2, "before": 0, "after": 2, "suites": ""}
    )
    lines = list(csv.DictReader(io.StringIO(room.lecturer.to_csv())))
    told = lines.pop()["result"]
    assert told == "0 of 2 held-back pairs right before, 2 after 1 pair."
    assert [(line["kind"], line["by"], line["guess"], line["label"], line["checks"]) for line in lines] == [
        ("guess", "Ada", "neutral", "", ""), ("break", "Ada", "", "neutral", "neutral"),
    ]  # fmt: skip
    assert lines[1]["sentence1"] == "'=1+1" and lines[1]["probability"] == "0.9"

    def sizes():
        of_rooms = [table for name, table in tables.metadata.tables.items() if name.startswith("room")]
        assert len(of_rooms) == 6
        with engine.connect() as connection:
            return [connection.scalar(sa.select(sa.func.count()).select_from(table)) for table in of_rooms]

    before = sizes()
    assert min(before) == 2 and len(room.lecturer.delete()) == 3 and sizes() == [count // 2 for count in before]
    room.time.now += SECONDS - 1
    assert delete_old(engine, room.time) == [] and kept.round("ada")
    room.time.now += 2
    assert delete_old(engine, room.time) == [kept.room.id] and sizes() == [0] * 6
    with pytest.raises(NoRoom):
        kept.phones.state(kept.code, "ada")
