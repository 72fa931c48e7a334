"""Runs that cannot go well: refused at the start, or ended with what is good."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lightning_fabric
import pytest
import torch
from lightning_fabric.plugins import MixedPrecision

from core.errors import RunError
from core.models import build
from tests.trainers.test_training import arguments
from trainers import loop
from trainers import recipe as recipes
from trainers.__main__ import main
from trainers.bench.models import made_up
from trainers.set_up import Options, check_settings


def test_a_diverged_run_is_not_a_result(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wild = ["--set", "lr=1.0e+30", "--set", "clip=0", "--set", "warmup=0", "--set", "epochs=2"]
    assert main(arguments(data, tmp_path / "run", *wild)) == 2
    assert "the loss became NaN in epoch 1; lower lr" in capsys.readouterr().err
    assert not (tmp_path / "run" / "card.json").exists()


def test_the_last_good_epoch_of_a_run_that_diverges_is_kept(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    step = loop.TrainingRun.step

    def spoiled(run: loop.TrainingRun, rows: Any) -> None:
        step(run, rows)
        if run.progress.epoch == 1:
            for weights in run.average.parameters():
                weights.fill_(float("nan"))

    monkeypatch.setattr(loop.TrainingRun, "step", spoiled)
    assert main(arguments(data, tmp_path / "run", "--set", "epochs=3", "--set", "batch_size=60")) == 0
    assert "the loss became NaN in epoch 2: epoch 1 is kept" in capsys.readouterr().out
    card = json.loads((tmp_path / "run" / "card.json").read_text())
    assert card["best_epoch"] == 1 and len(card["epochs"]) == 1
    assert card["results"]["SNLI dev"]["accuracy"] == card["epochs"][0]["snli_dev"]


def test_options_that_a_model_lacks_are_refused_before_training(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(data, tmp_path / "run", "--set", "diversity=0.1")) == 2
    assert "diversity: attconv-light has no such regularizer" in capsys.readouterr().err
    assert main(arguments(data, tmp_path / "run", "--set", "linear=true", "--set", "linear_classifier=forest")) == 2
    printed = capsys.readouterr()
    assert (
        "linear_classifier names 'forest'; known: network; logistic regression, C = 0.0003; linear SVM" in printed.err
    )
    assert "epoch 1" not in printed.out


def test_a_model_without_a_linear_classifier_is_refused_before_training() -> None:
    recipe = recipes.load("nli-attconv-light", ["linear=true", "model.hidden=8"])
    model = build(recipe.architecture, {"input_size": 6, **recipe.model})
    check_settings(recipe, model)
    model.classifier = torch.nn.Sequential(model.classifier, torch.nn.Tanh())  # type: ignore[assignment]
    with pytest.raises(RunError, match="linear: attconv-light has no linear classifier"):
        check_settings(recipe, model)


def test_trained_words_leave_a_model_its_regulariser(data: Path, tmp_path: Path) -> None:
    settings = ["architecture=phrases", "model={hidden: 8}", "train_words=10", "diversity=0.1", "epochs=1"]
    assert main(arguments(data, tmp_path / "run", *(part for one in settings for part in ("--set", one)))) == 0


def test_sixteen_bits_and_clipping_go_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU with torch's own scaler, as Fabric does it on a GPU."""
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)  # type: ignore[attr-defined]

    def start(_: Options) -> Any:
        fabric = lightning_fabric.Fabric(
            accelerator="cpu", devices=1, plugins=MixedPrecision("16-mixed", device="cpu", scaler=scaler)
        )
        fabric.launch()
        return fabric

    monkeypatch.setattr(loop, "start", start)
    monkeypatch.setattr(loop, "used_precision", lambda asked, device: asked)
    recipe = recipes.load("nli-attconv-light", ["model.hidden=8", "batch_size=16", "clip=1.0"])
    words, encoded = made_up(32)
    run = loop.ready(recipe, encoded, words, Options(tmp_path, device="cpu", precision="16"))
    before = [weights.clone() for weights in run.model.parameters()]
    for rows in run.batches(0):
        run.step(rows)
        run.progress.step += 1
    after = list(run.model.parameters())
    assert all(torch.isfinite(weights).all() for weights in after)
    assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))
