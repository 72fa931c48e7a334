"""What words and links do, on the pages: after the verdict, and never in its way."""

import threading

import pytest

from app.effects import late as telling
from app.effects import work
from core.checkpoint import load
from core.effects import METHODS, why
from core.effects.memory import Ended
from tests.app.pages import late, open_view, query

PAIR = {"first": "a man and a dog", "second": "the dog is not playing"}


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """A page without a browser, which would ask again, waits until all is computed."""
    monkeypatch.setattr(telling, "PATIENCE", 60)


def explore(model="test-light", **parameters):
    return open_view("explore", **({"model": model} | PAIR | parameters))


def test_bars_are_what_why_says_and_the_strongest_word_is_selected(drawn, checkpoints):
    effects = why(load(checkpoints / "test-light"), *PAIR.values())
    app = explore()
    assert not app.exception
    heard = late(app)
    ways = heard["words"]["ways"]
    assert [bar[0] for role in ("premise", "hypothesis") for bar in ways["taken-away"][role]] == pytest.approx(
        [word.effect for word in effects.words], rel=1e-3
    )
    assert [bar[1] for bar in ways["frequent"]["premise"]] == pytest.approx(
        [word.spread_by_way["frequent"] for word in effects.of("premise")], rel=1e-3
    )
    assert {bar[1] for bar in ways["dropped"]["premise"]} == {None}
    axis = {"premise": "column", "hypothesis": "row"}[effects.strongest.role]
    assert heard["selection"] == {"row": None, "column": None} | {axis: effects.strongest.index}
    assert heard["id"] == drawn(app)["id"] and heard["working"] is None
    assert "select" not in query(app), "nobody has chosen it"
    # From then on it is in the drawing itself.
    assert drawn(app.run())["selection"] == heard["selection"]


def test_a_word_that_a_person_or_the_address_has_chosen_stays_selected(drawn):
    for chosen in ("x2", "none"):
        app = explore(select=chosen)
        assert late(app)["selection"] is None and drawn(app)["explicit"]


@pytest.mark.parametrize("method", METHODS)
def test_every_way_is_offered_with_what_it_cannot_tell(method, drawn):
    app = explore(method=method)
    panel = drawn(app)["by_kind"]["effects"]
    about = next(one for one in panel["methods"] if one["name"] == method)
    assert about["title"] and about["cannot"].endswith(".")
    heard = late(app)["words"]
    assert heard["method"] == (method if method not in ("dropped", "frequent", "related") else "taken-away")
    assert len(heard["ways"][method]["hypothesis"]) == 5
    assert (heard["completeness"] is not None) == (method == "integrated-gradients")
    assert query(app).get("method", "taken-away") == method


def test_single_texts_and_models_without_attention_have_bars(drawn):
    for model in ("test-two-sided", "test-te", "test-alone"):
        assert late(explore(model))["words"]["ways"]["taken-away"]["premise"]


def test_an_unknown_way_in_a_link_is_one_sentence(drawn):
    app = explore(method="guess")
    assert any("asks what words do by “guess”" in notice for notice in drawn(app)["notices"])
    assert late(app)["words"]["method"] == "taken-away"


def test_a_newer_pair_ends_the_older_computation(monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def slow(*args):
        progress = args[-1]
        begun.set()
        try:
            for done in range(10_000):
                progress(done, 10_000)
                ended.wait(0.01)
        except Ended:
            ended.set()
            raise

    monkeypatch.setattr(telling, "PATIENCE", 0)
    monkeypatch.setattr(telling, "kept_why", slow)
    app = explore()
    assert begun.wait(20)
    heard = late(app.run())
    assert heard["words"] is None and heard["working"][1] in (0, 10_000)
    app.text_input[1].input("a cat sleeps").run()
    assert ended.wait(20)
    (now,) = app.session_state[work._SESSION].values()
    now.end()


def test_what_is_stopped_begins_only_when_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(work.st, "session_state", {})
    release = threading.Event()

    def make(progress):
        release.wait(20)
        progress(1, 2)
        return "answer"

    (one,) = work.at_work({"question": make}).values()
    work.stop()
    release.set()
    (same,) = work.at_work({"question": make}).values()
    assert same is one and one.stopped and one.finished
    work.again()
    (other,) = work.at_work({"question": make}).values()
    other.wait(20)
    assert other.answer == "answer"
