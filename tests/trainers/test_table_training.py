"""All systems of a table on the same data, what is drawn of them, and a break in between."""

from __future__ import annotations

import csv
import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from core.checkpoint import load
from trainers import recipe as recipes
from trainers.__main__ import main
from trainers.paper.__main__ import main as paper
from trainers.paper.table.systems import TABLES
from trainers.paper.table.training import recipe_of
from trainers.sources import DataSource
from trainers.training_data import read_source

SMALL = {"hidden": 6, "embedding_dropout": 0.0, "dropout": 0.0}
BASES = {"nli": "comparison-nli", "fever": "comparison-fever", "sentiment": "comparison-sst5"}


def base(folder: Path, name: str) -> Path:
    """The comparison's recipe, of tiny models and one epoch."""
    whole = recipes.load(name)
    small = dataclasses.replace(whole, model={**whole.model, **SMALL}, epochs=1, batch_size=60)
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(small.to_dict()))
    return path


@pytest.mark.parametrize("name", TABLES)
def test_each_system_is_made_by_the_recipe_that_is_trained_for_it(name):
    """And by no other system's recipe."""
    whole = recipes.load(BASES[name])
    run = [system for system in TABLES[name].systems if system.architecture]
    for system in run:
        recipe = recipe_of(system, whole, 2)
        config, roles = dataclasses.asdict(recipe.model_config()), {"judged": recipe.judged}
        card = {"architecture": recipe.architecture, "config": config, "roles": roles}
        assert [other.name for other in run if other.made(card)] == [system.name]
        assert (recipe.train, recipe.dev, recipe.seed) == (whole.train, whole.dev, 2)
        assert config.get("hidden") in (None, whole.model["hidden"])


def test_training_a_table_skips_finished_runs_and_resumes_after_an_interruption(tmp_path, data, monkeypatch, capsys):
    names = ("majority class", "claim alone", "Bi-CNN", "AttConv light, context-wise", "AttConv light, context-conc")
    systems = tuple(system for system in TABLES["fever"].systems if system.name in names)
    monkeypatch.setitem(TABLES, "fever", TABLES["fever"]._replace(systems=systems))
    runs, out = tmp_path / "runs", tmp_path / "fever"
    command = ["table", "fever", "--train", str(base(tmp_path, "comparison-fever")), "--data", str(data)]
    command += ["--runs", str(runs), "--out", str(out), "--seeds", "1,2"]
    assert paper(command) == 0
    folders = {path.name for path in runs.iterdir() if path.is_dir()}
    trained = ("claim-alone", "bi-cnn", "attconv-light-context-wise", "attconv-light-context-conc")
    assert folders == {f"{name}-seed={n}" for n in (1, 2) for name in trained}
    lines = {row["system"]: row for row in csv.DictReader(out.with_suffix(".csv").open(newline=""))}
    (ours,) = (key for key in next(iter(lines.values())) if key.startswith("ours"))
    assert "±" in lines["Bi-CNN"][ours] and lines["Bi-CNN"]["runs"] == "2"
    assert lines["AttConv light, context-wise"]["evidence cut"] == "0.00 ± 0.00"
    assert lines["majority class"][ours] != "–"
    times = {path: path.stat().st_mtime_ns for path in runs.glob("*/card.json")}
    shutil.rmtree(runs / "bi-cnn-seed=2")
    capsys.readouterr()
    assert paper(command) == 0
    assert "bi-cnn-seed=2: bi-cnn, 120 rows" in capsys.readouterr().out
    again = {path: path.stat().st_mtime_ns for path in runs.glob("*/card.json")}
    assert again.keys() == times.keys() and sum(again[path] != times[path] for path in times) == 1

    figure = tmp_path / "figure8"
    folders = [str(runs / name) for name in ("attconv-light-context-wise-seed=1", "bi-cnn-seed=1")]
    assert paper(["figure", "evidence", *folders, "--data", str(data), "--out", str(figure)]) == 0
    rows = list(csv.DictReader(figure.with_suffix(".csv").open(newline="")))
    first = "attconv-light-context-wise-seed=1"
    assert [(row["group"], row["checkpoint"]) for row in rows[:2]] == [("1", first), ("2", first)]
    for folder in folders:
        card = load(folder).card
        own = [row for row in rows if row["checkpoint"] == card["name"]]
        right, items = (sum(int(row[key]) for row in own) for key in ("right", "items"))
        assert right / items == pytest.approx(card["results"]["FEVER dev 6k (pages apart)"]["accuracy"])
        assert all(float(row["low"]) <= float(row["accuracy"]) <= float(row["high"]) for row in own)
    page = figure.with_suffix(".html").read_text()
    assert "evidence sentences of the claim" in page and "<script src" not in page
    assert paper(["figure", "length", *folders, "--data", str(data), "--out", str(figure)]) == 0
    rows = list(csv.DictReader(figure.with_suffix(".csv").open(newline="")))
    assert sum(int(row["items"]) for row in rows) == 2 * 24 and rows[0]["first"] == "4"


def test_another_run_in_a_systems_place_is_named_and_the_others_go_on(tmp_path, data, monkeypatch, capsys):
    systems = tuple(system for system in TABLES["sentiment"].systems if system.name == "AttConv light")
    monkeypatch.setitem(TABLES, "sentiment", TABLES["sentiment"]._replace(systems=systems))
    command = [
        "table",
        "sentiment",
        "--data",
        str(data),
        "--runs",
        str(tmp_path / "runs"),
        "--out",
        str(tmp_path / "x"),
    ]
    path = base(tmp_path, "comparison-sst5")
    assert paper([*command, "--train", str(path)]) == 0
    path.write_text(path.read_text().replace('"epochs": 1', '"epochs": 2'))
    capsys.readouterr()
    assert paper([*command, "--train", str(path)]) == 1
    assert capsys.readouterr().err.count("holds a run of other settings") == 1


def test_a_sample_is_the_same_for_every_seed_and_rows_without_weight_are_no_part_of_it(tmp_path):
    rows = [
        {
            "gold_label": "neutral",
            "sentence1": f"a {i}",
            "sentence2": "b",
            "pairID": f"{'odd' if i % 2 else 'even'}-{i}",
        }
        for i in range(100)
    ]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = DataSource("x", "x.jsonl", rows=20, part_weights={"odd": 0.0})
    drawn = read_source(tmp_path, source).rows
    assert len(drawn) == 20 and all(row.id.startswith("even") for row in drawn)
    assert read_source(tmp_path, source).rows == drawn


def test_figures_of_runs_with_different_dev_sets_are_one_sentence(tmp_path, data, capsys):
    folders = []
    for name in ("comparison-sst5", "comparison-imdb"):
        folders.append(str(tmp_path / name))
        changes = ["--set", "model.hidden=4", "--set", "epochs=1"]
        assert main(["train", name, "--data", str(data), "--out", folders[-1], "--device", "cpu", *changes]) == 0
    command = ["--data", str(data), "--out", str(tmp_path / "x")]
    assert paper(["figure", "length", *folders, *command]) == 2
    assert "different dev sets" in capsys.readouterr().err
    assert paper(["figure", "evidence", folders[0], *command]) == 2
    assert "checks no claims" in capsys.readouterr().err and not (tmp_path / "x.csv").exists()
