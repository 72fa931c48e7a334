"""The precision of a training: requested, used on this machine, and stored in the card."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from core.checkpoint import read_card
from trainers import loop, precision
from trainers.__main__ import PROGRAM, main
from trainers.commands import as_typed, given
from trainers.precision import used_precision

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Sets whether this processor is one with products in bf16, in a process that has warned of nothing yet."""
    precision.warn_of_emulation.cache_clear()
    return lambda has_bf16: monkeypatch.setattr(precision, "native_bf16", lambda: has_bf16)


def train(data: Path, out: Path, *more: str) -> int:
    settings = ("--set", "model.hidden=12", "--set", "epochs=1", "--vectors", str(data / "vectors.txt"))
    return main(
        ["train", "nli-attconv-light", "--data", str(data), "--out", str(out), "--device", "cpu", *settings, *more]
    )


@pytest.mark.parametrize("name", ["train", "sweep", "paper.table", "paper.words"])
def test_every_command_fits_its_precision_to_the_machine_by_default(name: str) -> None:
    parser = argparse.ArgumentParser()
    importlib.import_module(f"trainers.{name}").add_arguments(parser)
    option = next(action for action in parser._actions if action.dest == "precision")
    assert option.default == "auto" and option.choices[:3] == ("auto", "32", "bf16")


@pytest.mark.parametrize(("has_bf16", "used"), [(True, "bf16"), (False, "32")])
def test_auto_is_bf16_on_a_processor_that_has_it(
    has_bf16: bool,
    used: str,
    native: Callable[[bool], None],
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    native(has_bf16)
    assert train(data, tmp_path / "run") == 0
    training = read_card(tmp_path / "run")["training"]
    assert (training["precision"], training["precision_asked"]) == (used, "auto")
    assert "--precision" not in training["command"] and "bf16" not in capsys.readouterr().err


@pytest.mark.parametrize(("has_bf16", "used"), [(True, "bf16"), (False, "32")])
def test_auto_is_bf16_on_a_gpu_that_has_it(has_bf16: bool, used: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda including_emulation: has_bf16 or including_emulation)
    assert used_precision("auto", "cuda") == used and used_precision("16", "cuda") == "16"


def test_bf16_asked_for_by_name_runs_where_it_is_emulated_with_one_warning(
    native: Callable[[bool], None], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    native(False)
    for name in ("one", "two"):
        assert train(data, tmp_path / name, "--precision", "bf16") == 0
    assert capsys.readouterr().err.count(precision.EMULATED) == 1
    training = read_card(tmp_path / "two")["training"]
    assert (training["precision"], training["precision_asked"]) == ("bf16", "bf16")
    assert training["command"].endswith("--precision bf16")


def test_a_run_begun_at_another_precision_is_not_taken_for_another_recipe(
    native: Callable[[bool], None],
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Started on a processor with bf16 and resumed on a laptop."""
    out = tmp_path / "run"
    with monkeypatch.context() as stopped:
        stopped.setattr(loop, "finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        native(True)
        assert train(data, out) == 130
    native(False)
    capsys.readouterr()
    assert train(data, out, "--resume") == 2
    told = capsys.readouterr().err.strip()
    assert "was begun at precision bf16, and here it would go on at 32; add --precision bf16" in told
    assert "\n" not in told and "recipe" not in told
    assert train(data, out, "--resume", "--set", "seed=77") == 2
    assert "has another recipe" in capsys.readouterr().err
    assert train(data, out, "--resume", "--precision", "bf16") == 0
    assert read_card(out)["training"]["precision"] == "bf16"


def test_a_record_lists_the_options_that_were_given() -> None:
    typed = "sweep r.yaml --csv x.csv --data /my/data --runs /my/runs --vary model.k=1,2 --set lr=1 --set seed=0"
    for asked in ([], ["--precision", "bf16"]):
        args = PROGRAM.parser("sweep").parse_args([*typed.split(), *asked])
        made = as_typed("trainers sweep", "r", **given(args.parser, args))
        own = "python -m trainers sweep r --vary model.k=1,2"
        assert made == " ".join([own, *asked, "--set lr=1 --set seed=0"])


def test_readme_leaves_the_precision_to_the_machine() -> None:
    text = "".join((ROOT / file).read_text(encoding="utf-8") for file in ("README.md", "docs/training.md"))
    commands = re.findall(r"^    python -m trainers .*", text, re.M)
    assert len(commands) > 10 and not [line for line in commands if "--precision" in line]
