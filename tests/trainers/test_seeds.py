"""What several seeds of a recipe had, on the card of one of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.checkpoint import read_card
from tests.core.made_up import make_checkpoint, make_table
from trainers.paper.__main__ import main as paper
from trainers.paper.results import over_seeds

RECIPE = {"name": "tiny", "dev": {"name": "WikiQA dev"}}


def run(folder: Path, seed: int, **fields: Any) -> str:
    """A run's folder with these fields on its card."""
    card = make_checkpoint(folder, make_table()).card
    (folder / "card.json").write_text(json.dumps({**card, "recipe": RECIPE, "seed": seed, **fields}))
    return str(folder)


def test_seeds_of_a_ranker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = {1: 0.5, 2: 0.7}
    folders = [
        run(tmp_path / str(seed), seed, results={"WikiQA dev": {"map": score, "mrr": 0.6, "items": 9}})
        for seed, score in scores.items()
    ]
    assert paper(["seeds", *folders]) == 0
    assert "WikiQA dev: MAP 0.6000 ± 0.1414 over seeds [1, 2]" in capsys.readouterr().out
    card = read_card(tmp_path / "1")
    assert card["seeds"]["mean"] == pytest.approx(0.6) and card["seeds"]["results"]["WikiQA dev"]["measure"] == "map"
    assert "map 0.6000 ± 1.2706 (2 seeds)" in over_seeds(tmp_path / "1", card)


def test_a_card_of_no_training_run_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = {"WikiQA dev": {"accuracy": 0.5}}
    folders = [run(tmp_path / "1", 1, results=scores), run(tmp_path / "2", 2, results=scores, recipe=None)]
    assert paper(["seeds", *folders]) == 2
    assert "the card of tiny has no recipe" in capsys.readouterr().err
