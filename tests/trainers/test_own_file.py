"""Training on the user's own file: the recipe made from its rows, and files that cannot be trained on."""

from __future__ import annotations

import csv
import os
import random
from dataclasses import fields
from pathlib import Path

import pytest
from filelock import FileLock
from safetensors.torch import load_file

from core import training_progress
from core.checkpoint import available, load_named, read_card
from core.data import Dataset, Example
from core.data.labels import key
from core.errors import UserError
from core.models import spec_of
from tests.trainers.conftest import WORDS
from trainers import own_file, progress_reporter, recipe
from trainers.__main__ import PROGRAM, main
from trainers.own_file import of_file
from trainers.recipe import Recipe
from trainers.training_data import read_all

COLUMNS = "first=headline A,second=headline B,label=verdict"


def table(path: Path, rows: list[tuple[str, str, str]], header: str = "headline A,headline B,verdict") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header.split(","), *rows])
    return path


def pairs(labels: list[str], count: int = 60) -> list[tuple[str, str, str]]:
    source = random.Random(0)
    texts = [" ".join(source.sample(WORDS, 6)) for _ in range(2 * count)]
    return [(texts[2 * i], texts[2 * i + 1], labels[i % len(labels)]) for i in range(count)]


def made(file: Path, *options: str, base: str = "", architecture: str = "") -> Recipe:
    start = [f"--from={base}"] if base else []
    args = PROGRAM.parser("train").parse_args(["train", "--file", str(file), *start, *options])
    return of_file(args, base, architecture, args.changes)


def test_a_run_on_a_file_is_repeated_by_its_card(tmp_path, capsys, monkeypatch):
    rows = [*pairs(["Same event", "different event"]), ("no label", "here", ""), (*pairs([""], 1)[0][:2], "Other")]
    file = table(tmp_path / "events.csv", rows)
    small = ["--set", "model.hidden=6", "--set", "epochs=1", "--threads", "1"]
    options = ["--columns", COLUMNS, "--architecture", "attconv-light", *small]
    assert main(["train", "--file", str(file), *options, "--out", str(tmp_path / "mine")]) == 0
    said = capsys.readouterr().out
    for note in ("49 rows to train on and 12 held out, with no text in both", "61 of 62 rows have a label"):
        assert note in said
    assert "1 class with fewer than 5 rows can hardly be learnt or tested: Other" in said
    assert "1 pair has several labels (line 2 same event, line 63 other); all rows are kept" in said
    card = read_card(tmp_path / "mine")
    assert (card["task"], card["labels"]) == ("events", ["different event", "Other", "Same event"])
    assert card["roles"] == {"first": "headline A", "second": "headline B", "judged": "headline B"}
    command = card["training"]["command"]
    assert str(tmp_path) not in command and f"--file events.csv --columns '{COLUMNS}'" in command
    again = ["train", str(tmp_path / "mine/card.json"), "--data", str(tmp_path), "--threads", "1"]
    assert main([*again, "--out", str(tmp_path / "again")]) == 0
    both = [load_file(tmp_path / name / "weights.safetensors") for name in ("mine", "again")]
    assert all(value.equal(both[1][name]) for name, value in both[0].items())
    assert not (tmp_path / "again/epochs").exists()  # only a file's epochs are kept
    # A server watches: its end interrupts the training, and its user stops it after an epoch, which is kept.
    watched = ["train", "--file", str(file), *options, "--out", str(tmp_path / "stopped"), "--set", "epochs=4"]
    assert main([*watched, "--server", str(os.getpid())]) == 2
    assert "the server has ended; --resume continues this training" in capsys.readouterr().err
    monkeypatch.setattr(progress_reporter, "_PATIENCE", 0)
    with FileLock(tmp_path / "stopped" / progress_reporter.LOCK):  # its trainer has not noticed yet
        assert main([*watched, "--server", str(os.getppid()), "--resume"]) == 2
    assert "another process is still training this model; resume it later" in capsys.readouterr().err
    written, told = training_progress.write, []

    def write(run: Path, progress: training_progress.TrainingProgress) -> None:
        written(run, progress)
        told.append(progress)
        if progress.history:
            (run / training_progress.STOP).touch()

    monkeypatch.setattr(progress_reporter, "SECONDS", 0)
    monkeypatch.setattr(training_progress, "write", write)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    assert main([*watched, "--server", str(os.getppid()), "--resume"]) == 0
    assert "resuming in epoch 1 after 1 steps" in (said := capsys.readouterr().out)
    assert "stopped in epoch 2: epoch 1 is kept" in said and (told[0].epochs, told[0].step) == (4, 2)
    assert told[-1] == training_progress.read(tmp_path / "stopped") and told[-1].left
    first = load_named("stopped@1")
    assert (first.name, first.card["title"]) == ("stopped@1", f"{read_card(tmp_path / 'stopped')['title']}, epoch 1")
    assert first.card["sha256"] == read_card(tmp_path / "stopped")["sha256"]
    assert "stopped@2" not in available() and "stopped@1" not in [*available()]


def test_the_recipe_follows_from_the_rows(tmp_path, capsys):
    classes = ["Entailment", "neutral", "CONTRADICTION"]
    file = table(tmp_path / "nli.csv", pairs(classes), "premise,hypothesis,label")
    same = made(file, base="nli-two-sided")
    assert (same.init, same.init_classifier, same.task) == ("nli-two-sided", True, "entailment")
    assert same.labels == ("entailment", "neutral", "contradiction") and same.roles == ("premise", "hypothesis")
    assert (same.judged, same.lr, same.ema) == ("both", 0.0005, 0.99)
    settings = same.model_config()
    assert (settings.embedding_dropout, settings.dropout) == (0.1, 0.2)
    (_, train), (_, held_out) = read_all(same, tmp_path)
    assert len(train.rows) == 48 and {row.label for row in held_out.rows} == {*same.labels}
    assert not {row.first for row in train.rows} & {row.first for row in held_out.rows}
    table(tmp_path / "dev.csv", [*pairs(["1", "0"], 70)[60:], pairs(["1"])[0]])
    capsys.readouterr()
    other = made(
        table(tmp_path / "mine.csv", pairs(["1", "0", "x"])),
        *(
            "--columns",
            "question=headline A,answer=headline B,label=verdict",
            "--dev",
            str(tmp_path / "dev.csv"),
            "--rows",
            "50",
        ),
        *("--label", "1=right", "--label", "x=", "--task", "tickets", "--title", "Mine", "--set", "epochs=9"),
        base="nli-attconv-light",
    )
    assert "1 of 11 rows of dev.csv have a text that is trained on" in capsys.readouterr().out
    assert (other.task, other.title, other.labels) == ("tickets", "Mine", ("0", "right"))
    assert (other.roles, other.judged, other.init_classifier) == (("question", "answer"), "answer", False)
    assert (other.dev.path, other.train[0].rows, other.train[0].part, other.epochs) == ("dev.csv", 50, "", 9)
    single = table(tmp_path / "reviews.csv", [(f"text {i}", "", ["none", "some"][i % 2]) for i in range(20)])
    texts = made(single, "--columns", "text=headline A,label=verdict", "--label", "none=none", base="sentiment-attconv")
    assert (texts.roles, texts.judged, texts.labels) == (("text",), "text", ("none", "some"))
    assert {row.label for _, dataset in read_all(texts, tmp_path) for row in dataset.rows} == {"none", "some"}


def test_classes_are_ordered_by_value_and_named_as_most_often_spelled():
    labels = ["10", "2", "Not Sure", "not sure", "not sure", "-1", "b"]
    rows = tuple(Example(f"{n}", "a", "b", key(label), label_text=label) for n, label in enumerate(labels))
    found = own_file._classes(Dataset("d", "", rows), {"b": "A"})
    assert [*found.items()] == [("-1", 1), ("2", 1), ("10", 1), ("A", 1), ("not sure", 3)]


def test_dropout_is_raised_to_the_least_that_is_usual_and_never_lowered():
    card = {"architecture": "attconv-light", "name": "x", "licence": "CC0"}
    for given, used in ((0.05, 0.2), (0.5, 0.5), (0.0, 0.0)):
        config = {"input_size": 300, "classes": 3, "hidden": 7, "dropout": given}
        model = own_file._model("x", card | {"config": config}, "", False)["model"]
        kept = {each.name: each.default for each in fields(spec_of("attconv-light").config)} | model
        assert (kept["hidden"], kept["dropout"]) == (7, used)


def test_the_schedule_follows_from_the_number_of_rows():
    names = ("batch_size", "epochs", "warmup")
    known = {
        9: (16, 12, 1),
        499: (16, 9, 20),
        500: (32, 12, 19),
        1_499: (32, 6, 20),
        1_500: (64, 12, 20),
        99_999: (64, 2, 20),
    }
    assert {rows: tuple(own_file._schedule(rows)[name] for name in names) for rows in known} == known


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (pairs(["same"]), "all 60 labelled rows of own.csv have the label same: give rows of two classes"),
        (pairs(["0.5", "3.2", "5"]), "the labels of own.csv are numbers such as 3.2, and models here learn classes"),
        (pairs([f"note {i}" for i in range(60)]), "own.csv has 60 different labels in 60 rows, too many to learn"),
        (pairs(["a" * 201, "b"]), "is longer than the 200 characters of a class name"),
        ([("", "", "a"), ("", "", "b")], "own.csv has no usable row .*the first sentence is empty"),
        ([("a", "b", "x"), ("c", "d", "y")], "no row is left to train on with the label [xy]: add rows"),
        ([("a", "always", "x"), ("b", "always", "y")] * 9, "18 rows cannot be divided .* in a file of their own"),
    ],
)
def test_rows_from_which_a_model_cannot_learn(tmp_path, rows, says):
    with pytest.raises(UserError, match=says):
        made(table(tmp_path / "own.csv", rows), "--columns", COLUMNS, base="nli-two-sided")


def test_options_and_columns_that_do_not_fit(tmp_path, capsys):
    file = table(tmp_path / "own.csv", pairs([f"class {i % 300}" for i in range(900)], 900))
    assert len(made(file, "--columns", COLUMNS, base="nli-two-sided").labels) == 300
    assert "300 classes with fewer than 5 rows can hardly be learnt" in capsys.readouterr().out
    for command, sentence in (
        (["train"], "give either RECIPE or --file FILE"),
        (["train", "nli-esim", "--title", "x", "--from", "nli-esim"], "--from, --title belong to --file FILE"),
        (["train", "--file", str(file), "--rows", "-3"], "--rows must be at least 1, or 0 for all, got -3"),
        (["train", "--file", str(file), "--dev", "missing.csv"], "there is no file missing.csv"),
        (["train", "--file", str(file)], "it has the columns headline A, headline B, verdict; pick the texts and"),
        (["train", "--file", str(file), "--columns", COLUMNS, "--from", "nli-esin"], "did you mean 'nli-esim'?"),
        (["train", "--file", str(file), "--columns", COLUMNS, "--from", "sentiment-attconv"], "reads single texts"),
        (["train", "--file", str(file), "--columns", COLUMNS, "--label", "class 1=a,b"], "names several classes"),
    ):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert sentence in said and len(said.strip().splitlines()) == 1


def test_all_problems_of_a_recipe_come_at_once(tmp_path, capsys):
    (tmp_path / "bad.yaml").write_text(
        "name: bad\nlr: fast\nepochs: 0\ndev: {name: x, path: y, part: all}\ntoken_limits: {x: 3}\n"
        "labels: [a, a]\ncolums: 3\nmodel: {hidden: 0.5, width: 2, with: 1}\narchitecture: attconv-light\n"
    )
    assert main(["train", str(tmp_path / "bad.yaml"), "--data", str(tmp_path), "--set", "batch_size"]) == 2
    said = capsys.readouterr().err
    for problem in (
        *("recipe bad: 11 problems", "--set wants key=value", "unknown key colums", "title is missing"),
        *("train is missing", "lr must be a number, got 'fast'", "epochs must be larger than 0, got 0"),
        *("dev.part must be one of , train, held out", "labels must be different names, got a, a"),
        *("unknown key model.with; did you mean 'width'?", "model.hidden must be a whole number"),
        *("unknown key token_limits.x",),
    ):
        assert problem in said, problem
    files = [{"name": name, "path": f"{name}.csv"} for name in ("one", "two")]
    table(tmp_path / "two.csv", pairs(["e", "n"]), "a,b,c")
    table(tmp_path / "dev.csv", pairs(["e", "n"]), "premise,hypothesis,label")
    values = {"name": "x", "title": "x", "architecture": "attconv-light", "train": files}
    found = recipe.from_dict({**values, "dev": {"name": "dev", "path": "dev.csv"}})
    with pytest.raises(UserError) as raised:
        [*read_all(found, tmp_path)]
    for problem in (
        *("3 problems", "one is not at one.csv", "(columns: {premise: NAME, hypothesis: NAME, label: NAME} in the"),
        "dev has labels that are not among the recipe's (entailment, neutral, contradiction)",
    ):
        assert problem in str(raised.value)
    picked = {"columns": {"premise": "a", "hypothesis": "b", "label": "c"}, "counts_as": {"e": "entailment", "n": ""}}
    found = recipe.from_dict({**values, "train": [{**files[1], **picked}], "dev": {**files[1], **picked}})
    (_, train), _ = read_all(found, tmp_path)
    assert len(train.rows) == 30 and train.labels == ("entailment",)
