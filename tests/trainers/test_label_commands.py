"""Labels on the command line: a file is scored whole, or one sentence asks what its labels mean."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.data import Dataset, Example
from core.desk.filters import rows_of
from core.desk.run_folder import copy_run, load
from core.desk.table import open_table
from tests.app.made_up_models import make_checkpoint
from trainers.__main__ import main
from trainers.tally import Graded

PAIRS = [("a dog is outside", "a dog is outside"), ("a dog is cold", "a cat is not cold"), ("a man", "the snow")]
NLI = ("entailment", "neutral", "contradiction")
REST = "non-entailment=neutral,contradiction"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    make_checkpoint(folder, "nli", "NLI", 1)
    config = {"input_size": 16, "hidden": 12, "classes": 2, "context": "extra"}
    roles = {"first": "question 1", "second": "question 2", "judged": "question 2"}
    make_checkpoint(folder, "same", "Same", 2, config=config, labels=["0", "1"], task="paraphrase", roles=roles)
    make_checkpoint(folder, "two", "Two", 3, config=config, labels=["entailment", "not_entailment"])
    return folder


def evaluated(capsys: pytest.CaptureFixture[str], model: Path, path: Path, *options: str) -> dict[str, object]:
    capsys.readouterr()
    assert main(["evaluate", str(model), str(path), "--json", *options]) == 0, capsys.readouterr().err
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], model: Path, path: Path, *options: str) -> str:
    capsys.readouterr()
    assert main(["evaluate", str(model), str(path), *options]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    return told


def in_layout(layout: str, labels: list[str], folder: Path) -> Path:
    """Pairs with these labels in one of the layouts of pairs."""
    path, texts = folder / "x", [PAIRS[i % 3] for i in range(len(labels))]
    rows = [(first, second, label) for (first, second), label in zip(texts, labels, strict=True)]
    keys = {
        "snli": ("sentence1", "sentence2", "gold_label"),
        "pairs": ("premise", "hypothesis", "label"),
        "fever": ("claim", "evidence", "label"),
    }
    if layout in keys:
        records = [dict(zip(keys[layout], row, strict=True)) for row in rows]
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path
    heads = {
        "hans": "sentence1\tsentence2\tgold_label",
        "sick": "sentence_A\tsentence_B\tentailment_judgment",
        "qnli": "question\tsentence\tlabel",
        "msrp": "#1 String\t#2 String\tQuality",
    }
    path.write_text("".join("\t".join(row) + "\n" for row in [heads[layout].split("\t"), *rows]))
    return path


@pytest.mark.parametrize("layout", ["snli", "pairs", "fever", "hans", "sick", "qnli", "msrp"])
def test_a_file_with_two_labels_is_scored_whole_in_every_layout(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], layout: str
) -> None:
    labels = ["entailment", "non-entailment", "Non-Entailment ", "entailment", "non-entailment", "-1"]
    path = in_layout(layout, labels, tmp_path)
    assert f"--label {REST}" in refused(capsys, models / "nli", path)
    out = tmp_path / "out.csv"
    found = evaluated(capsys, models / "nli", path, "--label", REST)
    assert main(["predict", str(models / "nli"), str(path), "--label", REST, "--out", str(out)]) == 0
    assert (found["rows"], found["items"], found["dropped_without_gold_label"]) == (5, 5, 1)
    assert found["counts_as"] == {"non-entailment": ["neutral", "contradiction"]}
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))[:5]
    assert [row["label"] for row in rows] == [label.strip() for label in labels[:5]]
    assert {row["predicted"] for row in rows} <= {*NLI}
    gold = [row["label"].lower() == "entailment" for row in rows]
    summed = [float(row["p_entailment"]) > 0.5 for row in rows]
    first = [row["predicted"] == "entailment" for row in rows]
    for answers, scores in ((summed, found), (first, found["likeliest_class_first"])):
        right = sum(own == answer for own, answer in zip(gold, answers, strict=True))
        assert isinstance(scores, dict) and scores["accuracy"] == pytest.approx(right / 5)
    capsys.readouterr()
    assert main(["evaluate", str(models / "nli"), str(path), "--label", REST]) == 0
    told = capsys.readouterr().out
    assert "5 of 6 rows have a label" in told and "taking the likeliest class first" in told


def test_other_spellings_are_asked_about_by_meaning(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = in_layout("pairs", ["Entails", "Contradicts", "UNKNOWN"], tmp_path)
    told = refused(capsys, models / "nli", path)
    for option in ("entails=entailment", "contradicts=contradiction", "unknown=neutral"):
        assert f"--label {option}" in told
    told = refused(capsys, models / "nli", in_layout("pairs", ["0", "1", "2"], tmp_path))
    assert "0=CLASS" in told and ", ".join(NLI) in told and "0=entailment" not in told
    # Three labels for a model with two classes.
    path = in_layout("pairs", ["entailment", "neutral", "contradiction"], tmp_path)
    options = "--label", "neutral=not_entailment", "--label", "contradiction=not_entailment"
    assert " ".join(options[:2]) in refused(capsys, models / "two", path)
    assert evaluated(capsys, models / "two", path, *options)["items"] == 3


def test_a_label_of_a_later_part_is_in_the_question(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.evaluation.parts.ROWS", 2)
    path = in_layout("pairs", ["yes", "no", "no", "unknown"], tmp_path)
    assert "--label no=contradiction --label unknown=neutral" in refused(capsys, models / "nli", path)


def test_numbers_and_words_are_matched_and_minus_one_is_not_a_label(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = in_layout("pairs", ["1.0", "0", "0.0", "-1.0", "unlabelled", ""], tmp_path)
    found = evaluated(capsys, models / "same", path)
    assert (found["items"], found["dropped_without_gold_label"], found["classes"].keys()) == (3, 3, {"0", "1"})  # type: ignore[attr-defined]
    found = evaluated(capsys, models / "same", path, "--label", "-1=1")
    assert (found["items"], found["dropped_without_gold_label"]) == (4, 2)
    found = evaluated(capsys, models / "same", path, "--label", "0=")
    assert (found["items"], found["unscored"]) == (1, 2)


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("x=maybe", "maybe is not a class of nli; its classes are entailment, neutral, contradiction"),
        ("non-entailment=neutral,contradicton", "contradicton is not a class of nli"),
        ("entailment", "--label wants LABEL=CLASS"),
        ("neutral=neutral,contradiction", "--label contradiction=contradiction"),
    ],
)
def test_options_that_cannot_be_used_are_refused(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, why: str
) -> None:
    path = in_layout("pairs", ["entailment", "contradiction"], tmp_path)
    assert why in refused(capsys, models / "nli", path, "--label", option)


def test_graded_labels_are_scored_by_correlation(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sts.tsv"
    grades = ["5.000", "0.400", "2.75", "1", "3.2"]
    rows = [f"{i}\t{PAIRS[i % 3][0]}\t{PAIRS[i // 2][1]}\t{grade}\n" for i, grade in enumerate(grades)]
    path.write_text("index\tsentence1\tsentence2\tscore\n" + "".join(rows))
    found = evaluated(capsys, models / "same", path)
    assert found["items"] == 5 and "accuracy" not in found
    assert {"pearson", "pearson_interval_95", "spearman", "spearman_interval_95"} <= found.keys()
    assert "are grades" in refused(capsys, models / "nli", path)


def test_of_a_similarity_its_log_odds_are_correlated_with_grades() -> None:
    chances, grades = np.array([[0.2, 0.8], [0.5, 0.5], [0.001, 0.999], [0.9, 0.1]]), [3.0, 2.0, 7.0, 0.0]
    dataset = Dataset("d", "", tuple(Example(f"{n}", "a", "b", f"{grade}") for n, grade in enumerate(grades)))
    for log_odds in (False, True):
        graded = Graded(1, log_odds)
        for part in (slice(0, 3), slice(3, 4)):
            graded.add(replace(dataset, rows=dataset.rows[part]), chances[part])
        scores = np.log(chances[:, 1] / chances[:, 0]) if log_odds else chances[:, 1]
        assert graded.scores()["pearson"] == pytest.approx(np.corrcoef(scores, grades)[0, 1])


def test_a_file_of_another_task_is_warned_of(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = in_layout("pairs", ["0", "1"], tmp_path)
    evaluated(capsys, models / "same", path)
    capsys.readouterr()
    assert main(["evaluate", str(models / "same"), str(path)]) == 0
    assert "is a data set for entailment, but same was trained for paraphrase" in capsys.readouterr().err


def test_grades_are_not_mapped_to_classes(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = in_layout("pairs", ["1.5", "4.2", "3"], tmp_path), tmp_path / "run"
    assert main(["predict", str(models / "same"), str(path), "--out", str(out)]) == 0
    assert "cannot score" not in capsys.readouterr().err and load(out).grades(0) is not None


@pytest.mark.parametrize("labels", [["1", "2", "3", "4", "5"], ["1.0", "0.0", "2.0"], ["0", "5"]])
def test_whole_numbers_that_are_not_all_classes_are_asked_about(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], labels: list[str]
) -> None:
    path, out = in_layout("pairs", labels, tmp_path), tmp_path / "run"
    options = [f"--label {int(float(label))}=CLASS" for label in sorted(labels)]
    told = refused(capsys, models / "same", path)
    assert f"add --grades if they are grades, or else {' '.join(options)}; CLASS" in told, "1 is not taken for class 1"
    assert evaluated(capsys, models / "same", path, "--grades").keys() >= {"pearson", "spearman"}
    assert "--grades" not in refused(capsys, models / "nli", path)
    mapped = [part for number in labels for part in ("--label", f"{number}={int(float(number) > 1)}")]
    assert evaluated(capsys, models / "same", path, *mapped)["items"] == len(labels)
    assert main(["predict", str(models / "same"), str(path), "--out", str(out)]) == 0
    assert ("reads these labels as grades" in capsys.readouterr().err) == (len(labels) > 2)
    run = load(out)
    assert not run.labelled and not run.judged.any() and (run.grades(0) is not None) == (len(labels) > 2)
    path.write_text("question,answer,label\n" + "".join(f"a dog,a cat,{label}\n" for label in labels))
    assert "=CLASS" in refused(capsys, models / "same", path), "answers with grades are not ranked by grade 1"
    assert evaluated(capsys, models / "same", path, "--grades")["items"] == len(labels)


def test_a_file_without_labels_is_for_predict_which_keeps_its_numbers(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = in_layout("snli", ["hidden", "hidden"], tmp_path), tmp_path / "out.csv"
    assert "every row lacks a gold label); `python -m trainers predict` needs no labels" in refused(
        capsys, models / "nli", path
    )
    path = tmp_path / "test.tsv"
    path.write_text("index\tpromptID\tpairID\tgenre\tsentence1\tsentence2\n7\t31\t31n\ttravel\ta dog\ta cat\n")
    told = refused(capsys, models / "nli", path)
    assert "no column named label" in told and "`python -m trainers predict` needs no labels" in told
    for name in ("out.csv", "out.jsonl"):
        assert main(["predict", str(models / "nli"), str(path), "--out", str(tmp_path / name)]) == 0
    with out.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["id"], row["index"], row["promptID"], row["truncated"]) == ("31n", "7", "31", "False")
    record = json.loads((tmp_path / "out.jsonl").read_text())
    assert (record["index"], record["truncated"]) == ("7", False) and "genre" not in record


def test_truncated_rows_are_counted_and_marked(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out, run_folder = tmp_path / "long.csv", tmp_path / "out.csv", tmp_path / "run"
    texts = [("a dog " * 101, "a dog"), ("a dog " * 100, "a cat"), ("a dog", "a cat " * 450)]
    path.write_text("premise,hypothesis,label\n" + "".join(f"{a},{b},neutral\n" for a, b in texts))
    assert main(["evaluate", str(models / "nli"), str(path)]) == 0
    sentence = "note: nli read only the beginning of 2 rows"
    assert sentence in capsys.readouterr().err
    assert evaluated(capsys, models / "nli", path)["truncated_rows"] == 2
    capsys.readouterr()
    assert main(["predict", str(models / "nli"), str(path), "--out", str(out)]) == 0
    assert sentence in capsys.readouterr().err
    with out.open(newline="") as file:
        assert [row["truncated"] for row in csv.DictReader(file)] == ["True", "False", "True"]
    assert main(["predict", str(models / "nli"), str(path), "--out", str(run_folder)]) == 0
    run = load(run_folder)
    assert np.flatnonzero(rows_of("A.truncated", open_table(run, known=bool))).tolist() == [0, 2]
    copied = copy_run(run_folder, lambda sha256: tmp_path / "copy")
    truncated = load(tmp_path / "copy", [copied.models[0].sha256]).models[0].truncated
    assert truncated is not None and truncated.tolist() == [True, False, True], "kept by an upload"


def test_a_models_own_class_may_be_called_none(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_checkpoint(tmp_path, "relation", "Relation", 4, labels=["cause", "none", "part"])
    path, out = in_layout("pairs", ["cause", "None", "-", "part"], tmp_path), tmp_path / "run"
    found = evaluated(capsys, tmp_path / "relation", path)
    assert (found["items"], found["dropped_without_gold_label"]) == (3, 1)
    assert evaluated(capsys, tmp_path / "relation", path, "--label", "none=")["unscored"] == 1
    csv_file = tmp_path / "x.csv"
    assert main(["predict", str(tmp_path / "relation"), str(path), "--out", str(csv_file)]) == 0
    with csv_file.open(newline="") as file:
        assert [row["label"] for row in csv.DictReader(file)] == ["cause", "None", "", "part"]
    # A model without that class can share the run.
    options = "--label", "cause=neutral", "--label", "part=entailment"
    command = ["predict", str(tmp_path / "relation"), str(models / "nli"), str(path), "--out", str(out)]
    assert main([*command, *options]) == 2, "a class that the other model lacks"
    assert main(["predict", str(models / "nli"), str(path), *options, "--out", str(out)]) == 0
    assert load(out).gold.tolist() == ["cause", "", "", "part"]
    assert main(["predict", str(tmp_path / "relation"), str(path), "--out", str(out)]) == 0
    run = load(out)
    assert [model.model for model in run.models] == ["relation", "nli"]
    assert run.gold.tolist() == ["cause", "None", "", "part"] and not run.unknown
    assert [(own >= 0).tolist() for own in run.gold_answers] == [[True, True, False, True], [True, False, False, True]]
    assert [row.shown_label for row in run.dataset.rows] == ["cause", "None", "", "part"]


def test_a_run_keeps_its_label_mapping(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = in_layout("snli", ["entailment", "non-entailment", "-"], tmp_path), tmp_path / "run"
    command = ["predict", str(models / "nli"), str(path), "--out", str(out)]
    assert main(command) == 0
    told = capsys.readouterr().err
    assert "cannot score these predictions: x has the label non-entailment" in told and f"--label {REST}" in told
    assert "2 of 3 rows have a label" in told
    assert load(out).unknown == ["non-entailment"]
    assert main([*command, "--label", REST]) == 0 and "cannot score" not in capsys.readouterr().err
    run = load(out)
    assert run.labelled and run.gold.tolist() == ["entailment", "non-entailment", ""]
    accuracy = evaluated(capsys, models / "nli", path, "--label", REST)["accuracy"]
    assert run.right(0)[run.judged].mean() == accuracy
    assert main([*command, "--label", REST, "--words", "5"]) == 0
    assert "of 2 rows wrong" in capsys.readouterr().out


def test_answers_are_ranked_by_labels_of_any_spelling(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, found = tmp_path / "qa.csv", []
    for right, wrong, options in (
        ("1", "0", ()),
        ("1.0", "0.0", ()),
        ("Relevant", "irrelevant", ("--label", "relevant=1", "--label", "irrelevant=0")),
    ):
        path.write_text(f"question,answer,label\na dog,a cat,{wrong}\na dog,the dog is cold,{right}\na dog,no,-1\n")
        if options:
            assert "--label irrelevant=0 --label relevant=1" in refused(capsys, models / "same", path)
        found.append(evaluated(capsys, models / "same", path, *options)["map"])
    assert found[0] == found[1] == found[2]
