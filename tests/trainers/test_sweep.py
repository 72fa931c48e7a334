"""Sweeps, cross-validation and scikit-learn's classifiers."""

from __future__ import annotations

import csv
import json
import shlex
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from core.evaluation import sweeps
from core.evaluation.intervals import half_width
from core.evaluation.scores import summary
from core.models import build
from core.reading.batch import Batch
from core.reading.word_table import WordTable
from trainers import recipe as recipes
from trainers.__main__ import main
from trainers.compare import compare
from trainers.linear import fitted
from trainers.paper.__main__ import main as paper
from trainers.runs import DEV
from trainers.sweep import combinations, part
from trainers.trained_words import fold
from trainers.training_data import load_data
from trainers.vectors import read_folder

SMALL = ["model.hidden=6", "model.projection=6", "epochs=1", "batch_size=30", "vectors=''", "init=''"]
SMALL += ["model.extra=none", "linear=false"]
CHANGES = [part_ for change in SMALL for part_ in ("--set", change)]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_sweep_writes_a_row_a_run_and_runs_nothing_twice(data: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr("trainers.compare.compare", partial(compare, resamples=500))
    table = tmp_path / "figure6.csv"
    command = [
        "sweep",
        "wikiqa-phrases-kmax",
        "--data",
        str(data),
        "--csv",
        str(table),
        "--runs",
        str(tmp_path / "runs"),
        "--vary",
        "model.k=1,2",
        "--seeds",
        "1,2",
        *CHANGES,
    ]
    assert main(command) == 0
    found = rows(table)
    assert [(row["model.k"], row["seed"]) for row in found] == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    assert all(0 <= float(row["map"]) <= 1 and row["classifier"] == "network" for row in found)
    told = shlex.split(found[0]["command"])
    assert told[:4] == ["python", "-m", "trainers", "sweep"] and str(tmp_path) not in found[0]["command"]
    again = [*told[3:], "--data", str(data), "--csv", str(tmp_path / "again.csv"), "--runs", str(tmp_path / "runs")]
    assert main(again) == 0 and rows(tmp_path / "again.csv") == found
    summaries = capsys.readouterr().out.splitlines()[-2:]
    values = [float(row["map"]) for row in found[:2]]
    assert summaries[0].startswith(f"k = 1 (2 runs): MAP {np.mean(values):.4f} ± {half_width(values):.4f}")
    folders = sorted((tmp_path / "runs").iterdir())
    before = [(folder / DEV).stat().st_mtime_ns for folder in folders]
    assert len(folders) == 4 and main(command) == 0
    assert [(folder / DEV).stat().st_mtime_ns for folder in folders] == before and rows(table) == found
    kept = load_file(folders[0] / DEV)
    score = summary(kept["gold"], kept["probabilities"], kept["groups"].tolist(), 1)["map"]
    assert score == pytest.approx(float(found[0]["map"]), abs=1e-4)
    assert main(["compare", "--ours", *map(str, folders[:2]), "--theirs", *map(str, folders[2:])]) == 0
    assert "over 7 items and 2 and 2 seeds" in capsys.readouterr().out
    kept_in = tmp_path / "comparisons.csv"
    for name, (ours, theirs) in {"one": (0, 2), "two": (2, 0), "one again": (0, 2)}.items():
        folders_of = ["--ours", *map(str, folders[ours:][:2]), "--theirs", *map(str, folders[theirs:][:2])]
        assert main(["compare", *folders_of, "--csv", str(kept_in), "--named", name.removesuffix(" again")]) == 0
    told = rows(kept_in)
    assert [(row["comparison"], row["measure"], row["dev"]) for row in told] == [
        ("one", "map", "WikiQA dev"),
        ("two", "map", "WikiQA dev"),
    ]
    assert float(told[0]["difference"]) == -float(told[1]["difference"])
    assert float(told[0]["ours"]) == pytest.approx(np.mean(values), abs=1e-4)
    foreign = tmp_path / "foreign.csv"
    foreign.write_text("comparison,note\none,mine\n")
    assert main(["compare", *folders_of, "--csv", str(foreign), "--named", "one"]) == 2
    assert foreign.read_text() == "comparison,note\none,mine\n"
    assert main(["compare", *folders_of, "--csv", str(kept_in)]) == 2
    assert "go together" in capsys.readouterr().err


def test_folds_hold_every_row_out_once_and_keep_questions_whole(data: Path) -> None:
    for name, whole in (("wikiqa-phrases-kmax", 39 * 3 + 8 * 3), ("sick-phrases-kmin", 144)):
        recipe = recipes.load(name, SMALL)
        loaded = load_data(recipe, data, quiet=True)
        cut = [part(loaded, 5, fold, seed=1) for fold in range(5)]
        held = [data_ for data_, _ in cut]
        assert sorted(row for _, rows in cut for row in rows) == list(range(len(loaded.train) + len(loaded.dev)))
        assert sum(len(one.dev) for one in held) == whole
        assert all(len(one.dev) + len(one.train) == whole for one in held)
        if loaded.dev.groups:
            questions = [set(one.dev.groups) for one in held]
            assert sum(map(len, questions)) == len(set.union(*questions)) == 47
            assert all(not set(one.dev.groups) & set(one.train.groups) for one in held)
        assert len({one.fingerprint for one in held}) == 5


def test_a_run_of_other_settings_is_not_taken_for_this_one(data: Path, tmp_path: Path, capsys) -> None:
    command = [
        "sweep",
        "sick-phrases-kmin",
        "--data",
        str(data),
        "--csv",
        str(tmp_path / "a.csv"),
        "--runs",
        str(tmp_path / "runs"),
        *CHANGES,
    ]
    assert main(command) == 0
    assert main([*command, "--set", "lr=0.5"]) == 2
    assert "holds a run of other settings" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--vary", "model.k"], "--vary wants KEY=A,B,C"),
        (["--seeds", "1,x"], "--seeds wants whole numbers"),
        (["--csv", "nowhere/a.csv"], "does not exist"),
    ],
)
def test_refusals(more: list[str], says: str, data: Path, tmp_path: Path, capsys) -> None:
    command = ["sweep", "sick-phrases-kmin", "--data", str(data), "--csv", str(tmp_path / "a.csv"), *more]
    assert main(command) == 2
    assert says in capsys.readouterr().err


def test_linear_classifiers_predict_like_scikit_learn_on_the_raw_features() -> None:
    torch.manual_seed(0)
    features = torch.randn(200, 6) * torch.tensor([1.0, 100.0, 0.01, 1, 1, 1]) + 5
    for classes in (2, 3):
        labels = ((features - features.mean(0)) / features.std(0))[:, :classes].argmax(1)
        found = {one.name: one for one in fitted(features, labels, torch.ones(200))}
        assert {name.split(",")[0] for name in found} == {"logistic regression", "linear SVM"}
        only = list(fitted(features, labels, torch.ones(200), "linear SVM, C = 0.03"))
        assert [one.name for one in only] == ["linear SVM, C = 0.03"]
        chances = only[0].probabilities(features)
        assert chances.shape == (200, classes) and chances.sum(1) == pytest.approx(np.ones(200))
        assert (chances.argmax(1) == labels.numpy()).mean() > 0.85


def test_a_folded_projection_predicts_the_same_without_the_original_vectors() -> None:
    torch.manual_seed(0)
    words = WordTable.from_vectors(["a", "dog", "cat"], torch.randn(3, 20), 1.0, "made up")
    model = build("phrases", {"input_size": 20, "projection": 8, "hidden": 6}).eval()
    folded, table = fold(model, words)
    assert table.width == 8 and folded.projection is None and folded.config.input_size == 8
    said = []
    for net, rows in ((model, words), (folded, table)):
        said.append(net(Batch.of([rows.vectors(["cat", "a", "dog"])], [rows.vectors(["a", "dog"])])).logits)
    torch.testing.assert_close(said[0], said[1], rtol=0.05, atol=0.05)  # int8 rows
    plain = build("phrases", {"input_size": 20, "hidden": 6})
    assert fold(plain, words) == (plain, words)


def test_vectors_from_a_folder_are_scaled_and_spelt_as_the_tokeniser_does(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("Dog\ndog\nn't\nrare\n")
    vectors = np.array([[9, 0, 0], [0, 6, 0], [0, 0, 6], [6, 0, 0]], dtype=np.float16)
    np.save(tmp_path / "vectors.npy", vectors)
    table = read_folder(tmp_path, {"rare"}, frequent=3)
    assert table.words == ["dog", "n't", "rare"]
    torch.testing.assert_close(table.vectors(["dog", "n't"]), torch.tensor([[0.0, 1, 0], [0, 0, 1]]))
    assert float(table.vectors(["unseen"]).norm()) == pytest.approx(0.01, abs=1e-3)
    assert read_folder(tmp_path, {}, frequent=3).words == ["dog", "n't"]
    np.save(tmp_path / "vectors.npy", vectors[:2])
    with pytest.raises(ValueError, match=r"4 words and vectors \[2, 3\]"):
        read_folder(tmp_path, {})


def test_word_counts_are_scored_together_with_a_network(data: Path, tmp_path: Path, capsys) -> None:
    written = tmp_path / "tfidf.csv"
    assert paper(["baselines", "topic-acnn", "--data", str(data), "--csv", str(written)]) == 0
    (row,) = rows(written)
    accuracy = float(row["accuracy"])
    # Every text says the word of its class twice, and words of other classes once: far above 1 in 14.
    assert 0.4 < accuracy <= 1 and f"DBpedia-6k dev accuracy {accuracy:.2%}"[:-2] in capsys.readouterr().out
    assert row["command"] == "python -m trainers.paper baselines topic-acnn"
    assert sweeps.label(sweeps.read(written).variants[0][0]) == "baseline = TF-IDF, linear SVM"
    assert paper(["baselines", "as-adaqa", "--data", str(data)]) == 2
    assert "as-adaqa ranks answers" in capsys.readouterr().err


def test_simple_pairs_are_added_to_a_data_set_at_several_weights(data: Path, tmp_path: Path, capsys) -> None:
    command = [
        "sweep",
        "nli-two-sided-natural",
        "--data",
        str(data),
        "--csv",
        str(tmp_path / "a.csv"),
        "--runs",
        str(tmp_path / "runs"),
        "--vary",
        "train.MNLI-23k.weight=0,1",
    ]
    command += [
        part_
        for change in ("model.hidden=6", "model.compared=6", "model.filters=6", "epochs=1")
        for part_ in ("--set", change)
    ]
    assert main(command) == 0
    runs = sorted((tmp_path / "runs").iterdir())
    cards = [json.loads((run / "card.json").read_text()) for run in runs]
    assert [source["weight"] for card in cards for source in card["recipe"]["train"]] == [1, 1, 0, 1, 1, 1]
    assert [source["rows"] for source in cards[0]["data"]][2] == 0 < [source["rows"] for source in cards[1]["data"]][2]
    (variant, _), _ = sweeps.read(tmp_path / "a.csv").variants
    assert sweeps.label(variant) == "weight of MNLI-23k = 0"
    command[command.index("train.MNLI-23k.weight=0,1")] = "train.MNLI.weight=0,1"
    assert main(command) == 2
    assert "nothing there is named 'MNLI'" in capsys.readouterr().err


def test_a_comma_within_brackets_does_not_part_two_values():
    assert combinations(["model.k=1,2", "train.made.part_weights={},{voice: 0}"]) == [
        {"model.k": k, "train.made.part_weights": weights} for k in "12" for weights in ("{}", "{voice: 0}")
    ]


def test_a_table_of_suites_describes_its_pairs(tmp_path: Path) -> None:
    table = tmp_path / "probed.csv"
    table.write_text("seed,best_epoch,accuracy,accuracy (simple pairs),F1 (rte2),command\n1,3,0.7,0.9,0.6,python\n")
    shown = sweeps.read(table)
    assert shown.columns["accuracy (simple pairs)"] == "simple pairs"
    assert "written by hand" in sweeps.caption(shown, "") and "links by attention" in sweeps.caption(shown, "")
