"""Columns given on the command line: by name, nested, or by number in files without a header."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from core.data import Dataset, Example, Picked, read
from core.data.stream import survey
from core.desk.run_folder import load
from core.errors import RunError
from tests.app.made_up_models import make_checkpoint
from trainers.__main__ import main
from trainers.options import columns
from trainers.prediction_files import predictions

PAIRS = [("a dog is outside", "the dog is not cold", "contradiction"), ("a cat", "the cat is red", "neutral")]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    make_checkpoint(folder, "made-up", "Made up", 3)
    return str(folder / "made-up")


@pytest.mark.parametrize(
    ("option", "picked"),
    [
        ("premise=sent1,hypothesis=sent2,label=y", Picked("sent1", "sent2", "y")),
        ("first=a , second = b", Picked("a", "b")),
        ("text=my, own text,label=Is it, really?", Picked("my, own text", "", "Is it, really?")),
        ("question=q=1,answer=a,group=q=1,id=n", Picked("q=1", "a", "", "n", "q=1")),
        ("PREMISE=1,Hypothesis=2", Picked("1", "2")),
        (None, None),
    ],
)
def test_valid_option_values(option, picked):
    assert columns(option) == picked


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("sent1,sent2", "wants each part once, such as premise=sent1,.* got 'sent1,sent2'"),
        ("premise=,hypothesis=b", "got 'premise='"),
        ("premise=a,text=b", "got 'text=b'"),
        ("hypothesis=b,label=c", "names no text; give premise="),
    ],
)
def test_invalid_option_values(option, told):
    with pytest.raises(RunError, match=told):
        columns(option)


def files(folder: Path) -> dict[str, tuple[Path, str]]:
    """The same rows in three files with unknown column names, each with the option that reads it."""
    table = "".join(f"{number};{a};{b};{label}\n" for number, (a, b, label) in enumerate(PAIRS))
    nested = [json.dumps({"ex": {"x": a, "ys": ["", b, ""]}, "y": label}) for a, b, label in PAIRS]
    written = {
        "named.csv": (f"n;left;right;y\n{table}", "premise=left,hypothesis=right,label=Y"),
        "headless.csv": (table, "premise=2,hypothesis=3,label=4"),
        "nested.jsonl": ("\n".join(nested), "premise=ex.x,hypothesis=ex.ys.2,label=y"),
    }
    for name, (content, _) in written.items():
        (folder / name).write_text(content)
    return {name: (folder / name, option) for name, (_, option) in written.items()}


@pytest.mark.parametrize("name", ["named.csv", "headless.csv", "nested.jsonl"])
def test_every_row_is_read_evaluated_and_predicted(tmp_path, model, capsys, name):
    path, option = files(tmp_path)[name]
    data = read(path, columns=columns(option))
    assert [(row.first, row.second, row.label) for row in data.rows] == PAIRS and not data.problems
    assert survey(path, columns(option))[0] == data.sha256 != survey(path)[0]
    assert main(["evaluate", model, str(path), "--json"]) == 2
    assert "--columns" in capsys.readouterr().err
    assert main(["evaluate", model, str(path), "--columns", option, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["rows"] == scores["items"] == 2
    for out in ("out.csv", "run/"):
        assert main(["predict", model, str(path), "--columns", option, "--out", f"{tmp_path}/{out}"]) == 0
    rows = list(csv.DictReader((tmp_path / "out.csv").open(encoding="utf-8", newline="")))
    assert [(row["first"], row["second"], row["label"]) for row in rows] == PAIRS
    stored = load(tmp_path / "run").dataset.rows
    assert [(row.first, row.second, row.shown_label) for row in stored] == PAIRS


def test_faithfulness_takes_the_option(tmp_path, model, capsys):
    path, option = files(tmp_path)["headless.csv"]
    assert main(["faithfulness", model, str(path), "--columns", option, "--rows", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 2


def test_a_column_that_is_not_there_is_one_sentence(tmp_path, model, capsys):
    path, _ = files(tmp_path)["named.csv"]
    assert main(["evaluate", model, str(path), "--columns", "premise=left,hypothesis=rihgt,label=y"]) == 2
    assert "named.csv has no column 'rihgt'; it has n, left, right, y\n" in capsys.readouterr().err


def test_a_file_without_a_label_gets_an_error_with_the_option_that_names_it(tmp_path, model, capsys):
    (tmp_path / "x.csv").write_text("premise,hypothesis,verdict\na dog,a cat,neutral\n")
    assert main(["evaluate", model, str(tmp_path / "x.csv")]) == 2
    assert "it has premise, hypothesis, verdict, of which --columns can name one" in capsys.readouterr().err
    assert main(["evaluate", model, str(tmp_path / "x.csv"), "--columns", "premise=premise,hypothesis=hypothesis"]) == 2
    assert "no column is picked as the label" in capsys.readouterr().err


def test_a_known_header_is_not_a_row_even_if_columns_are_given_by_number(tmp_path):
    (tmp_path / "x.csv").write_text("premise,hypothesis,label\na dog,a cat,neutral\n")
    assert len(read(tmp_path / "x.csv", columns=Picked("1", "2", "3")).rows) == 1
    (tmp_path / "x.csv").write_text("0,1,2\na dog,a cat,neutral\n")  # as pandas numbers what has no names
    assert read(tmp_path / "x.csv", columns=Picked("0", "1", "2")).rows[0].second == "a cat"


def test_the_encoding_is_reported_with_the_scores(tmp_path, model, capsys):
    (tmp_path / "x.csv").write_bytes("premise,hypothesis,label\na dog,a café,neutral\n".encode("cp1252"))
    assert main(["evaluate", model, str(tmp_path / "x.csv")]) == 0
    assert "1 line is not UTF-8 and was read as Windows-1252" in capsys.readouterr().out


def test_rows_of_a_tab_separated_file_without_header_may_have_more_cells(tmp_path):
    """The official STS benchmark's layout: some rows name their source."""
    rows = 'main\tvid\t2012\t1\t5.0\tA "plane.\tA jet.\nmain\tnews\t2016\t2\t1.0\tB.\tC.\thttp\tlicence\nmain\tcut\n'
    (tmp_path / "sts.csv").write_text(rows)
    data = read(tmp_path / "sts.csv", columns=Picked("6", "7", "5", "4"))
    assert [(row.id, row.first, row.second) for row in data.rows] == [("1", 'A "plane.', "A jet."), ("2", "B.", "C.")]
    assert data.rows[1].columns == {"1": "main", "2": "news", "3": "2016", "8": "http", "9": "licence"}
    assert [problem.line for problem in data.problems] == [3]
    (tmp_path / "x.csv").write_text("a,b,n\na, again,b,n\n")  # a comma may be one of a text
    assert [problem.line for problem in read(tmp_path / "x.csv", columns=Picked("1", "2", "3")).problems] == [2]


def test_a_json_key_that_ends_in_a_number_is_a_separate_column(tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps({"text.1": "A dog.", "text": "A cat.", "y": "n", "z": "It."}) + "\n")
    (row,) = read(tmp_path / "x.jsonl", columns=Picked("text.1", "z", "y")).rows
    assert (row.first, row.columns) == ("A dog.", {"text": "A cat."})


def test_predictions_keep_the_files_numbers_of_rows():
    rows = (Example("line 1", "a", "b", None, columns={"index": "7", "Pair ID": "p1", "id": "own", "genre": "x"}),)
    (one,) = predictions(("x", "y"), Dataset("d", "", rows), np.array([[0.25, 0.75]]), np.array([True]))
    assert {name: one[name] for name in ("index", "Pair ID", "id", "predicted", "p_y", "truncated")} == {
        "index": "7", "Pair ID": "p1", "id": "line 1", "predicted": "y", "p_y": 0.75, "truncated": True,
    }  # fmt: skip
    assert "genre" not in one
