"""External models whose outputs are not classes, and unusable folders, on the pages."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from app.models import guest
from core.checkpoint import load, load_named, read_card
from core.explain import explain
from tests.app.pages import open_view, sentences
from tests.guests import make, make_tower
from tests.layouts import LAYOUTS

PAIR = ("A man plays a red guitar.", "Three girls don't eat in the park!")


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A scorer, a model of several labels, one of similarities, and one with numbered classes."""
    home = tmp_path_factory.mktemp("answers")
    make(home / "ranker", id2label={0: "LABEL_0"}, label2id={"LABEL_0": 0})
    make(home / "tags", problem_type="multi_label_classification")
    make_tower(home / "tower")
    labels = {number: f"LABEL_{number}" for number in range(3)}
    make(home / "numbered", id2label=labels, label2id={label: number for number, label in labels.items()})
    return home


@pytest.fixture(autouse=True)
def _here(own, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(own))


def explore(**link):
    app = open_view("explore", **({"first": PAIR[0], "second": PAIR[1]} | link))
    assert not app.exception
    return app


def html(app):
    return "".join(element.proto.body for element in app.get("html"))


def test_a_score_is_not_a_percentage_on_explore(drawn, own):
    data = drawn(explore(model="ranker", edits="drop 0 4"))
    (share,) = data["verdict"]["classes"]
    score = explain(load(own / "ranker"), *PAIR).probabilities[0]
    said = f"{score:.2f}".replace("-", "−")
    steps = data["why"]["what_if"]["steps"]
    assert (f"{steps[0]['probabilities'][0]:.2f}".replace("-", "−"), share["label"]) == (said, "score")
    assert share["said"] not in ("", said), "the score without “red”"


def test_a_similarity_notes_that_no_threshold_was_fitted(drawn):
    (share,) = drawn(explore(model="tower"))["verdict"]["classes"]
    assert share["label"] == "similarity" and share["said"].endswith("; no threshold fitted")


def test_labels_that_may_all_hold_are_listed(drawn, own):
    data = drawn(explore(model="tags"))
    expected = explain(load(own / "tags"), *PAIR).probabilities
    assert [share["apart"] for share in data["verdict"]["classes"]] == [True] * 3
    assert [share["p"] for share in data["verdict"]["classes"]] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("others", ["tags", "tower"])
def test_they_are_compared_with_others(others):
    app = open_view("compare", model="ranker", others=others, first=PAIR[0], second=PAIR[1])
    assert not app.exception and "100\u00a0%" not in json.dumps([one.proto.json for one in app.get("bidi_component")])


def test_explore_leads_to_the_form_which_starts_empty_and_opens_again(own, tmp_path, monkeypatch):
    shutil.copytree(own / "numbered", tmp_path / "numbered")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    app = explore(model="numbered")
    links = [one.proto for one in app.get("page_link")]
    assert any(link.label == "Name its classes" and "model=numbered" in link.query_string for link in links)
    app = open_view("models", model="numbered")
    assert [box.value for box in app.main.selectbox[1:]] == [None] * 3 and "0 of 3 classes have a name" in html(app)
    for box, label in zip(app.main.selectbox[1:], ("neutral", "entailment", "contradiction"), strict=True):
        box.set_value(label)
    app.run()
    assert "3 of 3 classes have a name" in html(app)
    next(button for button in app.button if button.label == "Save labels").click().run()
    assert not app.exception and not app.main.selectbox
    assert load_named("numbered").labels == ("neutral", "entailment", "contradiction")
    next(button for button in app.button if button.label == "Change what its classes mean").click().run()
    assert [box.label for box in app.main.selectbox[1:]] == [f"LABEL\\_{number} means" for number in range(3)]


def test_bad_folders_are_one_sentence_each_on_models_and_no_other_page_sees_them(own, tmp_path, monkeypatch):
    shutil.copytree(own / "tags", tmp_path / "good")
    for name in ("layers", "link", "folder", "fifo", "steps"):
        shutil.copytree(own / "tags", tmp_path / name)
    config = json.loads((own / "tags/config.json").read_text())
    (tmp_path / "layers/config.json").write_text(json.dumps({**config, "num_hidden_layers": "x"}))
    for name in ("link", "folder", "fifo"):
        (tmp_path / name / "model.safetensors").unlink()
    (tmp_path / "link/model.safetensors").symlink_to(tmp_path / "gone")
    (tmp_path / "folder/model.safetensors").mkdir()
    os.mkfifo(tmp_path / "fifo/model.safetensors")
    (tmp_path / "steps/modules.json").write_text(json.dumps([{"type": "x.Transformer", "path": "a" * 5000}]))
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    app = open_view("models")
    assert not app.exception and "good" in {*app.dataframe[0].value["title"]}
    told = [one for sentence in sentences(app) for one in sentence.split("<p ") if "Not shown: " in one]
    assert len(told) == 5 and all(
        any(name in one for one in told) for name in ("layers", "link", "folder", "fifo", "steps")
    )
    for page in ("explore", "compare", "phrases", "filter_map", "error_desk"):
        app = open_view(page)
        assert not app.exception
        assert not any("link to nowhere" in sentence for sentence in sentences(app))


def test_a_card_shows_the_prompt_and_the_modules_files(tmp_path):
    folder = LAYOUTS["modular, three classes"](tmp_path / "model")
    facts = dict(guest.facts(read_card(folder), folder))
    assert facts["Before the text read first"] == "“dog: ”"
    assert {"config.json", "1_Pooling/config.json", "2_Dense/model.safetensors"} < {*facts["Files"].split(", ")}
