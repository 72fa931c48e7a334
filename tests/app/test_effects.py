"""Explore's and Compare's API requests about a pair, and the files with the answers."""

import csv
import io
import json
from dataclasses import replace
from pathlib import PurePath
from types import SimpleNamespace

import pytest
from streamlit.runtime import Runtime
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.testing.v1 import app_test

from app.explore import answering, downloads
from app.page_state.explore import ExploreState
from app.pairs import Pair
from core.checkpoint import load
from core.effects import METHODS, Question
from core.effects.links import Taken
from core.evidence import Explanation
from core.evidence.effects import Effects, LinkEffects, links_csv
from core.evidence.faithfulness import Faithfulness
from tests.app.pages import box, open_view, query

PAIR = {"first": "a man and a dog", "second": "the dog is not playing"}


def explore(model="test-light", **parameters):
    return open_view("explore", **({"model": model} | PAIR | parameters))


def test_the_page_asks_about_the_pair_that_is_shown(drawn, checkpoints):
    app = explore(edits="drop 1 3")
    assert not app.exception
    asked = drawn(app)["why"]
    assert asked["question"] == {"model": "test-light", "first": PAIR["first"], "second": "the dog is playing"}
    assert asked["shown"] == {"model": "test-light", **PAIR, "edits": ["drop 1 3"], "head": ""}
    assert (
        asked["verdict"]
        == Question(load(checkpoints / "test-light"), PAIR["first"], "the dog is playing").words().verdict
    )
    assert drawn(app)["selection"] is None and "select" not in query(app), "the user has not chosen a word"


def test_a_word_that_a_person_or_the_address_has_chosen_stays_selected(drawn):
    for chosen in ("x2", "none"):
        assert drawn(explore(select=chosen))["selection"] == chosen


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_offered_and_named_in_the_address(method, drawn):
    app = explore(method=method)
    assert list(drawn(app)["why"]["methods"]) == list(METHODS)
    assert drawn(app)["asked"]["method"] == query(app).get("method", "taken-away") == method


def test_an_unknown_method_in_a_link_is_one_sentence(drawn):
    app = explore(method="guess")
    assert any(notice.endswith(": method.") for notice in drawn(app)["notices"])
    assert drawn(app)["asked"]["method"] == "taken-away"


@pytest.mark.parametrize("taken", Taken)
def test_links_are_asked_for_by_the_address(taken, drawn):
    assert drawn(explore())["asked"]["links"] == ""
    app = explore(links=taken)
    assert query(app)["links"] == taken and drawn(app)["asked"]["links"] == taken


def test_a_request_for_one_pair_does_not_carry_over_to_another(drawn):
    app = explore(believed="on", turns="on")
    assert drawn(app)["asked"]["believed"] == drawn(app)["asked"]["turns"] == "on"
    box(app, "second").input("a cat sleeps").run()
    assert drawn(app)["asked"]["believed"] == drawn(app)["asked"]["turns"] == ""


def test_links_as_a_table_have_one_line_for_each_cell():
    weights = tuple(tuple(0.9 if i == j else 0.01 * j for j in range(5)) for i in range(4))
    links = LinkEffects("b", "a", "words", False, False, None, weights, ((0.0,) * 5,) * 4, 0.1)
    table = links_csv([links], [(tuple("wxyz"), tuple("abcde"))]).splitlines()
    assert table[1] == "b,a,1,w,1,a,0.9,0.0" and len(table) == 21


def test_files_contain_the_pages_numbers(checkpoints):
    app = explore(links="kept", believed="on")
    app.session_state["save and open"] = True
    app.run()
    labels = {button.label for button in app.get("download_button")}
    expected = {"All numbers (JSON)", "Effects of words (CSV)", "Effects of links (CSV)", "Faithfulness (CSV)"}
    assert expected <= labels
    read = answering.answer(ExploreState("test-light", (Pair(*PAIR.values()),), links="kept", believed=True), {})
    whole = Explanation.from_dict(json.loads(downloads._everything(read)))
    effects, measured = whole.find(Effects), whole.find(Faithfulness)
    known = Question(load(checkpoints / "test-light"), *PAIR.values()).words()
    assert replace(effects, milliseconds=0, links=(), passes=0) == replace(known, milliseconds=0, passes=0)
    assert effects.links and measured.maps
    head, *cells = csv.reader(io.StringIO(downloads._links_csv(read)))
    assert head[-1] == "effect" and len(cells) == len(PAIR["first"].split()) * len(PAIR["second"].split())


def test_a_file_made_on_click_stays_until_it_is_fetched_on_a_busy_server(monkeypatch):
    media = MediaFileManager(MemoryMediaFileStorage("/media"))
    monkeypatch.setattr(app_test, "MediaFileManager", lambda storage: media)
    app = explore()
    app.session_state["save and open"] = True
    app.run()
    files = {button.label: button.proto.deferred_file_id for button in app.get("download_button")}
    monkeypatch.setattr(Runtime, "_instance", SimpleNamespace(media_file_mgr=media))
    for name in ("Effects of words (CSV)", "Save this pair"):
        address = media.execute_deferred(files[name])
        for _ in range(3):
            media.remove_orphaned_files()  # as at the end of each visitor's run
        assert media.read_file(PurePath(address).stem), name


def test_compared_models_request_effects_on_their_own_verdicts(drawn, checkpoints):
    names = ("test-light", "test-two-sided", "test-te")
    app = open_view("compare", model=names[0], **PAIR, **{"with": ",".join(names[1:])})
    assert not app.exception
    for name, section in zip(names, drawn(app)["sections"], strict=True):
        known = Question(load(checkpoints / name), *PAIR.values()).words()
        assert section["question"] == {"model": name, **PAIR} and section["followed"] == known.verdict
    broken = open_view("compare", model="test-light", **PAIR, **{"with": "test-truncated"})
    assert drawn(broken)["sections"][1]["question"] is None
