"""Made pairs: the command's bytes for a seed, its errors, and the words it inflects."""

import json
import random
import re
from functools import partial
from pathlib import Path

import pytest

from core.data import read
from core.linguistics.word_lists import article, plural
from trainers.paper import make_pairs
from trainers.paper.__main__ import main as paper

PREMISES = ("A man in a blue shirt is playing a guitar on a stage.", "A dog is running on the beach.")


def test_plurals_and_articles() -> None:
    given = ("child", "knife", "woman", "cherry", "bus", "toy", "piece of fruit", "mango", "sheep")
    assert [plural(word) for word in given] == [
        "children",
        "knives",
        "women",
        "cherries",
        "buses",
        "toys",
        "pieces of fruit",
        "mangoes",
        "sheep",
    ]
    words = ("apple", "unicycle", "umbrella", "hour", "house", "ukulele", "European")
    assert [article(word) for word in words] == ["an", "a", "an", "an", "a", "a", "a"]


@pytest.fixture
def snli(tmp_path: Path) -> Path:
    (tmp_path / "snli").mkdir()
    rows = [
        {"gold_label": "neutral", "sentence1": text, "sentence2": "x", "pairID": str(i)}
        for i, text in enumerate(PREMISES)
    ]
    (tmp_path / "snli/snli_1.0_train_86k.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_the_same_seed_gives_the_same_bytes(
    snli: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make_pairs, "make", partial(make_pairs.make, scale=0.03))
    outs = [snli / name for name in ("a.jsonl", "made/pairs.jsonl", "c.jsonl")]  # the second is where they go unasked
    options = ["--out", str(outs[0]), "--seed", "1"], [], ["--out", str(outs[2]), "--seed", "2"]
    for number, more in enumerate(options):
        random.seed(number)
        assert paper(["make-pairs", "--data", str(snli), *more]) == 0
    one, again, other = (out.read_bytes() for out in outs)
    assert one == again != other
    dataset = read(outs[0])
    assert dataset.layout == "SNLI jsonl" and not dataset.problems
    assert all(re.fullmatch(r"[a-z ]+-\d+", row.id) for row in dataset.rows)
    assert "cohyponym" in capsys.readouterr().out


def test_missing_data_gets_one_sentence(
    snli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PAIRLENS_DATA", raising=False)
    wrong = (
        (["make-pairs"], "--data"),
        (["make-pairs", "--data", str(tmp_path / "snli")], "snli_1.0_train_86k.jsonl"),
        (["make-pairs", "--data", str(snli), "--out", str(tmp_path / "no/where.jsonl")], "make it first"),
    )
    for command, part in wrong:
        assert paper(command) == 2
        message = capsys.readouterr().err
        assert part in message and len(message.strip().splitlines()) == 1
