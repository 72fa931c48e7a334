"""Calibration of rankers: the fit by known numbers, and the command on a small checkpoint."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from core.card import ranked_by
from core.checkpoint import load, read_card
from core.evaluation import calibration
from tests.app.made_up_models import make_phrases
from trainers.__main__ import main


def test_the_fit_recovers_the_parameters_behind_the_labels():
    random = np.random.default_rng(0)
    odds = random.normal(0, 2, 20_000)
    right = random.random(20_000) < 1 / (1 + np.exp(-(0.5 * odds - 1.5)))
    slope, bias = calibration.fit(odds.tolist(), right.tolist())
    assert (slope, bias) == (pytest.approx(0.5, abs=0.05), pytest.approx(-1.5, abs=0.05))
    assert calibration.log_loss(odds, right, slope, bias) < calibration.log_loss(odds, right)
    stored = {"slope": 2.0, "bias": -1.0}
    assert calibration.calibrated(0.5, stored) == pytest.approx(0.5)
    assert calibration.calibrated(-800.0, stored) == 0.0
    assert calibration.calibrated(1.0, stored) == pytest.approx(1 / (1 + math.exp(-1)))
    with pytest.raises(ValueError, match="both right and wrong"):
        calibration.fit([1.0, 2.0], [True, True])


def test_the_command_writes_the_card_and_rejects_models_that_cannot_be_calibrated(tmp_path, capsys):
    make_phrases(tmp_path, "ranker", "Ranker", "answer selection", "kmax", 2)
    make_phrases(tmp_path, "judge", "Judge", "entailment", "kmax", 2)
    answers = ["a dog", "the cat is cold", "snow outside", "a man with a toy", "a woman", "the weather is cold"]
    file = tmp_path / "dev.csv"

    def written(flip):
        lines = [f"is a dog outside,{text},{int((i % 2 == 0) != flip)}" for i, text in enumerate(answers)]
        file.write_text("\n".join(["question,answer,label", *lines]) + "\n")

    status = 2
    for flip in (False, True):  # one of both ways round, the untrained model ranks right answers higher
        written(flip)
        status = main(["calibrate", str(tmp_path / "ranker"), str(file), "--card", "made up"])
        if status == 0:
            break
        assert "ranks wrong answers of" in capsys.readouterr().err
    assert status == 0
    stored = read_card(tmp_path / "ranker")["calibration"]
    assert (stored["fixed_on"], stored["pairs"], stored["right"]) == ("made up", 6, 3)
    assert stored["slope"] > 0
    assert stored["log_loss"]["calibrated"] <= stored["log_loss"]["model"]
    assert str(tmp_path) not in json.dumps(stored)
    # A ranker adapted to the same classes still ranks by the same class, and is calibrated again.
    assert main(["adapt", str(tmp_path / "ranker"), str(file), "--out", str(tmp_path / "mine")]) == 0
    before = read_card(tmp_path / "mine")
    assert ranked_by(before) == ranked_by(read_card(tmp_path / "ranker")) and "calibration" not in before
    assert main(["calibrate", str(tmp_path / "mine"), str(file), "--card", "made up"]) == 0
    assert load(tmp_path / "mine").card["calibration"]["slope"] > 0
    capsys.readouterr()
    assert main(["evaluate", str(tmp_path / "mine"), str(file)]) == 0 and "MAP" in capsys.readouterr().out
    assert main(["calibrate", str(tmp_path / "judge"), str(file), "--card", "made up"]) == 2
    assert "give a ranker" in capsys.readouterr().err
