"""What if on Explore: manual edits through the address, the saved file and the list of verdicts."""

import csv
import json

import pytest

from app.explore import what_if
from app.page_state.explore import ExploreState
from app.pairs import Pair
from core.checkpoint import load
from core.effects import Question
from core.effects.attention_edits import AttentionEdit, explain_under, maps_under
from core.effects.edits import Edit
from core.explain import explain
from tests.app.pages import answered, box, open_file, open_view, query

PAIR = {"first": "A dog and a cat", "second": "The dog is playing"}
EDITS = "replace 0 1 man\ndrop 1 0\nnegate 1"


def explore(model="test-light", **parameters):
    return open_view("explore", **({"model": model} | PAIR | parameters))


def test_edits_of_an_address_are_made_and_listed_with_their_verdicts(drawn, checkpoints):
    app = explore(edits=EDITS)
    assert not app.exception
    assert [box(app, side).value for side in PAIR] == ["A man and a cat", "Dog is not playing"]
    data = drawn(app)
    panel = data["why"]["what_if"]
    said = ["as typed", "“dog” → “man”", "“The” left out", "“not” put in"]
    assert [step["said"] for step in panel["steps"]] == said and panel["at"] == 3
    checkpoint = load(checkpoints / "test-light")
    pairs = [
        tuple(PAIR.values()),
        ("A man and a cat", "The dog is playing"),
        ("A man and a cat", "Dog is playing"),
        ("A man and a cat", "Dog is not playing"),
    ]
    expected = [explain(checkpoint, *pair, records=()) for pair in pairs]
    target = expected[0].labels.index(expected[0].verdict)
    follows = [one.probabilities[target] for one in expected]
    assert [step["probabilities"][target] for step in panel["steps"]] == pytest.approx(follows, abs=1e-6)
    assert panel["target"] == target and panel["sides"] == ["premise", "hypothesis"]
    assert query(app)["edits"] == EDITS
    assert data["verdict"]["gold"] is None


def test_undone_edits_stay_in_the_list_and_a_typed_sentence_ends_it(drawn):
    app = explore(edits=EDITS, step="1")
    assert box(app, "first").value == "A man and a cat" and box(app, "second").value == PAIR["second"]
    panel = drawn(app)["why"]["what_if"]
    assert (panel["at"], len(panel["steps"])) == (1, 4)
    box(app, "second").input("A cat is playing").run()
    assert query(app) == {"model": "test-light", "first": "A man and a cat", "second": "A cat is playing"}


def test_an_edit_beyond_the_sentence_is_one_sentence_and_the_rest_stays(drawn):
    for wrong in ("drop 1 99", "fly 0 1", "drop x"):
        app = explore(edits=f"replace 0 1 man\n{wrong}\ndrop 0 0")
        assert not app.exception
        (notice,) = drawn(app)["notices"]
        assert notice.endswith("shown without them: edits.")
        assert box(app, "first").value == "A man and a cat" and query(app)["edits"] == "replace 0 1 man"
    (notice,) = drawn(explore(edits=EDITS, step="7"))["notices"]
    assert notice.endswith("shown without them: step.")


def test_edits_go_through_the_saved_file(drawn):
    saved = ExploreState("test-light", (Pair(*PAIR.values()),), edits=(Edit("swap", 1, 1, other=3),), step=0).to_file()
    app = explore(first="A cat")
    open_file(app, saved.encode())
    panel = drawn(app)["why"]["what_if"]
    assert (panel["at"], panel["steps"][1]["said"]) == (0, "“dog” and “playing” swapped")


def test_browser_messages_update_the_state():
    state = ExploreState("m", (Pair(*PAIR.values()),))
    once = what_if.after(state, {"make": ["drop 0 0", "exchange"]})
    assert once.pair.now == ("The dog is playing", "Dog and a cat")
    back = what_if.after(once, {"to": 1})
    assert (back.step, back.pair.first, len(back.edits)) == (1, "Dog and a cat", 2)
    assert what_if.after(back, {"to": 2}) == once
    other = what_if.after(back, {"make": ["negate 1"]})
    assert (other.edits, other.step) == ((Edit("drop", 0, 0), Edit("negate", 1)), None)
    for wrong in ("drop 0 9", "drop 0", "replace 0 0 ,\n"):
        with pytest.raises(what_if.EditError):
            what_if.after(ExploreState("m", (Pair("Dog", ""),)), {"make": [wrong]})
    with pytest.raises(what_if.EditError, match="as many as are listed"):
        what_if.after(state, {"make": ["insert 0 0 x"] * 41})


def test_the_list_is_a_table(checkpoints):
    checkpoint = load(checkpoints / "test-light")
    state = ExploreState("test-light", (Pair(*PAIR.values()),), edits=(Edit("replace", 0, 1, "=1+2"),))
    steps = what_if.tried(state, checkpoint)
    head, typed, changed = csv.reader(what_if.to_csv(checkpoint, steps).splitlines())
    assert head[:6] == ["step", "edit", "change", "first", "second", "verdict"]
    assert typed[:5] == ["0", "", "as typed", *PAIR.values()] and typed[-1] == ""
    assert changed[1:4] == ["replace 0 1 =1+2", "“dog” → “=1+2”", "A =1+2 and a cat"]
    probabilities = steps[1].explanation.probabilities
    assert [float(p) for p in changed[6:9]] == pytest.approx(probabilities)
    assert json.dumps(vars(what_if.panel(state, checkpoint, steps)), default=vars)


def test_offers_and_the_smallest_changes_are_asked_for(drawn, checkpoints):
    app = explore()
    asked = drawn(app)["why"]["question"]
    assert drawn(app)["asked"]["turns"] == ""
    premise, hypothesis = answered("offers", **asked)["words"]
    assert "man" not in premise[0].get("similar words", [])
    assert "cat" in [word for related in hypothesis[1].values() for word in related]
    app = explore(turns="on")
    changes = answered("change", **asked)
    found = Question(load(checkpoints / "test-light"), *PAIR.values()).smallest_change()
    assert [change["edits"] for change in changes] == [list(map(str, change.edits)) for change in found]
    assert [change["described"] for change in changes] == [list(change.described) for change in found]
    assert query(app)["turns"] == "on" and drawn(app)["asked"]["turns"] == "on"
    state = ExploreState("test-light", (Pair(*PAIR.values()),), turns=True)
    applied = what_if.after(state, {"make": changes[0]["edits"]})
    assert applied.pair.now == found[0].after and not applied.turns


def test_matches_of_a_model_that_attends_by_scores_are_changed_by_hand(drawn, checkpoints):
    edits = "cell 0 1 2 0.75 kept\ncell 0 0 0 0 kept"
    data = drawn(explore("test-te", edits=edits))
    panel, checkpoint = data["why"]["what_if"], load(checkpoints / "test-te")
    (scores,), own = panel["scores"], maps_under(checkpoint, *PAIR.values())[0]
    rows, columns = scores["words"]
    assert [len(scores["shares"]), len(scores["shares"][0])] == [len(rows), len(columns)]
    assert scores["shares"][1][2] == 0.75 and scores["shares"][0][0] == 0
    share = (own.values[2, 1].item() - own.least) / (1 - own.least)
    assert scores["shares"][2][1] == pytest.approx(share, abs=1e-4)
    said = [step["said"] for step in panel["steps"]]
    assert said[1:] == [
        f"“{rows[1]}” matches “{columns[2]}” with 75\u00a0%",
        f"“{rows[0]}” matches “{columns[0]}” with 0\u00a0%",
    ]
    expected = explain_under(checkpoint, *PAIR.values(), [AttentionEdit.parse(text) for text in edits.split("\n")])
    assert [one["p"] for one in data["verdict"]["classes"]] == pytest.approx(expected.probabilities)


ATTENTION = "uniform 0\ncell 0 1 2 0.25 kept\nreplace 0 1 man\ntemperature 2"


def test_edits_of_attention_are_listed_with_those_of_words_which_end_them(drawn, checkpoints):
    app = explore(edits=ATTENTION, step="2")
    assert not app.exception
    data, checkpoint = drawn(app), load(checkpoints / "test-light")
    edits = [AttentionEdit.parse(text) for text in ATTENTION.split("\n")[:2]]
    expected = explain_under(checkpoint, *PAIR.values(), edits)
    panel, verdict = data["why"]["what_if"], data["verdict"]
    verdict_index = panel["target"]
    assert [one["p"] for one in verdict["classes"]] == pytest.approx(expected.probabilities)
    assert verdict["what_if"] == "attention changed by hand" and verdict["trained"]
    assert data["by_kind"]["attention_map"]["weights"][1][2] == 0.25
    assert "-attention-" in data["about"]["file"]
    said = [step["said"] for step in panel["steps"]]
    assert said[1:4] == ["attention uniform", "“dog” looks at “and” with 25\u00a0%, the rest kept", "“dog” → “man”"]
    assert panel["steps"][2]["probabilities"][verdict_index] == pytest.approx(expected.probabilities[verdict_index])
    assert [step["note"] for step in panel["steps"]] == [""] * 5
    assert query(app)["edits"] == ATTENTION and query(app)["step"] == "2"
    # With a word changed their cells would mean other words.
    after = explore(edits=ATTENTION)
    data, texts = drawn(after), ("A man and a cat", PAIR["second"])
    ended = [step["note"] for step in data["why"]["what_if"]["steps"]]
    assert ended == ["", what_if.ENDED, what_if.ENDED, "", ""]
    expected = explain_under(checkpoint, *texts, [AttentionEdit.parse("temperature 2")])
    assert data["verdict"]["classes"][verdict_index]["p"] == pytest.approx(expected.probabilities[verdict_index])
    state = ExploreState("test-light", (Pair(*PAIR.values()),), edits=tuple(edits), step=1)
    assert ExploreState.from_file(state.to_file(), {"test-light": "nli"}) == (state, [])
    head, *rows = csv.reader(what_if.to_csv(checkpoint, what_if.tried(state, checkpoint)).splitlines())
    assert [row[1] for row in rows] == ["", *ATTENTION.split("\n")[:2]] and head[1] == "edit"
    assert [row[3] for row in rows] == [PAIR["first"]] * 3


def test_an_edit_of_attention_that_cannot_be_made_is_one_sentence_and_the_rest_stays(drawn):
    for wrong, why in {"cell 0 99 0 0.5 kept": "beyond the attention", "uniform 3": "is of another"}.items():
        app = explore(edits=f"uniform 0\n{wrong}\ntemperature 2")
        assert not app.exception
        data = drawn(app)
        (notice,) = data["notices"]
        assert why in notice and notice.endswith(".") and not notice.endswith("..")
        steps = data["why"]["what_if"]["steps"]
        assert len(steps) == 4 and why in steps[2]["note"] and not steps[3]["note"]
        assert steps[2]["probabilities"] == steps[1]["probabilities"] and query(app)["edits"].endswith("temperature 2")
        assert data["verdict"]["what_if"]
    (notice,) = drawn(explore(edits="uniform 0\ncell 0 1 2 nan kept\ndrop 0 0"))["notices"]
    assert notice.endswith("shown without them: edits.")
    alone = drawn(explore(edits="uniform 0", model="nli-hypothesis-only"))
    assert "has no attention" in alone["notices"][0] and not alone["verdict"]["what_if"]


def test_the_browser_is_refused_an_edit_of_attention_that_cannot_be_made():
    state = ExploreState("nli-attconv-light", (Pair(*PAIR.values()),))
    made = what_if.after(state, {"make": ["uniform 0"]})
    assert made.attention == (AttentionEdit("uniform"),) and made.pair == state.pair
    assert what_if.after(made, {"make": ["drop 0 0"]}).attention == ()
    for wrong in ("cell 0 0 0 much kept", "cell 0 99 0 0.5 kept", "uncrossed"):
        with pytest.raises(what_if.EditError):
            what_if.after(state, {"make": [wrong]})
