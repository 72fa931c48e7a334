"""Recipes: what cannot be meant is refused with the nearest thing that can."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path

import pytest

from core.checkpoint import PRETRAINED, load_named, read_card
from core.errors import RecipeError
from core.json_types import checked
from core.models import spec_of
from trainers import recipe
from trainers.__main__ import PROGRAM
from trainers.set_up import schedule


@pytest.mark.parametrize("name", recipe.names())
def test_every_recipe_goes_into_a_card_and_back(name: str) -> None:
    loaded = recipe.load(name)
    assert loaded.name == name
    assert recipe.from_dict(loaded.to_dict()) == loaded and loaded.model_config()
    assert all(source.licence for source in (*loaded.train, loaded.dev, *loaded.report))
    if any("SICK" in source.name for source in loaded.train):
        assert "non-commercial" in loaded.licence or "NC" in loaded.licence


FROM_EARLIER_RUNS = {
    "as-adaqa",
    "nli-attconv-light",
    "para-adaqa",
}
"""Checkpoints that started from runs, or learnt from teachers, that are not in the repository."""


def test_every_shipped_checkpoint_is_what_its_command_trains() -> None:
    cards = {
        path.parent.name: read_card(path.parent)
        for path in PRETRAINED.glob("*/card.json")
        if path.parent.name != "words"
    }
    shipped = {card["sha256"] for card in cards.values()} | {load_named("guest-minilm").card["sha256"]}
    for name, card in cards.items():
        command = shlex.split(card["training"]["command"])[2:]
        given = PROGRAM.parser("train").parse_args(command[command.index("train") :])
        made, was = recipe.load(given.recipe, given.changes), recipe.from_dict(card["recipe"])
        assert dataclasses.replace(made, title=was.title, notes=was.notes, paper=was.paper, report=was.report) == was, (
            name
        )
        assert 3 * was.warmup <= card["training"]["steps"], "a warm-up of more than a third would have been shortened"
        config = checked(card["config"], spec_of(was.architecture).config)
        assert was.architecture == card["architecture"] and [*was.labels] == card["labels"]
        assert dataclasses.replace(was.model_config(), input_size=config.input_size, classes=config.classes) == config
        started = [of for of in (card.get("init"), *card.get("teachers", [])) if of and "@" not in of["name"]]
        assert ({of["sha256"] for of in started} <= shipped) != (name in FROM_EARLIER_RUNS), name


def test_a_warm_up_ends_within_a_third_of_the_steps() -> None:
    light = recipe.load("nli-attconv-light", ["schedule=constant"])
    rates = [schedule(light, step, 175) for step in range(175)]
    assert light.warmup == 300 and rates[57] < 1 == rates[58] == rates[-1] and rates == sorted(rates)


def test_recipes_are_in_the_folder_of_their_task_under_unique_names() -> None:
    lying = [path for folder in recipe.FOLDERS for path in folder.rglob("*.yaml")]
    assert len(lying) == len(recipe.names()) > 50
    for name, path in recipe.files().items():
        assert recipe.load(name).name == name
        assert path.parent.name in (recipe.load(name).task.replace(" ", "-"), "table")


def test_the_paper_s_set_up() -> None:
    for name in ("nli-attconv-light-paper", "nli-attconv-advanced-paper"):
        found = recipe.load(name)
        assert (found.optimizer, found.lr, found.batch_size) == ("adagrad", 0.01, 50)
        assert (found.model["hidden"], found.model["width"]) == (300, 3)


@pytest.mark.parametrize("name", ["nli-two-sided", "nli-attconv-light", "nli-esim"])
def test_recipes_for_all_of_snli_differ_only_in_data_and_epochs(name: str) -> None:
    first = f"{name}-first" if name == "nli-two-sided" else name  # its second stage is for its first one's mistakes
    part, full = (recipe.load(each).to_dict() for each in (first, f"{name}-full"))
    of_the_part = {"init", "init_classifier", "teachers", "transfer"}
    assert {key for key in part if part[key] != full[key]} - of_the_part - {"epochs", "title"} == {"name", "train"}
    assert not any(full[key] for key in of_the_part)
    assert [source["path"] for source in full["train"]] == ["snli/snli_1.0_train.jsonl"]
    assert recipe.load(f"{name}-full", ["lr=0.5"]).lr == 0.5


@pytest.mark.parametrize(
    ("keys", "says"),
    [("like: nli-esin", "did you mean 'nli-esim'"), ("like: [1]", "like must name")],
)
def test_a_recipe_is_like_one_that_is_there(keys: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(keys)
    with pytest.raises(RecipeError, match=says):
        recipe.load(str(path))
    path.write_text("like: nli-esim\nname: mine")
    assert recipe.load(str(path)).lr == recipe.load("nli-esim").lr


def test_changes_on_top() -> None:
    found = recipe.load("nli-attconv-light", ["lr=1e-3", "epochs=2", "model.match=bilinear", "report=[]"])
    assert (found.lr, found.epochs, found.model["match"], found.report) == (0.001, 2, "bilinear", ())
    assert found.model["hidden"] == 300


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("lrr=1", "unknown key lrr; did you mean 'lr'"),
        ("model.hiden=3", "unknown key model.hiden; did you mean 'hidden'"),
        ("train=[{nam: x, path: y}]", r"unknown key train\[0\].nam; did you mean 'name'"),
        ("train=[{name: x}]", r"train\[0\].path is missing"),
        ("lr=fast", "lr must be a number"),
        ("lr=0", "lr must be larger than 0"),
        ("epochs=2.5", "epochs must be a whole number"),
        ("epochs=true", "epochs must be a whole number"),
        ("ema=1", "ema must be at least 0 and below 1"),
        ("optimizer=sgd", "optimizer must be one of adagrad, adam, adamw"),
        ("architecture=attconv-lite", "did you mean 'attconv-light'"),
        ("judged=answer", "judged must be one of premise, hypothesis, both, got"),
        ("judged=both", "AttConv light judges one side"),
        ("paper={SNLI test, hard: 0.8}", "paper.SNLI test must be a number, got None"),
        ("token_limits={hypotesis: 30}", "unknown key token_limits.hypotesis; did you mean 'hypothesis'"),
        ("model.dropout=2.0", "model.dropout must be at least 0 and below 1"),
        ("model.width=2", "model.width must be odd"),
        ("model.hidden=true", "model.hidden must be a whole number, got True"),
        ("model.input_size=3", "unknown key model.input_size: it follows from the words"),
        ("lr", "--set wants key=value"),
        ("lr=[", "is not a readable value"),
    ],
)
def test_refusals(change: str, says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        recipe.load("nli-attconv-light", [change])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (["architecture=acnn", "model={}"], "ACNN reads single texts, and the roles are for pairs"),
        (["roles=[text]", "judged=text"], "AttConv light reads pairs, and the roles are for single texts"),
        (["roles=[text]", "judged=both", "model.context=none"], "judged must be one of text, got 'both'"),
    ],
)
def test_a_model_gets_as_many_texts_as_it_reads(changes: list[str], says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        recipe.load("nli-attconv-light", changes)
    assert recipe.load("nli-attconv-light", ["roles=[text]", "judged=text", "model.context=intra"]).judged == "text"


def test_files_that_are_not_recipes(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="did you mean 'nli-attconv-light'"):
        recipe.load("nli-attconv-ligt")
    broken = tmp_path / "broken.yaml"
    broken.write_text("name: x\nlr: [\n")
    with pytest.raises(RecipeError, match="not readable YAML at line"):
        recipe.load(str(broken))
    broken.write_text("- just\n- a list\n")
    with pytest.raises(RecipeError, match="keys and values"):
        recipe.load(str(broken))
