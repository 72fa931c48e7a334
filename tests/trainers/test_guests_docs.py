"""docs/guests.md, followed in an empty folder: its files written, its commands run as they stand there."""

from __future__ import annotations

import contextlib
import json
import random
import re
import shlex
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from core.__main__ import main as core
from tests.guests import LABELS, make, make_tower
from tests.trainers.conftest import WORDS, pair, paraphrases
from tests.trainers.test_align import PAIRS
from trainers.__main__ import main as trainers

TEXT = (Path(__file__).parents[2] / "docs/guests.md").read_text("utf-8")
COMMANDS = [line for block in re.findall(r"^```bash\n(.*?)^```", TEXT, re.M | re.S) for line in block.splitlines()]


class Classifier(BaseHTTPRequestHandler):
    """The group's service: busy at first, and slow where it is asked about something slow."""

    busy = 0

    def do_POST(self) -> None:
        pairs = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["pairs"]
        time.sleep(1 if any("slow" in first for first, _ in pairs) else 0)
        status = 503 if Classifier.busy else 400 if any("refused" in first for first, _ in pairs) else 200
        Classifier.busy = max(0, Classifier.busy - 1)
        chances = [[0.1, 0.2, 0.7] if "awake" in second else [0.6, 0.3, 0.1] for _, second in pairs]
        with contextlib.suppress(BrokenPipeError):  # who asked does not wait any more
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps({"probabilities": chances}).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def service():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Classifier)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of a reader who follows the page: two models, data, and the modules that it shows."""
    folder, source = tmp_path_factory.mktemp("guests"), random.Random(0)
    make(folder / "models/my-roberta", "roberta")
    make_tower(folder / "models/my-minilm")
    (folder / "pairs.jsonl").write_text("".join(json.dumps(pair(source, number)) + "\n" for number in range(30)))
    questions = [*paraphrases(source, 24)]
    # For untrained weights the same words in another order may be less similar than others (for 2 of 12 seeds), but the
    # same text is not.
    questions += [(1, one, one) for _, one, _ in questions[::2]]
    rows = [f"{label}\t{one}\t{other}\t{number}\n" for number, (label, one, other) in enumerate(questions)]
    (folder / "questions.tsv").write_text("".join(rows))
    for name in ("rte2_dev.json", "edinburgh_train_sure.json"):
        (folder / name).write_text(json.dumps(PAIRS[:2]))
    for name, text in re.findall(r"`(\w+\.py)`:\n\n```python\n(.*?)^```", TEXT, re.M | re.S):
        (folder / name).write_text(text, "utf-8")
    (mine,) = re.findall(r"^```yaml\n(.*?)^```", TEXT, re.M | re.S)
    (folder / "mine.yaml").write_text(mine, "utf-8")
    (folder / "data").mkdir()
    for name in ("train.csv", "dev.csv"):
        lines = ["{sentence1},{sentence2},{gold_label}".format(**pair(source, number)) for number in range(12)]
        (folder / "data" / name).write_text("\n".join(["premise,hypothesis,label", *lines]))
    return folder


@pytest.fixture
def there(folder, service, few_pairs, monkeypatch):
    monkeypatch.setattr("trainers.probe.SUITES", few_pairs)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("SERVICE", service)
    return folder


def run(command, monkeypatch):
    """A line of the page in this process: its exit status."""
    words = shlex.split(command)
    with monkeypatch.context() as patched:
        while "=" in words[0]:
            patched.setenv(*words.pop(0).split("=", 1))
        assert words[:2] == ["python", "-m"]
        return {"core": core, "trainers": trainers}[words[2]](words[3:])


def test_the_page_has_what_is_followed_here():
    assert len(COMMANDS) > 15 and {"service", "cosines", "bag_of_words"} == {*re.findall(r"GUESTS=(\w+):", TEXT)} - {
        "module"
    }


def test_the_commands_of_the_page(there, monkeypatch, capsys):
    """One after the other: each would take its time to set up what all need."""
    out = {}
    for command in COMMANDS:
        Classifier.busy = 1 if "service" in command else 0
        status = run(command, monkeypatch)
        printed = capsys.readouterr()
        assert status == 0 and "Traceback" not in printed.err, (command, printed.err)
        out[command.partition(" --first")[0].partition("python -m ")[2]] = printed.out
    served = out["core explain --model service:Service"]
    assert served.startswith("contradiction   (entailment 10") and "The group’s classifier" in served
    why = out["core why bag_of_words:model"]
    assert "What each word of the hypothesis does" in why and "passes" in why
    assert "Where each word of question 2 looks in question 1" in out["core explain --model cosines:Cosines"]
    assert "(cosines, no attention)" in out["core explain --model models/my-minilm"]
    assert "my-roberta" in out["core models"] and "my-minilm" in out["core models"]


def test_a_service_that_is_slow_or_refuses_is_one_sentence(there, monkeypatch, capsys):
    monkeypatch.setenv("PAIRLENS_GUESTS", "service:Service")
    Classifier.busy = 0
    ask = ["explain", "--model", "service:Service", "--second", "A man is awake.", "--first"]
    assert core([*ask, "A man sleeps."]) == 0
    monkeypatch.setattr(sys.modules["service"], "SECONDS", 0.2)
    monkeypatch.setattr(sys.modules["service"], "TRIES", 2)
    capsys.readouterr()
    for first, message in (("A slow man.", "timed out"), ("A refused man.", "HTTP Error 400")):
        assert core([*ask, first]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "service:Service could not answer" in error and message in error


def test_the_notebook_of_the_page(there, capsys):
    exec(re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)[-1], {})
    assert any(capsys.readouterr().out.startswith(label) for label in LABELS) and WORDS
