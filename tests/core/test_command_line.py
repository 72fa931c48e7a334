"""Whole commands, as typed."""

import io
import json
import re
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from core.__main__ import main
from core.checkpoint import load
from core.command_line import prepare_process, status_of
from core.errors import UserError
from core.explain import explain
from tests.core.made_up import make_checkpoint

PAIR = ("An animal plays in the snow", "The dog plays in the cold")


@pytest.fixture
def run(capsys):
    """A command in this process: its exit status and what it prints."""

    def call(*arguments):
        status = main(arguments)
        printed = capsys.readouterr()
        return SimpleNamespace(returncode=status, stdout=printed.out, stderr=printed.err)

    return call


@pytest.fixture
def folder(tmp_path, table):
    return make_checkpoint(tmp_path / "tiny", table).folder


def test_explain_prints_the_numbers_of_the_library(folder, run):
    done = run("explain", "--model", str(folder), "--first", PAIR[0], "--second", PAIR[1], "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    expected = explain(load(folder), *PAIR).to_dict()
    assert printed["logits"] == pytest.approx(expected["logits"], abs=1e-6)
    assert [one["kind"] for one in printed["evidence"]] == [one["kind"] for one in expected["evidence"]] != []
    assert printed["contexts"][0]["role"] == "hypothesis"


def test_explain_for_people_names_verdict_words_and_filters(folder, run):
    done = run("explain", "--model", str(folder), "--first", PAIR[0], "--second", PAIR[1])
    result = explain(load(folder), *PAIR)
    assert done.stdout.startswith(result.verdict)
    assert "dog  " in done.stdout and "-> tanh =" in done.stdout
    assert "Nearest words" not in done.stdout
    done = run("explain", "--model", str(folder), "--first", PAIR[0], "--second", PAIR[1], "--word", "1")
    assert "Nearest words to the attentive context of “dog” (cosine): " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "nobody", "--first", "a", "--second", "b"), "no checkpoint named 'nobody'"),
        (("--model", "FOLDER", "--first", "", "--second", "b"), "The premise is empty"),
        (
            ("--model", "FOLDER", "--first", "a", "--second", "b", "--edit", "uncrossed"),
            "tiny does not count crossing words",
        ),
    ],
)
def test_errors_are_one_sentence(folder, arguments, message, run):
    done = run("explain", *(str(folder) if a == "FOLDER" else a for a in arguments))
    assert done.returncode == 2 and message in done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1 and not done.stdout


@pytest.mark.slow
def test_models_lists_available_checkpoints(folder, run, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(folder.parent))
    assert "A tiny model" in run("models").stdout
    assert json.loads(run("models", "--json").stdout)["tiny"]["architecture"] == "attconv-light"


@pytest.mark.parametrize(
    ("options", "encoding"), [(["--json"], "utf-8:strict"), (["--json"], "ascii:strict"), ([], "ascii:strict")]
)
def test_half_a_character_and_a_poor_terminal_leave_no_traceback(folder, options, encoding, monkeypatch, capsys):
    out = io.TextIOWrapper(io.BytesIO(), *encoding.split(":"))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr("core.command_line.wait_asleep", lambda: None)  # too late: torch is there
    prepare_process()
    first = "A\udcff dog plays in the café 🐕 snow"
    assert main(["explain", "--model", str(folder), "--first", first, "--second", PAIR[1], *options]) == 0
    assert not capsys.readouterr().err
    if options:
        side = json.loads(out.buffer.getvalue())["first"]
        assert all(side["text"][t["start"] : t["end"]] == t["text"] for t in side["tokens"])
        assert ("A\ufffd dog plays in the café 🐕" if "utf" in encoding else "A? dog plays in the caf? ?") in side[
            "text"
        ]


def test_half_a_character_reads_as_the_replacement_character(folder):
    half, whole = (explain(load(folder), f"A dog {sign} plays", PAIR[1]) for sign in "\ud800\ufffd")
    assert half.first == whole.first and half.logits == whole.logits
    half.to_json().encode()


@pytest.mark.slow
def test_a_reader_who_has_had_enough_ends_the_command_in_silence(folder):
    words = " ".join(["dog"] * 150)
    command = f"{sys.executable} -m core explain --model {folder} --first '{words}' --second '{words}' --json | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (141, "{\n", "")


def test_a_word_that_is_not_there_is_one_sentence(folder, run):
    done = run("explain", "--model", str(folder), "--first", PAIR[0], "--second", PAIR[1], "--word", "99")
    assert done.returncode == 2 and not done.stdout
    assert done.stderr == "--word 99 is not there: this explanation has words 0 to 5\n"


@pytest.mark.slow
@pytest.mark.parametrize("command", [("core", "models"), ("trainers", "evaluate", "--help")])
def test_ctrl_c_while_it_is_imported_is_one_line(command):
    """Sent when numpy is there and torch is still being imported."""
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests run in the background by a shell ignore the signal, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    next(line for line in process.stderr if "numpy._core" in line)
    process.send_signal(signal.SIGINT)
    out, rest = process.communicate(timeout=600)
    told = [line for line in rest.splitlines() if line.strip() and not line.startswith("import time:")]
    assert (process.returncode, told, out) == (130, ["stopped"], "")


def test_a_control_character_of_a_file_is_no_command_to_the_terminal(capsys):
    evil = "\x1b]0;title\x07 \x9b2J over\rwritten"

    def command():
        print(f"{evil}\tand\nmore")
        print(json.dumps({"label": evil}, ensure_ascii=False))
        print("\r50 %", end="", file=sys.stderr)
        raise UserError(f"the file has the label {evil}")

    assert status_of(command) == 2
    out, err = capsys.readouterr()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out + err.removeprefix("\r50 %"))
    text, more, line = out.splitlines()
    assert (text, more) == (r"\u001b]0;title\u0007 \u009b2J over\u000dwritten" + "\tand", "more")
    assert json.loads(line) == {"label": evil} and r"\u001b" in err
