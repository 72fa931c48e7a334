"""Models measured beside an adapter's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainers.bench.__main__ import main

ADAPTER = """
import torch
from torch import nn

WORDS = ["a", "dog", "man", "outside", "asleep"]

class Bags:
    name = "bags of words"

    def __init__(self):
        self.model = nn.Sequential(nn.EmbeddingBag(len(WORDS) + 1, 8, padding_idx=0), nn.Linear(8, 3))

    def inputs(self, pairs):
        rows = [[WORDS.index(w) + 1 for w in " ".join(pair).lower().split() if w in WORDS] or [0] for pair in pairs]
        longest = max(map(len, rows))
        return torch.tensor([row + [0] * (longest - len(row)) for row in rows])

    def logits(self, inputs):
        return self.model(inputs)

class Guessing(Bags):
    name = "guessing"

    def predictions(self, pairs):
        return ["neutral"] * len(pairs)

class Broken(Bags):
    name = "broken"

    def logits(self, inputs):
        raise KeyError("no such word")

class Flat(Bags):
    name = "flat"

    def logits(self, inputs):
        return self.model(inputs)[:, 0]

def nothing():
    return object()
"""


@pytest.fixture(autouse=True)
def adapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_peers.py").write_text(ADAPTER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("trainers.bench.peers.OURS", ("lesson-light",))
    monkeypatch.setattr("trainers.bench.peers.BATCH", 4)


def written() -> list[dict[str, Any]]:
    """The rows that the command wrote."""
    (run,) = json.loads(Path("out.json").read_text())["runs"]
    rows: list[dict[str, Any]] = run["benchmarks"]["peers"]
    return rows


def test_models_are_measured_on_the_same_batches(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAIRLENS_DATA", str(data))
    monkeypatch.setenv("PAIRLENS_PEERS", "own_peers:Bags, own_peers:Guessing")
    assert main(["peers", "--quick", "--json", "out.json"]) == 0
    rows = {row["name"]: row for row in written()}
    names = ("lesson-light", "bags of words", "guessing")
    assert all(rows[f"{name}: inference"]["value"] > 0 for name in names)
    assert all(rows[f"{name}: training step, batch 4"]["value"] > 0 for name in names)
    assert rows["bags of words: weights"]["value"] == pytest.approx((6 * 8 + 8 * 3 + 3) / 1e6)
    assert rows["bags of words: weights"]["note"] == "4.8e-05 in tables of words"
    labels = [json.loads(line)["gold_label"] for line in (data / "snli/snli_1.0_dev.jsonl").read_text().splitlines()]
    gold = [label for label in labels if label != "-"]
    assert rows["guessing: SNLI dev"]["value"] == pytest.approx(100 * gold.count("neutral") / len(gold))
    assert 0 <= rows["lesson-light: SNLI dev"]["value"] <= 100 and "bags of words: SNLI dev" not in rows


def test_measuring_changes_no_shipped_model_and_needs_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    from core.checkpoint import load_named

    monkeypatch.delenv("PAIRLENS_DATA", raising=False)
    monkeypatch.delenv("PAIRLENS_PEERS", raising=False)
    model = load_named("lesson-light").model
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert main(["peers", "--quick", "--json", "out.json"]) == 0
    assert len(written()) == 3
    assert all(value.equal(before[name]) for name, value in model.state_dict().items())


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("no_such_module:x", "PAIRLENS_PEERS: no_such_module:x cannot be made (ModuleNotFoundError"),
        ("own_peers:nothing", "what own_peers:nothing returns has no model and logits"),
        ("own_peers:Broken", "the adapter of broken failed (KeyError: 'no such word')"),
        ("own_peers:Flat", "the logits of flat are no [B, C] of torch"),
    ],
)
def test_an_adapter_that_cannot_be_used_is_one_sentence(
    place: str, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PAIRLENS_DATA", raising=False)
    monkeypatch.setenv("PAIRLENS_PEERS", place)
    assert main(["peers", "--quick", "--json", "out.json"]) == 2
    assert says in capsys.readouterr().err.strip().splitlines()[-1]
