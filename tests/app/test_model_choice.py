"""The models that a page offers, and the hypothesis-only model for comparison."""

import itertools
import json
import shutil

import pytest

from app.model_choice import RECOMMENDED, by_task, offered, reads_pairs
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
