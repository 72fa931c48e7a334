"""The command that makes the shared word table: it destroys no table that checkpoints read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.reading.word_table import WordTable
from tests.trainers.conftest import WORDS
from trainers.paper.__main__ import main as paper
from trainers.paper.words import SETTINGS


@pytest.fixture
def with_vectors(data: Path) -> Path:
    """The data folder with the two files of vectors that the table is made from."""
    for name, width in (("vectors/numberbatch_300d_41k", 300), ("vectors/glove6B_50d", 50)):
        folder = data / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "words.txt").write_text("\n".join(WORDS) + "\n")
        np.save(folder / "vectors.npy", np.random.default_rng(0).normal(size=(len(WORDS), width)))
        (folder / "word_baseform.json").write_text("{}")
    return data


def test_a_table_is_written_whole_and_replaced_only_when_asked(
    with_vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in {"width": 8, "epochs": 1}.items():
        monkeypatch.setitem(SETTINGS, name, value)
    command = ["words", "--data", str(with_vectors)]
    assert paper(command) == 0
    out = tmp_path / "runs" / "words"
    made = WordTable.load(out)
    assert json.loads((out / "card.json").read_text())["sha256"] == made.sha256 and made.width == 8
    assert {path.name for path in out.iterdir()} == {"words.safetensors", "card.json"}
    capsys.readouterr()
    monkeypatch.setattr("trainers.loop.TrainingRun.fit", lambda run: None)  # once is enough
    assert paper(command) == 2
    assert "holds a word table; give another --out, or --overwrite" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr("trainers.paper.words._write_card", full)
        assert paper([*command, "--overwrite"]) == 2
    assert WordTable.load(out).sha256 == made.sha256
    monkeypatch.setitem(SETTINGS, "seed", 2)
    assert paper([*command, "--overwrite"]) == 0
    assert WordTable.load(out).sha256 != made.sha256


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")
