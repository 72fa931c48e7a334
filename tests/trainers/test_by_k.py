"""Scores of a model of phrases by k: as the predictions of checkpoints with that pooling and k, on the card."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.checkpoint import load, read_card
from core.explain import explain
from tests.app.made_up_models import make_phrases
from trainers.paper.__main__ import main

ROWS = [
    ("a dog is outside", "the cat is cold", "neutral"),
    ("a man with a toy", "a man is cold", "entailment"),
    ("snow outside", "the weather is cold", "contradiction"),
]


def test_each_k_is_scored_as_a_model_of_that_k_and_the_card_keeps_it(tmp_path, capsys):
    make_phrases(tmp_path, "judge", "Judge", "entailment", "kmin", 2)
    file = tmp_path / "dev.csv"
    file.write_text("premise,hypothesis,label\n" + "".join(",".join(row) + "\n" for row in ROWS))
    assert main(["by-k", str(tmp_path / "judge"), str(file), "--card", "made up"]) == 0
    assert "accuracy of 3 items" in capsys.readouterr().out
    card = read_card(tmp_path / "judge")
    stored, checkpoint = card["by_k"]["made up"], load(tmp_path / "judge")
    for pooling in ("kmin", "kmax"):
        for k in (1, 2, 10):
            checkpoint.model.config = replace(checkpoint.model.config, pooling=pooling, k=k)
            answers = [explain(checkpoint, first, second) for first, second, _ in ROWS]
            right = [one.labels[one.probabilities.index(max(one.probabilities))] for one in answers]
            share = sum(a == label for a, (*_, label) in zip(right, ROWS, strict=True)) / 3
            assert stored[pooling][k - 1] == pytest.approx(share), (pooling, k)
    assert str(tmp_path) not in json.dumps(stored)


def test_a_model_without_phrases_gets_one_sentence(tmp_path, capsys):
    assert main(["by-k", "nli-bicnn", str(tmp_path / "any.csv")]) == 2
    assert "nli-bicnn does not choose among phrases" in capsys.readouterr().err
