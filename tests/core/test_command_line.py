"""Whole commands, as a person types them."""

import json
import subprocess
import sys

import pytest

from core.checkpoint import load
from core.explain import explain
from tests.core.made_up import make_checkpoint

PAIR = ("An animal plays in the snow", "The dog plays in the cold")


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "core", *arguments], capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path, table):
    return make_checkpoint(tmp_path / "tiny", table).folder


def test_explain_prints_the_numbers_of_the_library(folder):
    done = run("explain", "--model", str(folder), "--first", PAIR[0], "--second", PAIR[1], "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    expected = explain(load(folder), *PAIR).to_dict()
    assert printed["logits"] == pytest.approx(expected["logits"], abs=1e-6)
    assert printed["contexts"][0]["role"] == "hypothesis" and len(printed["evidence"]) == 3


def test_explain_for_people_names_verdict_words_and_filters(folder):
    done = run("explain", "--model", str(folder), "--first", PAIR[0], "--second", PAIR[1])
    result = explain(load(folder), *PAIR)
    assert done.stdout.startswith(result.verdict)
    assert "dog  " in done.stdout and "-> tanh =" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "nobody", "--first", "a", "--second", "b"), "no checkpoint named 'nobody'"),
        (("--model", "FOLDER", "--first", "", "--second", "b"), "The premise is empty"),
    ],
)
def test_errors_are_one_sentence(folder, arguments, message):
    done = run("explain", *(str(folder) if a == "FOLDER" else a for a in arguments))
    assert done.returncode == 2 and message in done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1 and not done.stdout


def test_models_lists_what_is_here(folder, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(folder.parent))
    assert "A tiny model" in run("models").stdout
    assert json.loads(run("models", "--json").stdout)["tiny"]["architecture"] == "attconv-light"
