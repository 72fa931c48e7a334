"""Pairs of near texts that checkpoints label: which are made, that all is repeatable, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.checkpoint import load
from core.data import read
from trainers.__main__ import main
from trainers.paper.__main__ import main as paper
from trainers.paper.near_pairs import pairs

from .test_training import arguments

TEXTS = [
    "How do I learn to swim?",
    "How can I learn to swim fast?",
    "How do I learn to dance?",
    "Why is the sky blue?",
    "Why is the sky so blue today?",
    "What is love?",
]
SETTINGS = ("model.hidden=12", "model.compared=12", "model.filters=12", "epochs=1", "batch_size=60", "init=''")


def test_texts_are_paired_with_their_nearest_and_no_known_pair_is_made_again() -> None:
    made = {frozenset((row.first, row.second)) for row in pairs(TEXTS, set(), nearest=1, seed=1)}
    assert made == {frozenset(TEXTS[:2]), frozenset((TEXTS[0], TEXTS[2])), frozenset(TEXTS[3:5])}
    known = {frozenset(TEXTS[3:5])}
    assert {frozenset((row.first, row.second)) for row in pairs(TEXTS, known, 1, 1)} == made - known
    # All of them are neighbours of a text then, but those that share no word are not near.
    assert all("love" not in row.first + row.second for row in pairs(TEXTS, set(), nearest=9, seed=1))


@pytest.fixture(scope="module")
def teacher(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("teacher") / "teacher"
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    assert main(arguments(data, out, *settings, name="para-two-sided")) == 0
    return out


def test_checkpoints_label_pairs_which_the_readers_read(data: Path, teacher: Path, tmp_path: Path) -> None:
    train, dev = data / "quora/train_18k.tsv", data / "quora/dev_1k.tsv"
    outs = tmp_path / "a.csv", tmp_path / "b.csv"
    for out in outs:
        more = ["--without", str(dev), "--out", str(out), "--nearest", "2"]
        assert paper(["near-pairs", str(teacher), str(teacher), str(train), *more]) == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()
    made = read(outs[0])
    assert made.layout == "sentence-pair table" and not made.problems
    known = {frozenset((row.first, row.second)) for row in read(train).rows}
    left_out = {text for row in read(dev).rows for text in (row.first, row.second)}
    assert {row.label for row in made.rows} <= set(load(teacher).labels)
    for row in made.rows:
        assert frozenset((row.first, row.second)) not in known and not {row.first, row.second} & left_out


def test_errors_are_one_sentence(data: Path, teacher: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train, out = str(data / "quora/train_18k.tsv"), str(tmp_path / "out.csv")
    for given, sentence in (
        ([str(teacher), "nli-attconv-light", train], "different classes"),
        ([str(teacher), train, "--without", train], "no two texts"),
        ([str(teacher), train, "--nearest", "0"], "--nearest must be at least 1"),
    ):
        assert paper(["near-pairs", *given, "--out", out]) == 2
        assert sentence in capsys.readouterr().err
    assert not Path(out).exists()
