"""Tables of results: ours from the cards, next to the paper's, never mixed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from core.checkpoint.files import CARD_VERSION
from trainers.paper.__main__ import main as paper
from trainers.paper.table.systems import TABLES


def run(folder: Path, name: str, architecture: str, accuracy: float, seed: int = 1, rows: int = 10, **more) -> None:
    config = {"context": "extra"} | more.pop("config", {})
    (folder / name).mkdir(parents=True)
    card = {
        "schema_version": CARD_VERSION,
        "name": name,
        "title": name,
        "architecture": architecture,
        "config": config,
        "task": "entailment",
        "labels": ["a", "b"],
        "licence": "CC0",
        "sha256": "0",
        "roles": {"first": "premise", "second": "hypothesis", "judged": "hypothesis"},
        "words": {"name": "made up", "sha256": "0"},
        "seed": seed,
        "parameters": {"model": 1234, "projection": 5},
        "data": [{"name": "few", "rows": rows, "licence": "CC0"}],
        "recipe": {"dev": {"name": "dev"}, "train": [{"path": "few.csv", "rows": rows, "part_weights": {}}]},
        "results": {"dev": {"accuracy": accuracy, "macro_f1": 0.5, "items": 10} | more},
    }
    (folder / name / "card.json").write_text(json.dumps(card))


def test_our_numbers_are_next_to_the_papers_with_an_interval_for_several_seeds(tmp_path, capsys):
    runs = tmp_path / "runs"
    for seed, accuracy in enumerate((0.80, 0.81, 0.82)):
        run(runs, f"esim-{seed}", "esim", accuracy, seed)
    run(runs, "alone", "attconv-light", 0.6, config={"context": "none"})
    run(runs, "light", "attconv-light", 0.79)
    assert paper(["table", "nli", "--runs", str(runs), "--out", str(tmp_path / "nli")]) == 0
    with (tmp_path / "nli.csv").open(newline="") as file:
        table = {row["system"]: row for row in csv.DictReader(file)}
    ours, theirs = "ours: dev, trained on few", "the paper: SNLI test, trained on all of SNLI"
    assert table["Enhanced LSTM (ESIM)"][ours] == "81.00 ± 2.48" and table["Enhanced LSTM (ESIM)"]["runs"] == "3"
    assert (table["AttConv light"][ours], table["AttConv light"][theirs]) == ("79.00", "86.3")
    assert (table["w/o context"][ours], table["Bi-CNN"][ours], table["Bi-CNN"][theirs]) == ("60.00", "–", "80.3")
    assert "Open IE" in table["DGEM"]["not run"]
    text = (tmp_path / "nli.md").read_text()
    assert text == capsys.readouterr().out and "| 81.00 ± 2.48 |" in text


def test_baselines_of_the_same_dev_set_are_in_the_table(tmp_path, capsys):
    run(tmp_path / "runs", "esim", "esim", 0.8)
    path = tmp_path / "runs/baselines.csv"
    path.write_text("baseline,dev,accuracy\nmajority class,dev,.34\nn-gram overlap,another,.6\n")
    command = ["table", "nli", "--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "x")]
    assert paper(command) == 0
    out = capsys.readouterr().out.splitlines()
    assert next(line for line in out if "majority" in line).startswith("| majority class | 34.00 | – | – | 34.3 |")
    assert next(line for line in out if "n-gram" in line).startswith("| n-gram overlap | – |")
    path.write_text("a,b\n1,2\n")
    assert paper(command) == 2 and "holds no scores" in capsys.readouterr().err


def test_fever_shows_the_other_measures_next_to_every_accuracy(tmp_path):
    run(tmp_path, "fever", "attconv-advanced", 0.86, accuracy_with_evidence=0.9, evidence_cut=0.015)
    assert paper(["table", "fever", "--runs", str(tmp_path), "--out", str(tmp_path / "fever")]) == 0
    line = next(line for line in (tmp_path / "fever.md").read_text().splitlines() if "advanced, context-conc" in line)
    assert "| 90.00 | 1.50 |" in line and "| 86.02 |" in line


def test_unlike_runs_and_folders_without_runs_are_one_sentence(tmp_path, capsys):
    run(tmp_path, "a", "esim", 0.8)
    run(tmp_path, "b", "attconv-light", 0.8, rows=11)
    for folder, what in ((tmp_path, "unlike data"), (tmp_path / "a", "no finished run")):
        assert paper(["table", "nli", "--runs", str(folder), "--out", str(tmp_path / "x")]) == 2
        assert what in capsys.readouterr().err
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.parametrize("name", TABLES)
def test_each_system_is_run_or_has_a_reason_why_not(name):
    for system in TABLES[name].systems:
        assert [bool(system.architecture), bool(system.why), bool(system.baseline)].count(True) == 1
