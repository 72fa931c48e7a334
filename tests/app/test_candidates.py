"""Candidate answers of a question on Explore: their ranking, with a calibrated probability where the card has one."""

import dataclasses
import json
import re
import shutil

import pytest

from app.panels import verdict
from core.checkpoint import load
from core.explain import explain
from core.wording import percent
from tests.app.pages import lines_of, open_view, query, sentences

QUESTION, ANSWERS = "is a dog outside", ["a cat in the snow", "the dog is outside", "a plastic toy"]


def ranked(app):
    return lines_of(app.table[0])


def typed(model):
    app = open_view("explore", model=model, first=QUESTION, second=ANSWERS[0])
    assert not app.text_area
    app.session_state["rank candidates"] = True
    app.run()
    box = next(one for one in app.text_area if one.label.startswith("Other candidate answers"))
    box.input("\n".join([*ANSWERS[1:], "", "<b>dog</b>"])).run()
    assert not app.exception
    return app


def test_candidates_one_a_line_are_ranked_with_the_answer_of_the_page(checkpoints):
    app = typed("test-as")
    rows = ranked(app)
    model = load(checkpoints / "test-as")
    odds = {text: explain(model, QUESTION, text).logits for text in [*ANSWERS, "<b>dog</b>"]}
    expected = sorted(odds, key=lambda text: odds[text][0] - odds[text][1])
    assert [row[1] for row in rows] == expected
    assert [row[0] for row in rows] == ["1", "2", "3", "4"]
    assert r"\<b\>dog\</b\>" in app.table[0].value.to_numpy(), "no cell is read as Markdown"
    assert all(re.fullmatch(r"[+−]\d+\.\d\d", row[3]) for row in rows)
    assert query(app)["candidates"].splitlines() == [*ANSWERS[1:], "", "<b>dog</b>"]
    again = open_view("explore", **query(app))
    assert ranked(again) == rows
    assert again.expander[0].proto.expanded
    assert any("Not calibrated" in caption.value for caption in app.caption)


def test_a_calibrated_card_gives_each_candidate_a_probability(checkpoints, tmp_path, monkeypatch, drawn):
    shutil.copytree(checkpoints / "test-as", tmp_path / "test-as")
    card = json.loads((tmp_path / "test-as" / "card.json").read_text())
    stored = {"slope": 0.0001, "bias": 0.0, "fixed_on": "made up", "pairs": 8, "right": 2}
    (tmp_path / "test-as" / "card.json").write_text(json.dumps(card | {"calibration": stored}))
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    app = typed("test-as")
    assert {row[3] for row in ranked(app)} == {"50\xa0%"}
    assert any("calibrated on made up, where 25" in caption.value for caption in app.caption)
    said = drawn(app)["verdict"]
    assert said["meaning"] == "Calibrated: 50\xa0% likely to be right; of all candidates in made up, 25\xa0% are."


def test_the_headline_is_the_share_of_answer_however_small_it_is(checkpoints, drawn):
    app = open_view("explore", model="test-as", first=QUESTION, second=ANSWERS[0])
    said, answer = drawn(app)["verdict"], explain(load(checkpoints / "test-as"), QUESTION, ANSWERS[0])
    assert said["label"] == "answer" and said["meaning"] == "Ranked among other candidates below."
    assert [(c["label"], c["p"], c["score"]) for c in said["classes"]] == [
        ("not an answer", answer.probabilities[0], False),
        ("answer", answer.probabilities[1], True),
    ]
    low = dataclasses.replace(answer, logits=(3.0, -3.0), probabilities=(0.98, 0.02))
    assert low.verdict == "0" and verdict.headline(low) == ("answer", 0.02)
    assert drawn(app)["about"]["lines"][-1].endswith(f"answer {percent(answer.probabilities[1])}")


def test_candidates_too_long_for_a_link_are_left_out_with_a_notice():
    app = open_view("explore", model="test-as", first=QUESTION, second=ANSWERS[0])
    app.session_state["rank candidates"] = True
    app.run().text_area[0].input("\n".join(f"the dog number {i} is outside in the snow" for i in range(80))).run()
    assert "candidates" not in query(app)
    assert query(app)["first"] == QUESTION
    assert sum("too long for a link" in said for said in sentences(app)) == 1


@pytest.mark.parametrize("model", ["test-light", "test-te"])
def test_a_model_of_another_task_ranks_nothing(model):
    app = open_view("explore", model=model, first="A dog", second="A cat")
    assert not app.text_area
