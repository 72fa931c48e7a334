"""The command `python -m trainers map` on made-up files and tiny random models."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from core.checkpoint import Checkpoint, load
from core.data import Example, read
from core.filter_map.map import FilterMap, codes_of
from tests.core.made_up import WORDS, make_checkpoint, make_table
from trainers import map as command
from trainers.__main__ import main

CLASSES = ("animal", "place", "thing")
MOTTO = {"animal": "dog animal red", "place": "in snow cold", "thing": "toy frisbee"}
SMALL = ["--perplexity", "5", "--filters", "all,3"]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """90 texts with titles; the first is there twice."""
    path = tmp_path_factory.mktemp("texts") / "documents.csv"
    rows = [
        (CLASSES[i % 3], f"title {i}", f"{MOTTO[CLASSES[i % 3]]} {WORDS[i % 7]} {WORDS[i % 11]}") for i in range(90)
    ]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([("label", "title", "text"), *rows, rows[0]])
    return path


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return make_checkpoint(tmp_path_factory.mktemp("single") / "tiny", make_table(), "acnn")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    folder = tmp_path_factory.mktemp("pair") / "tiny"
    make_checkpoint(folder, make_table(), "adaqa")
    card = json.loads((folder / "card.json").read_text())
    card["roles"] = {"first": "question", "second": "answer", "judged": "answer"}
    (folder / "card.json").write_text(json.dumps(card))
    return load(folder)


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = FilterMap.fit.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(FilterMap, "fit", classmethod(lambda cls, *a, **k: fit(cls, *a, **k, iterations=(25, 50))))


def test_the_map_of_single_texts(single: Checkpoint, documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", str(single.folder), str(documents), "--texts", "60", "--titles", *SMALL, "--json"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["texts"] == 60 and set(told["layouts"]) == {"all filters", "filter 3"}
    assert "written to" in err
    found = FilterMap.load(single.folder / "map", single)
    assert Counter(item.label for item in found.items) == dict.fromkeys(CLASSES, 20)
    rows = {row.id: row for row in read(documents).rows}
    for item, code in zip(found.items[:5], found.codes, strict=False):
        row = rows[item.id]
        assert (item.label, item.title, item.side) == (row.label, row.title, "")
        assert codes_of(single, [row.first])[0].tobytes() == code.tobytes()
    assert found.layouts["all filters"].quality == told["layouts"]["all filters"]
    assert found.card["data"]["file"] == "documents.csv" and len(found.card["data"]["sha256"]) == 64
    assert found.card["command"].startswith("python -m trainers map tiny documents.csv --texts 60")
    kept = (single.folder / "map/map.json").read_text()
    assert MOTTO["animal"] not in kept and str(documents.parent) not in kept


def test_the_table_and_no_titles(
    single: Checkpoint, documents: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(single.folder), str(documents), *SMALL, "--metric", "euclid", "--out", str(tmp_path / "m")]
    assert main(["map", *arguments]) == 0
    told = capsys.readouterr().out
    assert "tiny: 90 texts of documents.csv" in told and "metric euclid" in told and "filter 3" in told
    found = FilterMap.load(tmp_path / "m", single)
    assert not any(item.title for item in found.items)


def test_held_out_texts_measure_how_well_the_map_classifies_others(
    single: Checkpoint, documents: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = list(csv.DictReader(documents.open(newline="")))
    other = tmp_path / "other.csv"
    wrong = {"animal": "place", "place": "thing", "thing": "animal"}
    with other.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([("label", "title", "text")])
        # A third of the texts under another class: these cannot be named right where the filters know the classes.
        writer.writerows(
            (wrong[r["label"]] if i % 3 == 0 else r["label"], r["title"], r["text"]) for i, r in enumerate(rows[:30])
        )
    folder = tmp_path / "m"
    arguments = [str(single.folder), str(documents), *SMALL, "--held-out", str(other), "--out", str(folder)]
    assert main(["map", *arguments]) == 0
    told = capsys.readouterr().out
    found = FilterMap.load(folder, single)
    assert found.card["held_out"]["file"] == "other.csv" and found.card["held_out"]["texts"] == 30
    assert "--held-out other.csv" in found.card["command"]
    right = 0
    for row in read(other).rows:
        nearest = found.neighbours(codes_of(single, [row.first])[0], "all filters", 10)
        votes = Counter(found.items[n.index].label for n in nearest)
        right += votes.most_common(1)[0][0] == row.label
    share = found.layouts["all filters"].quality["knn_held_out"]
    assert share == pytest.approx(right / 30, abs=0.1)  # but for ties
    assert f"{share:.2%}" in told and "of 30 held-out texts (other.csv)" in told


def test_questions_and_answers_of_a_pair_model(pair: Checkpoint, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    lines = [
        f"is the {WORDS[q]} a dog,the {WORDS[q]} {WORDS[a]} {WORDS[q + a]},{int(a == 1)}"
        for q in range(9)
        for a in range(4)
    ]
    path.write_text("\n".join(["question,answer,label", *lines]))
    assert main(["map", str(pair.folder), str(path), "--texts", "40", *SMALL]) == 0
    found = FilterMap.load(pair.folder / "map", pair)
    assert len(found.items) == 40
    assert Counter(item.side for item in found.items) == {"question": 8, "answer": 32}
    assert {item.label for item in found.items if item.side == "question"} == {"question"}
    assert {item.label for item in found.items if item.side == "answer"} == {"0", "1"}
    rows = {row.id: row for row in read(path).rows}
    for item, code in zip(found.items, found.codes, strict=True):
        row = rows[item.id]
        text = row.first if item.side == "question" else row.second
        assert codes_of(pair, [text], item.side)[0].tobytes() == code.tobytes()


def test_draws_are_even_seeded_and_in_the_files_order() -> None:
    rows = [Example(str(i), f"text {i}", "", "rare" if i < 5 else "often") for i in range(100)]
    drawn = command.in_turns(rows, 30, seed=1)
    assert Counter(row.label for row in drawn) == {"rare": 5, "often": 25}
    assert [int(row.id) for row in drawn] == sorted(int(row.id) for row in drawn)
    assert drawn == command.in_turns(rows, 30, seed=1) != command.in_turns(rows, 30, seed=2)
    assert command.in_turns(rows, 1000, seed=1) == rows and command.in_turns(rows, -3, seed=1) == []


def test_an_impossible_request_gets_one_sentence(
    single: Checkpoint, pair: Checkpoint, documents: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fixed = make_checkpoint(tmp_path / "fixed", make_table(), "acnn", adaptivity="none")
    light = make_checkpoint(tmp_path / "light", make_table())
    pairs, plain = tmp_path / "pairs.csv", tmp_path / "plain.csv"
    pairs.write_text("premise,hypothesis,label\na dog,an animal,yes\n")
    plain.write_text("label,text\na,a dog\nb,the snow\n")
    wrong = [
        ([fixed.folder, documents], "choose a model that does"),
        ([light.folder, documents], "choose a model that does"),
        ([single.folder, pairs], "reads single texts, and pairs.csv holds pairs"),
        ([pair.folder, documents], "reads pairs, and documents.csv holds single texts"),
        ([single.folder, plain, "--titles"], "leave --titles out"),
        ([single.folder, documents, "--filters", "all,x"], "--filters wants"),
        ([single.folder, documents, "--filters", "12", "--perplexity", "5"], "0 to 11"),
        ([single.folder, documents, "--texts", "60"], "needs at least 91 different texts, got 60"),
        ([single.folder, documents, "--texts", "-1"], "got 0"),
        ([single.folder, documents, "--perplexity", "nan"], "at least 1"),
        ([single.folder, documents, "--seed", "-1"], "--seed wants"),
        ([single.folder, tmp_path / "none.csv"], "does not exist"),
        (["no-such-model", documents], "no-such-model"),
    ]
    for arguments, message in wrong:
        capsys.readouterr()
        assert main(["map", *map(str, arguments)]) == 2
        told = capsys.readouterr().err
        assert message in told and len(told.strip().splitlines()) == 1 and "Traceback" not in told


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["map", "--help"])
    assert left.value.code == 0 and "--perplexity" in capsys.readouterr().out
