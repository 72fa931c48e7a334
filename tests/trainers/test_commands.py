"""The commands evaluate, predict and bench."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from core.checkpoint import CheckpointError, load
from core.desk.run_folder import load as load_run
from core.evaluation.intervals import wilson
from core.explain import explain
from tests.app.made_up_models import make_checkpoint
from trainers import bench, loop, set_up
from trainers import recipe as recipes
from trainers.__main__ import main
from trainers.bench import models
from trainers.bench.models import Measurement
from trainers.paper.__main__ import main as paper

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint that has learnt the made-up task."""
    out = tmp_path_factory.mktemp("trained") / "mine"
    changes = ["model.hidden=24", "epochs=12", "batch_size=16", "warmup=2", "lr=0.01", "ema=0.5", "report=[]"]
    more = [part for change in changes for part in ("--set", change)]
    vectors = str(data / "vectors.txt")
    assert (
        main(["train", "nli-attconv-light", "--data", str(data), "--out", str(out), "--vectors", vectors, *more]) == 0
    )
    return out


def scores(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    capsys.readouterr()
    assert main(["evaluate", *arguments, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_evaluate_agrees_with_explain_row_by_row(
    trained: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dev, out = data / "snli/snli_1.0_dev.jsonl", tmp_path / "rows.csv"
    found = scores(capsys, str(trained), str(dev))
    assert main(["predict", str(trained), str(dev), "--out", str(out)]) == 0
    checkpoint = load(trained)
    rows = list(csv.DictReader(out.open()))
    right = 0
    for row in rows:
        told = explain(checkpoint, row["first"], row["second"])
        assert told.verdict == row["predicted"]
        assert [float(row[f"p_{label}"]) for label in told.labels] == pytest.approx(told.probabilities, abs=1e-5)
        right += told.verdict == row["label"]
    assert len(rows) == found["items"] == 24 and found["accuracy"] == pytest.approx(right / 24)
    assert found["accuracy"] == pytest.approx(checkpoint.card["results"]["SNLI dev"]["accuracy"])
    assert found["accuracy"] > 0.6
    assert found["accuracy_interval_95"] == list(wilson(right, 24))


def test_predictions_as_csv_give_texts_back_byte_for_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["a dog\r=1+1", "=1+1", "'quoted'", 'a "dog", a cat', "two\r\nlines", "\t-1"]
    file, out = tmp_path / "texts.jsonl", tmp_path / "out.csv"
    rows = [{"gold_label": "neutral", "sentence1": text, "sentence2": "a cat"} for text in texts]
    file.write_text("\n".join(map(json.dumps, rows)))
    make_checkpoint(tmp_path, "tiny", "Tiny", 1)
    assert main(["predict", str(tmp_path / "tiny"), str(file), "--out", str(out)]) == 0
    with out.open(encoding="utf-8", newline="") as written:
        assert [row["first"] for row in csv.DictReader(written)] == texts
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["predict", "--help"])
    assert "byte for byte" in capsys.readouterr().out


def test_answers_are_ranked_by_the_class_that_the_card_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {"input_size": 16, "hidden": 12, "classes": 2}
    roles = {"first": "question", "second": "answer", "judged": "answer"}
    labels = ["fitting", "unfit"]
    make_checkpoint(tmp_path, "ranker", "Ranker", 1, config=config, labels=labels, roles=roles, ranked_by="fitting")
    path = tmp_path / "answers.csv"
    path.write_text("question,answer,label\na dog,a cat,0\na dog,the dog is cold,1\na man,no,0\n")
    found = scores(capsys, str(tmp_path / "ranker"), str(path))
    said = [explain(load(tmp_path / "ranker"), "a dog", answer) for answer in ("a cat", "the dog is cold")]
    first = said[1].probabilities[0] > said[0].probabilities[0]
    assert (found["ranked_by"], found["map"]) == ("fitting", 1.0 if first else 0.5)
    make_checkpoint(tmp_path, "other", "Other", 1, config=config, labels=labels, roles=roles, ranked_by="good")
    with pytest.raises(CheckpointError, match="ranked_by must be one of the labels"):
        load(tmp_path / "other")


def test_evaluate_ranks_answers(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(
        "question,answer,label\nred dog runs,not red dog,0\nred dog runs,red dog runs,1\nno right one,x,0\n"
    )
    assert main(["evaluate", str(trained), str(path)]) == 2
    assert "--positive" in capsys.readouterr().err
    found = scores(capsys, str(trained), str(path), "--positive", "entailment")
    checkpoint = load(trained)
    chances = [explain(checkpoint, "red dog runs", a).probabilities[0] for a in ("not red dog", "red dog runs")]
    expected = 1.0 if chances[1] > chances[0] else 0.5
    assert (found["map"], found["mrr"], found["questions"], found["skipped"]) == (expected, expected, 1, 1)
    assert found["map_interval_95"] == [expected, expected], "of one question"


def test_labels_that_do_not_fit_are_refused_or_translated(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scitail.csv"
    path.write_text("premise,hypothesis,label\nred dog runs,red dog,entails\nred dog runs,maybe tall,neutral\n")
    assert main(["evaluate", str(trained), str(path)]) == 2
    told = capsys.readouterr().err
    assert "entails" in told and "entailment, neutral, contradiction" in told and "--label" in told
    found = scores(capsys, str(trained), str(path), "--label", "entails=entailment")
    assert found["items"] == 2 and "classes" in found
    assert main(["evaluate", str(trained), str(path), "--label", "entails"]) == 2


def test_evaluate_reports_skipped_rows(
    trained: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "dev.jsonl"
    good = (data / "snli/snli_1.0_dev.jsonl").read_text()
    path.write_text(good + '{"gold_label": "-", "sentence1": "a", "sentence2": "b"}\n{"gold_label"\n')
    capsys.readouterr()
    assert main(["evaluate", str(trained), str(path)]) == 0
    told = capsys.readouterr().out
    assert "of 25 rows have a label\n" in told and "line 26: not a JSON object" in told


def test_predict_without_labels(trained: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "x.csv", tmp_path / "out.jsonl"
    path.write_text("premise,hypothesis\nred dog runs,red dog runs\n<b>,🙂\n")
    assert main(["predict", str(trained), str(path), "--out", str(out)]) == 0
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert [r["first"] for r in records] == ["red dog runs", "<b>"] and records[0]["label"] == ""
    for record in records:
        chances = {key[2:]: value for key, value in record.items() if key.startswith("p_")}
        assert sum(chances.values()) == pytest.approx(1, abs=1e-5)
        assert max(chances, key=lambda k: chances[k]) == record["predicted"]
    assert main(["predict", str(trained), str(path), "--out", str(tmp_path / "out.txt")]) == 2


def test_predict_names_a_row_with_half_a_character_and_continues(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.jsonl"
    rows = [{"sentence1": first, "sentence2": "red dog"} for first in ("red dog", "A dog \ud800 runs", "🙂 dog")]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    for out in (tmp_path / "out.jsonl", tmp_path / "out.csv"):
        assert main(["predict", str(trained), str(path), "--out", str(out)]) == 0
        assert "line 2: " in capsys.readouterr().err
        text = out.read_text(encoding="utf-8")
        assert "red dog" in text and "🙂 dog" in text and "runs" not in text


def test_a_truncated_checkpoint_is_one_sentence(
    trained: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "cut"
    copy.mkdir()
    for path in trained.iterdir():
        (copy / path.name).write_bytes(path.read_bytes()[: -5 if path.name == "weights.safetensors" else None])
    capsys.readouterr()
    assert main(["evaluate", str(copy), str(data / "sick/SICK_trial.txt")]) == 2
    told = capsys.readouterr().err
    assert "truncated" in told and len(told.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("program", "command", "part"),
    [
        (main, [], "evaluate"),
        (main, ["train"], "--resume"),
        (main, ["evaluate"], "--json"),
        (main, ["predict"], "--out"),
        (paper, [], "make-pairs"),
        (paper, ["table"], "--runs"),
        (main, ["bench"], "--quick"),
    ],
)
def test_help(
    program: Callable[[list[str]], int], command: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        program([*command, "--help"])
    assert left.value.code == 0 and part in capsys.readouterr().out


def test_the_program_itself_leaves_no_traceback(data: Path) -> None:
    wrong = [sys.executable, "-m", "trainers", "evaluate", "no-such-model", str(data / "sick/SICK_trial.txt")]
    told = subprocess.run(wrong, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert told.returncode == 2 and "no-such-model" in told.stderr and "Traceback" not in told.stderr


@pytest.mark.parametrize("name", ["nli-attconv-light", "nli-esim"])
def test_bench_counts_the_work_of_the_equations(name: str, tmp_path: Path) -> None:
    """Forward and backward, 2 FLOP a product of two numbers; the word table is frozen, so nothing flows back to it."""
    d, b = 8, 4
    words, data = models.made_up(b)
    run = loop.ready(
        recipes.load(name, [f"model.hidden={d}", "teachers=[]"]), data, words, set_up.Options(tmp_path, precision="32")
    )
    y, x = (b * int(texts.lengths.max()) for texts in (data.train.first, *data.train.contexts))
    cells, projection = x * y / b, 2 * (x + y) * words.width * d
    if name == "nli-attconv-light":  # W_1 3d·d and W_2 d·d a word, attention d a cell, twice
        work = 2 * projection + 3 * (8 * x * d * d + 4 * cells * d + 6 * b * d)
    else:  # both ways of two LSTMs (4 gates of inputs and states), what is compared, both layers of the classifier
        lstm = 2 * (x + y) * 2 * 4 * d * 2 * d
        compared = 2 * (x + y) * 6 * d * d
        work = 2 * projection + 3 * (2 * lstm + compared + 3 * 2 * cells * 2 * d + 2 * b * (8 * d * d + 3 * d))
    assert models.work(run, np.arange(b)) == pytest.approx(work)


def test_bench_times_the_training_of_a_recipe_with_teachers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert recipes.load("nli-esim").teachers, "they read texts, and the bench's pairs are numbers"
    monkeypatch.setattr(models, "BATCH", 4)
    share = models.training_share("nli-esim", *models.made_up(5 * 4))
    assert 0 < share.value < 100 and "pairs/s" in share.note


def test_bench_writes_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing(quick: bool) -> list[Measurement]:
        raise models.Unmeasured("no browser")

    rows = [Measurement("fast", 3.0, "ms", 5), Measurement("slow", 7.0, "ms", 5), Measurement("seen", 7.0, "ms", None)]
    monkeypatch.setitem(bench.MEASUREMENTS, "explain", lambda quick: rows)
    monkeypatch.setitem(bench.MEASUREMENTS, "verdict", missing)
    out = tmp_path / "b.json"
    assert main(["bench", "explain", "verdict", "--json", str(out)]) == 0
    (run,) = json.loads(out.read_text())["runs"]
    assert [row["met"] for row in run["benchmarks"]["explain"]] == [True, False, None]
    assert [(row["value"], row["note"]) for row in run["benchmarks"]["verdict"]] == [(None, "no browser")]
    assert run["machine"]["torch"] == torch.__version__ and "not measured" in capsys.readouterr().out
    assert main(["bench", "nothing"]) == 2


def test_bench_keeps_the_other_measurements_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("explain", 1.0), ("desk", 2.0)):
        monkeypatch.setitem(bench.MEASUREMENTS, name, lambda quick, value=value: [Measurement("time", value, "ms", 5)])
    out = tmp_path / "b.json"
    assert main(["bench", "explain", "desk", "--json", str(out)]) == 0
    monkeypatch.setitem(bench.MEASUREMENTS, "explain", lambda quick: [Measurement("time", 3.0, "ms", 5)])
    assert main(["bench", "explain", "--json", str(out)]) == 0
    values = [
        {name: row["value"] for name, (row,) in run["benchmarks"].items()}
        for run in json.loads(out.read_text())["runs"]
    ]
    assert values == [{"desk": 2.0}, {"explain": 3.0}]
    out.write_text("{}")
    assert main(["bench", "explain", "--json", str(out)]) == 2
    assert "b.json is not a readable JSON of speeds: make it again" in capsys.readouterr().err


def test_predict_writes_a_run_of_several_checkpoints_with_the_files_columns(trained: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "taxi.tsv", tmp_path / "run"
    names = ["prem", "hyp", "label", *(f"tag{i}" for i in range(18)), "pairID"]
    cells = ["red dog runs", "not red dog", "contradiction", *map(str, range(18)), "7c"]
    path.write_text("\n".join(["\t".join(names), "\t".join(cells)]) + "\n")
    assert main(["predict", str(trained), str(trained), str(path), "--out", str(out)]) == 0
    run = load_run(out)
    assert dict(run.dataset.rows[0].columns) == {f"tag{i}": str(i) for i in range(18)}
    explained = explain(load(trained), "red dog runs", "not red dog")
    for model in run.models:
        assert model.probabilities[0].tolist() == pytest.approx(explained.probabilities, abs=1e-5)
    assert main(["predict", str(trained), "nli-esim", str(path), "--out", str(tmp_path / "x.csv")]) == 2
    assert main(["predict", *(f"none-{n}" for n in range(5)), str(path), "--out", str(out)]) == 2
