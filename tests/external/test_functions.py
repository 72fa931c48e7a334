"""Any Python function as a model: what it gives, and one sentence for what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from core.__main__ import main
from core.checkpoint import CheckpointError, available, load_named, open_checkpoint, records_of
from core.data import read
from core.desk.run import Predictions
from core.desk.run_folder import save
from core.effects.faithfulness import faithfulness
from core.effects.links import LinksError, Taken
from core.effects.question import Question
from core.errors import UserError
from core.evaluation.predict import classify, predict
from core.evidence import AttentionMap, Explanation
from core.explain import explain
from core.external.checkpoint import function_checkpoint
from core.external.functions import made
from core.models.intervention import Intervention
from core.reading.reader import PairError
from tests.guests import make

PAIR = ("A man's dog can't run.", "The  dog doesn't run.")
MODULE = '''
"""Functions of a test."""
import threading
import numpy as np

asked, threads = [], set()


class Overlap:
    title, task, labels, roles = "Words in both", "paraphrase", ("0", "1"), ("one", "other")

    def probabilities(self, pairs):
        asked.extend(pairs)
        threads.add(threading.get_ident())
        shares = [len({*a.split()} & {*b.split()}) / len({*a.split()} | {*b.split()}) for a, b in pairs]
        return [[1 - 0.9 * share, 0.9 * share] for share in shares]

    def attention(self, first, second):
        return [[0.5 * (one == other) / max(1, first.count(one)) for one in first] for other in second]


def overlap():
    return Overlap()


class Wrong:
    """``answer``: what becomes of a batch; the pair by which it is tried gets a right one."""

    labels = ("entailment", "neutral", "contradiction")

    def __init__(self, answer):
        self.answer = answer

    def probabilities(self, pairs):
        return np.full((len(pairs), 3), 1 / 3) if "guitar" in pairs[0][0] else self.answer(pairs)


def _raise(error):
    raise error


exits = Wrong(lambda pairs: _raise(SystemExit(3)))
raises = Wrong(lambda pairs: _raise(TimeoutError("no answer\\nin 3 s")))
too_few = Wrong(lambda pairs: [[0.5, 0.5]] * len(pairs))
no_numbers = Wrong(lambda pairs: [["high", "low", "low"]] * len(pairs))
not_finite = Wrong(lambda pairs: [[float("nan"), 0.5, 0.5]] * len(pairs))
too_much = Wrong(lambda pairs: [[0.5, 0.5, 0.5]] * len(pairs))
without_labels = object()


class Far(Wrong):
    roles, task = ("one", "other"), "entailment"

    def __init__(self):
        super().__init__(lambda pairs: [[0.2, 0.3, 0.5]] * len(pairs))

    def attention(self, first, second):
        return [[1.0] * len(first)] * len(second)


def exits_at_once():
    raise SystemExit("no licence")


class Away:
    labels = ("yes", "no")

    def probabilities(self, pairs):
        raise ConnectionError("the service is not there")
'''
NAMES = [
    "overlap",
    "raises",
    "exits",
    "exits_at_once",
    "too_few",
    "no_numbers",
    "not_finite",
    "too_much",
    "without_labels",
    "Far",
    "Away",
    "none",
]


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    folder = tmp_path_factory.mktemp("functions")
    (folder / "functions_of_a_test.py").write_text(MODULE)
    return folder


@pytest.fixture(autouse=True)
def listed(module, monkeypatch):
    monkeypatch.syspath_prepend(str(module))
    monkeypatch.setenv("PAIRLENS_GUESTS", ", ".join(f"functions_of_a_test:{name}" for name in NAMES))


def named(name: str) -> str:
    return f"functions_of_a_test:{name}"


def test_a_function_is_listed_and_explained():
    assert [name for name in available() if ":" in name] == [named(name) for name in NAMES]
    guest = load_named(named("overlap"))
    assert guest is load_named(named("overlap")) and records_of(guest.card) == (AttentionMap,)
    assert (guest.card["title"], guest.labels, guest.roles["first"]) == ("Words in both", ("0", "1"), "one")
    explanation = explain(guest, *PAIR)
    assert explanation.probabilities == pytest.approx((1 - 1.8 / 7, 1.8 / 7), abs=1e-6)  # “dog” and “run.” of seven
    (record,) = (record for record in explanation.evidence if not record.of_every_model)
    words = [[token.text for token in side.tokens] for side in (explanation.first, explanation.second)]
    for i, row in enumerate(record.weights):
        assert row == tuple(0.5 * (one == words[1][i]) for one in words[0])
        assert record.null[i] == pytest.approx(1 - sum(row))
    assert Explanation.from_dict(json.loads(explanation.to_json())) == explanation


def test_effects_and_files_ask_it_with_the_texts_as_edits_leave_them(tmp_path):
    guest = load_named(named("overlap"))
    module = sys.modules["functions_of_a_test"]
    module.asked.clear()
    effects = Question(guest, *PAIR).words("dropped")
    assert len(module.asked) == effects.passes == 1 + len(effects.words)
    assert {pair[1] for pair in module.asked} >= {"Dog doesn't run.", "The doesn't run.", "The  dog doesn't."}
    assert all(word.effect is not None for word in effects.words)
    with pytest.raises(LinksError, match="no attention links"):
        Question(guest, *PAIR).links(Taken.KEPT)
    with pytest.raises(UserError, match="no gradients"):
        Question(guest, *PAIR).words("gradient-norm")
    with pytest.raises(UserError, match="unknown method"):
        Question(guest, *PAIR).words("?")
    assert {*faithfulness(Question(guest, *PAIR)).curves} >= {"taken-away", "most-attended", "random"}
    (tmp_path / "pairs.csv").write_text("sentence1,sentence2,label\na dog,a dog,1\na cat,the dog,0\na b,c d,0\n")
    data = read(tmp_path / "pairs.csv")
    chances = classify(guest, data, "cpu")
    assert chances[:, 1] == pytest.approx([0.9, 0, 0], abs=1e-6)
    save(data, [Predictions.of(guest, chances)], tmp_path / "run")


def test_an_object_of_a_notebook_needs_no_variable():
    function = type(made(named("overlap")))()
    guests = [function_checkpoint(function, "overlap") for _ in range(2)]
    assert guests[0].state != guests[1].state and guests[0].seconds > 0
    assert explain(guests[0], *PAIR).probabilities == explain(load_named(named("overlap")), *PAIR).probabilities
    function.labels = ("only", "only")
    with pytest.raises(CheckpointError, match=r"labels must be different names.*fix the function"):
        function_checkpoint(function)


def test_calls_follow_one_another():
    guest = load_named(named("overlap"))
    running, most = [0], []
    function = made(named("overlap"))
    own = function.probabilities

    def watched(pairs):
        running[0] += 1
        most.append(running[0])
        answer = own(pairs)
        running[0] -= 1
        return answer

    function.probabilities = watched
    readings = [guest.read(*PAIR)] * 20
    threads = [threading.Thread(target=lambda: predict(guest, readings)) for _ in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        del function.probabilities
    assert len(most) >= 4 and max(most) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raises", "could not answer \\(TimeoutError: no answer in 3 s\\)"),
        ("exits", "could not answer \\(SystemExit: 3\\): try again, or fix it"),
        ("too_few", "1 pairs with 3 probabilities each"),
        ("no_numbers", "does not answer with numbers"),
        ("not_finite", "3 probabilities each"),
        ("too_much", "do not add up to 1"),
        ("Far", "a row that adds up to more than 1"),
    ],
)
def test_a_wrong_answer_is_one_sentence(name, message):
    guest = load_named(named(name))
    with pytest.raises(PairError, match=message) as error:
        explain(guest, *PAIR)
    assert "\n" not in str(error.value)
    if name != "Far":
        with pytest.raises(PairError, match=message.replace("1 pairs", "[0-9]+ pairs")):
            Question(guest, *PAIR).words()


def test_a_function_that_cannot_be_made_or_asked_leaves_the_others(capsys):
    with pytest.raises(CheckpointError, match="could not answer \\(ConnectionError"):
        load_named(named("Away"))
    made(named("Away")).probabilities = lambda pairs: np.full((len(pairs), 2), 0.5)
    assert load_named(named("Away")).labels == ("yes", "no")  # the service is there again
    assert main(["models"]) == 0
    printed = capsys.readouterr()
    assert "Words in both" in printed.out and "nli-two-sided" in printed.out
    assert "functions_of_a_test:none of PAIRLENS_GUESTS cannot be made (AttributeError" in printed.err
    assert "without_labels of PAIRLENS_GUESTS cannot be made" in printed.err
    assert "exits_at_once of PAIRLENS_GUESTS cannot be made (SystemExit: no licence)" in printed.err
    with pytest.raises(ValueError, match="could be replaced"):
        guest = load_named(named("overlap"))
        guest.model.under(guest.reader.batch(guest.read(*PAIR)), Intervention(crossings=False))
    with pytest.raises(CheckpointError, match="no checkpoint named"):
        load_named("a:b")


def test_a_folder_of_hugging_faces_cache_is_called_by_its_name_there(tmp_path):
    folder = tmp_path / "models--acme--tiny-nli/snapshots/0123456789abcdef0123456789abcdef01234567"
    make(folder)
    assert open_checkpoint(str(folder)).name == "acme/tiny-nli"


def test_on_the_command_line_a_fault_is_one_sentence_and_no_traceback(module):
    """In a separate process, whose log has no handler but Python's default."""
    name = named("exits")
    pair = [name, "--first", PAIR[0], "--second", PAIR[1]]
    commands = [["explain", "--model", *pair], ["why", *pair]]
    program = f"from core.__main__ import main; print([main(command) for command in {commands}])"
    environment = {**os.environ, "PAIRLENS_GUESTS": name, "PYTHONPATH": f"{module}:{Path.cwd()}"}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout == "[2, 2]\n"
    sentences = run.stderr.splitlines()
    assert len(sentences) == 2
    assert all("could not answer (SystemExit: 3): try again, or fix it" in sentence for sentence in sentences)
