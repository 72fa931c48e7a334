"""Groups of runs that are compared, by items and seeds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from core.errors import RunError
from core.evaluation.scores import per_item, summary
from trainers.__main__ import main
from trainers.compare import compare, scored
from trainers.runs import DEV


def test_comparing_finds_a_difference_that_is_there_and_none_that_is_not() -> None:
    random = np.random.default_rng(0)
    hard = random.random(400)
    ours, theirs = ((random.random((3, 400)) < hard + gain).astype(float) for gain in (0.15, 0.0))
    found = compare(ours, theirs, resamples=2000)
    assert found["difference"] == pytest.approx(ours.mean() - theirs.mean())
    assert found["interval_95"][0] > 0 and found["share_of_resamples_not_above_zero"] < 0.01
    same = compare(ours, ours, resamples=2000)
    assert same["difference"] == 0 and same["interval_95"][0] < 0 < same["interval_95"][1]


def test_the_folds_of_a_seed_are_one_run_over_all_rows(tmp_path: Path, capsys) -> None:
    gold, right = torch.tensor([0, 1, 1, 0, 1, 0]), torch.tensor([1, 1, 0, 1, 0, 1]).bool()
    chances = torch.nn.functional.one_hot(torch.where(right, gold, 1 - gold), 2).float()
    none = torch.zeros(0, dtype=torch.int64)
    for seed, folds in ((1, ([4, 0, 2], [5, 1, 3])), (2, ([1, 3, 0], [2, 5, 4]))):
        for number, rows in enumerate(folds, 1):
            folder = tmp_path / f"x-seed={seed}-fold={number}of2"
            folder.mkdir()
            at = torch.tensor(sorted(rows))
            save_file({"probabilities": chances[at], "gold": gold[at], "groups": none, "rows": at}, folder / DEV)
    found = scored(sorted(tmp_path.iterdir()))
    assert found.scores.tolist() == [right.tolist()] * 2
    assert found.rows.tolist() == list(range(6)) and found.gold.tolist() == gold.tolist()
    halves = [str(tmp_path / f"x-seed={seed}-fold={fold}of2") for seed, fold in ((1, 1), (2, 1))]
    assert main(["compare", "--ours", halves[0], "--theirs", halves[1]]) == 2
    assert "scored on other rows" in capsys.readouterr().err
    twice = [tmp_path / "x-seed=1-fold=1of2"] * 2
    with pytest.raises(RunError, match="the same rows twice"):
        scored(twice)


def test_questions_of_two_folds_are_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainers.compare.read_card", lambda folder: {"labels": ["no", "yes"], "ranked_by": "yes"})
    monkeypatch.setattr("trainers.compare.right_class", lambda card: card["labels"].index(card["ranked_by"]))
    own = {"gold": [0, 1, 1, 0], "yes": [0.9, 0.1, 0.8, 0.3]}
    for number, at in enumerate(([0, 1], [2, 3]), 1):
        (folder := tmp_path / f"x-seed=1-fold={number}of2").mkdir()
        yes, rows = torch.tensor(own["yes"])[at], torch.tensor(at)
        chances = {"probabilities": torch.stack([1 - yes, yes], dim=1), "gold": torch.tensor(own["gold"])[at]}
        save_file({**chances, "groups": torch.zeros(2, dtype=torch.int64), "rows": rows}, folder / DEV)
    assert scored(sorted(tmp_path.iterdir())).scores.tolist() == [[0.5, 1.0]]


def test_items_add_up_to_the_score_they_are_the_parts_of() -> None:
    gold = np.array([1, 0, 0, 0, 1, 0, 0])
    found = np.array([[0.2, 0.8], [0.9, 0.1], [0.3, 0.7], [0.1, 0.9], [0.6, 0.4], [0.7, 0.3], [0.5, 0.5]])
    groups = ["a", "a", "b", "b", "c", "c", "c"]
    # a: the right answer is first; b has none; c: second of three.
    assert per_item(gold, found, groups, 1).tolist() == [1.0, 0.5]
    assert summary(gold, found, groups, 1) == {"map": 0.75, "mrr": 0.75, "items": 2}
    # Whichever place the right answers' class has: here the first one.
    assert per_item(1 - gold, found[:, ::-1], groups, 0).tolist() == [1.0, 0.5]
    assert per_item(gold, found).mean() == pytest.approx(summary(gold, found)["accuracy"])
