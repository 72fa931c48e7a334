"""The lecturer's page of a room, without a browser."""

import itertools
import re
import shutil
import threading
import time

import pytest
import sqlalchemy as sa

from app import own_models, preloading
from app.api import room_requests
from app.api.refusals import Refused
from app.examples import EXAMPLES
from app.pairs import Pair
from app.rooms import address as addresses
from app.rooms import rounds, teaching
from app.rooms.address import address, only_here, picture
from app.rooms.database import rooms
from core.checkpoint import load_named
from core.checkpoint.unlisted import folder_of, new_name
from core.rooms import questions, tables
from core.rooms.lecturer import Lecturer
from core.rooms.room import SECONDS, NoRoom, open_room, rooms_of
from tests.app.desk_page import button, texts
from tests.app.pages import chooser, open_view, query, sentences

PAIR = {"model": "test-light", "first": "a dog is outside", "second": "the <b>cat</b> is cold"}


@pytest.fixture
def me(monkeypatch, tmp_path):
    """The page of a browser with this token; AppTest has no cookies."""
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path))
    monkeypatch.delenv("PAIRLENS_DB", raising=False)
    monkeypatch.setattr(own_models, "maker", lambda: "me")
    monkeypatch.setattr(rounds, "read_ahead", lambda base: None)  # in the background, but not for nothing
    return tmp_path


def opened(**link):
    app = open_view("classroom", **link)
    button(app, "Open a room").click().run()
    assert not app.exception
    return app, query(app)["room"]


def press(app, label):
    button(app, label).click().run()
    assert not app.exception, app.exception
    return app


def start(app, kind):
    app.segmented_control[0].set_value(kind).run()
    return press(app, "Start the round")


def html(app):
    return "\n".join(part.proto.body for part in app.get("html"))


def test_a_lecturer_plays_all_rounds_without_any_phone(me):
    app, code = opened(**PAIR, gold="neutral")
    assert "No one has joined yet" in html(app) and f"{code[:4]}-{code[4:]}" in html(app)
    start(app, "guess")
    own = Lecturer(rooms().engine, code, "me")
    assert own.overview().round.question["second"] == PAIR["second"]
    assert "0 of 0 phones have answered." in html(app)
    assert "the &lt;b&gt;cat&lt;/b&gt; is cold" in html(app) and "<b>cat" not in html(app)
    hands = next(number for number in app.number_input if number.label == "neutral")
    hands.set_value(7).run()
    press(app, "Reveal")
    assert re.search(
        r"The model says \w+ \(\d+.?%\)\. [07] of 7 guesses agree with it\. The data set’s label is", html(app)
    )
    start(app, "break")
    assert "No pair has been sent yet." in html(app)
    for place, text in enumerate(["a man is outside", "the toy is cold", "a dog is playing", "the snow is outside"]):
        verdicts = {"entailment", "neutral", "contradiction"}
        first, second = [box for box in app.text_input if box.form_id][:2]
        first.set_value(text)
        second.set_value(f"the cat is {place}")
        right = sorted(verdicts)[place % 3]
        chooser(app, "Right class").set_value(right)
        button(app, "Test the model on it").click().run()
        assert not app.exception
    seen = own.overview()
    assert len(seen.pairs) == 4 and all(one.shown and one.author is None for one in seen.pairs)
    assert [one.status for one in seen.pairs] == ["agreed" if one.fooled else "right" for one in seen.pairs]
    assert texts(app)[-1] and "<bdi>the lecturer</bdi> says" in html(app)
    start(app, "teach")
    wrong = sum(one.fooled for one in seen.pairs)
    assert f"{wrong} different pair" in html(app)
    assert button(app, "Teach the model").disabled == (wrong < 2)


def test_the_projector_shows_only_pairs_let_through_and_no_controls(me):
    app, code = opened(**PAIR)
    start(app, "break")
    phones, own = rooms().phones, Lecturer(rooms().engine, code, "me")
    asked = own.overview().round
    for token in ("ada", "bo"):
        phones.join(code, token, f"{token} <i>")
    for token, text, verdict, chance in (
        ("ada", "secret one", "neutral", 0.7), ("bo", "secret two", "neutral", 0.9), ("bo", "dull", "entailment", 0.9),
    ):  # fmt: skip
        found, me_too, _ = phones.prepare(code, token, asked.id, text, "b", "entailment")
        phones.keep(found, me_too, (text, "b"), "entailment", verdict, chance)
    app.run()
    page = html(app)
    assert page.index("secret two") < page.index("secret one") < page.index("dull"), "by surprise"
    projector = open_view("classroom", room=code, projector="on")
    assert "secret" not in html(projector) and "3 pairs wait for the lecturer." in html(projector)
    assert {one.label for one in projector.button} == set()
    assert "Turn “Projector” off to lead the room." in html(projector)
    press(app, "Let through")
    projector.run()
    assert "secret two" in html(projector) and "secret one" not in html(projector)
    assert "<bdi>bo &lt;i&gt;</bdi> says entailment; the model says neutral" in html(projector)
    press(app, "Let through")
    press(app, "Mute its author")  # of the dull one
    assert [(one.first, one.shown) for one in own.overview().pairs] == [("secret one", True), ("secret two", True)]
    press(app, "Close and delete the data")
    assert "Open a room for your class" in html(app)
    with pytest.raises(NoRoom):
        own.overview()
    projector.run()
    assert "This room is closed" in " ".join(sentences(projector)) + html(projector)


def test_a_room_belongs_to_the_browser_that_opened_it(me, monkeypatch):
    _, code = opened(**PAIR)
    again = open_view("classroom", room=code)
    assert "No one has joined yet" in html(again), "after a reload, or on another server"
    monkeypatch.setattr(own_models, "maker", lambda: "eve")
    eve = open_view("classroom", room=code)
    assert "This room is closed, or another browser opened it." in sentences(eve)[0]
    assert "No one has joined yet" not in html(eve)
    assert not [one for one in eve.button if one.label.startswith("Back to")]
    bare, _ = opened(model="test-light")
    assert Pair(query(bare)["first"], query(bare)["second"]) == EXAMPLES[0].texts[0], "a room begins with a pair"
    assert query(bare)["gold"] == EXAMPLES[0].gold


def test_a_server_forgets_rooms_after_a_day_even_without_visitors(me, monkeypatch):
    preloading.forget()
    assert not (me / "desk.sqlite3").exists(), "a server without rooms makes no database for that"
    old = open_room(rooms().engine, "me", "test-light", now=lambda: time.time() - SECONDS - 1)
    new = open_room(rooms().engine, "me", "test-light")  # which deletes old ones, too
    with rooms().engine.begin() as connection:
        connection.execute(sa.update(tables.room).values(opened=old.opened))
    preloading.forget()
    assert rooms_of(rooms().engine, "me") == [] and new.id


def test_a_pair_that_arrives_does_not_move_under_the_lecturers_key(me):
    app, code = opened(**PAIR)
    start(app, "break")
    phones, own = rooms().phones, Lecturer(rooms().engine, code, "me")
    for token in ("ada", "bo"):
        phones.join(code, token, f"*{token}*")

    def send(token, text, chance):
        asked, author, _ = phones.prepare(code, token, own.overview().round.id, text, "b", "entailment")
        phones.keep(asked, author, (text, "b"), "entailment", "neutral", chance)
        app.run()

    send("ada", "read by the lecturer", 0.6)
    send("bo", "not read yet", 0.9)
    assert html(app).index("read by the lecturer") < html(app).index("not read yet")
    press(app, "Let through")
    assert [one.first for one in own.overview().pairs if one.shown] == ["read by the lecturer"]
    press(app, "Mute its author")
    assert [one.first for one in own.overview().pairs] == ["read by the lecturer"]
    press(app, r"Unmute \*bo\*")
    assert not own.overview().muted
    for number in range(6):
        send("bo", f"pair {number}", 0.7)
    press(app, "Let these 5 through")
    assert [one.first for one in own.overview().pairs if not one.shown] == ["pair 5"], "which was not on the page"
    press(app, "Close")
    assert not any(one.label == "Start the round" for one in app.button), "a closed room plays no more rounds"
    app = open_view("classroom")
    press(app, f"Back to {code[:4]}-{code[4:]} (closed)")
    press(app, "Delete the room’s data")
    assert rooms_of(rooms().engine, "me") == []


def test_a_model_that_was_taught_is_there_until_its_room_is_deleted(me, monkeypatch, checkpoints):
    made = []

    def teach(checkpoint, pairs, maker):
        assert maker == "me", "the lecturer finds the model in lists after a reload, too"
        made.append(new_name("test-light"))
        shutil.copytree(checkpoints / "test-light", folder_of(made[-1]))
        return {"model": made[-1], "taught": 1, "held_back": 1, "before": 0, "after": 1, "suites": ""}

    monkeypatch.setattr(teaching, "teach", teach)
    app, code = opened(**PAIR)
    own = Lecturer(rooms().engine, code, "me")
    asked = own.start("break", "test-light", questions.question(load_named("test-light"), "a b", "c d"), {})
    for text in ("a dog", "a cat"):
        own.add(asked, (text, "b"), "neutral", "entailment", 0.9)
    start(app, "teach")
    for label in ("Teach the model", "Teach the model again"):
        press(app, label)
        for thread in threading.enumerate():
            if thread.name == "teaching":
                thread.join()
        assert own.overview().round.result["model"] == made[-1]
        app.run()
        if label == "Teach the model":
            press(app, "Use it in the next rounds")
    assert own.model() == made[0] and load_named(own.model()), "it is played with, and links lead to it"
    press(app, "Use it in the next rounds")
    press(app, "Start the round")
    press(app, "Close and delete the data")
    assert not any(folder_of(name).exists() for name in made)


def test_a_phone_is_refused_in_a_sentence_whatever_it_sends(me):
    _, code = opened(**PAIR)
    phones, own = rooms().phones, Lecturer(rooms().engine, code, "me")
    joined = room_requests.join(phones, code, "ada", {"nickname": "A\ud800\0da", "word": "\ud800"})
    assert joined["nickname"].isprintable()
    asked = own.start("break", "test-light", questions.question(load_named("test-light"), "a b", "c d"), {})
    pair = {"round": asked.id, "first": "a \ud800dog\0", "second": "a cat", "label": "neutral"}
    assert room_requests.pair(phones, code, "ada", pair)["first"] == "a \ufffddog"
    for act, number in itertools.product(("check", "sentence", "guess"), (2**31, -(10**30))):
        with pytest.raises(Refused, match="number"):
            room_requests.ACTS[act](phones, code, "ada", {"round" if act == "guess" else "pair": number})


class Context:
    def __init__(self, url):
        self.url = url


@pytest.mark.parametrize(
    ("server", "url", "expected", "alone"),
    [
        ("localhost", "http://localhost:8501/classroom", "http://localhost:8501/room/C", True),
        ("0.0.0.0", "http://localhost:8501/classroom", "http://192.0.2.5:8501/room/C", False),
        (None, "http://127.0.0.1:8501/lens/classroom/", "http://192.0.2.5:8501/lens/room/C", False),
        ("0.0.0.0", "http://192.0.2.9:8501/classroom", "http://192.0.2.9:8501/room/C", False),
        ("127.0.0.1", "https://lens.uni.example/classroom", "https://lens.uni.example/room/C", False),
    ],
)
def test_the_address_is_one_that_a_phone_can_reach(monkeypatch, server, url, expected, alone):
    monkeypatch.setattr(addresses.st, "get_option", {"server.address": server}.get)
    monkeypatch.setattr(addresses.st, "context", Context(url))
    monkeypatch.setattr(addresses, "_in_network", lambda: "192.0.2.5")
    assert (address("C"), only_here()) == (expected, alone)
    assert picture(expected, "9rem").startswith('<img src="data:image/svg+xml')
