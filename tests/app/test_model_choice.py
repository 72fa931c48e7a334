"""The models that a page offers, and the hypothesis-only model for comparison."""

import itertools
import json
import shutil
from pathlib import Path

import pytest

from app.model_choice import (
    RECOMMENDED,
    SECOND_OPINION,
    Listed,
    _by_architecture,
    by_task,
    megabytes,
    offered,
    reads_pairs,
    second_opinion,
)
from core.alone import judging_alone
from core.checkpoint import available, read_card
from tests.app.pages import chooser, open_view


def test_the_baseline_model_judges_the_same_text_without_its_context():
    cards = {name: read_card(folder) for name, folder in available().items() if not name.startswith("test-")}
    entailment = {name for name, card in cards.items() if card["task"] == "entailment"}
    baselines = {name: judging_alone(card) for name, card in cards.items()}
    assert len(entailment) > 10
    assert baselines == {name: "nli-hypothesis-only" if name in entailment else None for name in cards} | {
        "nli-hypothesis-only": None
    }


def test_small_models_for_lessons_are_listed_last_and_labelled():
    names = [name for name in by_task(offered(reads_pairs))["entailment"] if not name.startswith("test-")]
    assert set(names[-2:]) == {"lesson-light", "lesson-advanced"} and names[0] == "nli-two-sided"
    app = open_view("explore")
    options = chooser(app, "Model").options
    assert sum("small, for the lessons" in option for option in options) == 2
    assert [option.endswith(" · recommended") for option in options[:4]] == [True, True, True, False]
    assert "change a word and press Enter" in "".join(html.value for html in app.get("html"))


def test_after_the_recommended_models_those_of_one_architecture_are_together():
    models = offered(reads_pairs)
    for names in by_task(models).values():
        own = [name for name in names if not name.startswith("test-") and not name.startswith("lesson-")]
        rest = [models[name].card["architecture"] for name in own[RECOMMENDED:]]
        assert len([*itertools.groupby(rest)]) == len(set(rest)), own


def test_three_models_of_a_task_come_before_all_others_by_architecture():
    kinds = {"a1": "a", "b1": "b", "a2": "a", "c1": "c", "b2": "b", "c2": "c", "a3": "a", "lesson": "a"}
    cards = {name: Listed(Path(name), {"task": "nli", "architecture": kind}) for name, kind in kinds.items()}
    cards |= {"other": Listed(Path("other"), {"task": "qa", "architecture": "c"}), "broken": Listed(Path("x"), None)}
    found = _by_architecture([*cards], cards, {"lesson"})
    assert found == ["a1", "b1", "a2", "other", "a3", "b2", "c1", "c2", "lesson", "broken"]
    assert RECOMMENDED == 3


def test_a_second_opinion_has_the_task_and_the_classes(monkeypatch):
    monkeypatch.delenv("PAIRLENS_SECOND", raising=False)
    labels = ["entailment", "neutral", "contradiction"]
    own = {"task": "nli", "labels": labels}
    ask = lambda theirs, name="own", card=own: second_opinion(name, card, {SECOND_OPINION: theirs})  # noqa: E731
    assert ask({"task": "nli", "labels": labels[::-1]}) == SECOND_OPINION
    assert ask({"task": "nli", "labels": [*labels[:2], "no"]}) is None and ask({"task": "qa", "labels": labels}) is None
    assert ask(own, SECOND_OPINION) is None and ask(own, card=own | {"labels": labels[:2]}) is None
    assert second_opinion("own", own, {}) is None
    monkeypatch.setenv("PAIRLENS_SECOND", "mine")
    assert second_opinion("own", own, {"mine": own, SECOND_OPINION: own}) == "mine"


def test_sizes_are_shown_in_megabytes():
    sizes = {1_234_000: "1.2 MB", 9_940_000: "9.9 MB", 9_950_000: "10 MB", 999_400_000: "999 MB", 999_500_000: "1.0 GB"}
    assert {size: megabytes(size) for size in sizes} == sizes


@pytest.mark.parametrize(
    ("change", "baseline"),
    [
        ({}, "alone"),
        ({"task": "another"}, None),
        ({"labels": ["no", "maybe", "yes"]}, None),
        ({"roles": {"first": "premise", "second": "hypothesis", "judged": "premise"}}, None),
    ],
    ids=["same", "task", "labels", "roles"],
)
def test_the_baseline_is_found_by_its_card_not_its_name(checkpoints, tmp_path, monkeypatch, change, baseline):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("core.checkpoint.PRETRAINED", tmp_path / "none")
    for name, copied in (("light", "test-light"), ("alone", "test-alone"), ("broken", "test-foreign")):
        shutil.copytree(checkpoints / copied, tmp_path / name)
    file = tmp_path / "alone" / "card.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    assert judging_alone(read_card(tmp_path / "light")) == baseline
    card = read_card(tmp_path / "light")
    assert judging_alone({**card, "roles": {**card["roles"], "judged": "both"}}) == baseline, "the second of both"
