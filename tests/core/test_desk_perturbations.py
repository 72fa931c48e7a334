"""Changes of a whole file: the changed texts, their expected effects, and what counts as a failure."""

import json
import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from core.card import Roles
from core.checkpoint import read_card
from core.data import Example, read
from core.desk import perturbed_run, run_folder, store
from core.desk.filters import rows_of
from core.desk.perturbations import Expectation, Source, changed, meanings_of, promises
from core.desk.perturbed_run import PerturbationTest, failure_rates, perturbation_job
from core.desk.run import Predictions, RunModel
from core.desk.table import open_table
from core.errors import DeskError
from core.evaluation.intervals import wilson
from core.evaluation.predict import classify
from tests.core.made_up import make_checkpoint
from tests.core.made_up_runs import made_up_run, predictions, stored, taxi, with_rows
from trainers.__main__ import main

SAME = Expectation()
PAIR = ("A man is riding a bike.", "The man isn't on a bicycle.")


def after(name, pair, label="entailment", others=("Two dogs run.",)):
    found = changed(name, label, Source(pair, 1, others, random.Random(0)))
    return found and (*found[0], found[1])


@pytest.mark.parametrize(
    ("name", "pair", "texts"),
    [
        ("full_stop", PAIR, ("A man is riding a bike", "The man isn't on a bicycle")),
        ("lower_case", PAIR, ("a man is riding a bike.", "the man isn't on a bicycle.")),
        ("contractions", PAIR, (PAIR[0], "The man is not on a bicycle.")),
        ("contractions", ("It is cold.", "I cannot say it is."), ("It's cold.", "I can't say it is.")),
        ("contractions", ("They won't go.", "Cows can't fly."), ("They will not go.", "Cows cannot fly.")),
        (
            "synonym",
            ("He rode.", "He has an automobile and a bike"),
            ("He rode.", "He has an automobile and a bicycle"),
        ),
        ("synonym", ("He flew.", "He is on an airplane."), ("He flew.", "He is on a plane.")),
        ("synonym", ("The Firms grew.", "Companies grew."), ("The Firms grew.", "Firms grew.")),
        ("tautology", ("He ran.", "He moved."), ("He ran.", "He moved and true is true.")),
        ("sentence", ("He ran", "He moved."), ("He ran. Two dogs run.", "He moved.")),
    ],
)
def test_changes_that_keep_the_label(name, pair, texts):
    assert after(name, pair) == (*texts, SAME)


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("full_stop", ("no stop", "here")),
        ("contractions", ("A dog runs.", "It is.")),
        ("synonym", ("A bike.", "A rock band.")),
        ("name", ("A man runs.", "He moves.")),
        ("synonym", ("A film.", "The Mother Teresa Film.")),
        ("name", ("He works with John Deere equipment.", "John works.")),
        ("name", ("He eats at Papa John's.", "John cooks.")),
        ("typo", ("A man runs.", "It is on.")),
        ("tautology", ("He ran?", "Did he move?")),
        ("sentence", ("Two dogs run.", "Dogs run.")),
        ("not", ("Dogs run.", "Some dogs are running.")),
        ("not", ("Dogs run.", "The dogs that are wet are running because it is raining.")),
        ("not", PAIR),
    ],
)
def test_changes_that_do_not_apply(name, pair):
    assert after(name, pair) is None


def test_a_typo_exchanges_two_letters_inside_a_word_and_a_name_changes_in_both_texts():
    first, second, expected = after("typo", ("It is.", "The elephant is there."))
    assert first == "It is." and expected == SAME and second != "The elephant is there."
    assert sorted(second) == sorted("The elephant is there.") and second[4] == "e" and second[11:] == "t is there."
    first, second, _ = after("name", ("John met Mary.", "Mary saw John."))
    assert first.endswith(" met Mary.") and second.startswith("Mary saw ")
    new = first.split()[0]
    assert new not in ("John", "Mary") and second == f"Mary saw {new}."


def test_what_is_promised_depends_on_the_gold_label():
    pair = ("A man sleeps.", "A man is awake.")
    assert after("not", pair)[1:] == ("A man is not awake.", Expectation("contradiction"))
    assert after("not", pair, "contradiction")[2] == Expectation("entailment", may_not_fall=True)
    assert after("not", pair, "neutral") is None and after("not", pair, "") is None
    assert after("swap", pair) is None and after("swap", pair, "neutral") is None
    assert after("swap", pair, "contradiction") == (pair[1], pair[0], SAME)
    assert after("swap", pair, "paraphrase") == (pair[1], pair[0], SAME)
    assert after("sentence", pair, "neutral") is None and after("sentence", pair, "contradiction") is None
    assert after("full_stop", pair, "") is not None, "rows without a label are typed, too"


def test_labels_have_their_meaning_by_the_task():
    roles = Roles("premise", "hypothesis", "hypothesis")
    facts = RunModel("a", "A", "a" * 64, ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), "fact checking", roles)
    assert meanings_of(facts, [(0,), (1,), (2,)]) == ["entailment", "contradiction", "neutral"]
    assert meanings_of(facts, [(0,), (1, 2)]) == ["entailment", ""]
    same = replace(facts, labels=("no", "duplicate"), task="paraphrase")
    assert meanings_of(same, [(0,), (1,)]) == ["not a paraphrase", "paraphrase"]
    assert meanings_of(replace(same, task="answer selection"), [(0,), (1,)]) == ["", ""]


def test_every_change_is_shown_in_an_example_with_its_expected_effect_by_label():
    lines = promises("entailment")
    assert all(example for _, example, _ in lines.values())
    assert lines["synonym"] == ("A synonym", "John is on a couch.", "any label: same prediction")
    effects = "entailment: becomes contradiction; contradiction: P(entailment) may not fall"
    assert lines["not"] == ("“not” put in", "John is not on a sofa.", effects)
    assert lines["swap"][2] == "contradiction: same prediction"
    assert promises("paraphrase")["swap"][2] == "paraphrase, not a paraphrase: same prediction"
    assert promises("paraphrase").keys() == lines.keys() - {"not", "sentence"}


def test_failures_are_counted_as_the_expectation_says(tmp_path):
    """The second model knows no contradiction, so what becomes one is not put to the two."""
    rows = (
        Example("1", "a dog is here .", "a dog is there", "entailment"),
        Example("2", "it is", "a cat is there", "contradiction", columns={"before": "x"}, label_text="contradiction"),
    )
    before = [[[0.8, 0.1, 0.1], [0.3, 0.1, 0.6]], [[0.8, 0.1, 0.1], [0.3, 0.1, 0.6]]]
    run = made_up_run(tmp_path)
    models = (replace(own, probabilities=np.array(p)) for own, p in zip(run.models, before, strict=True))
    run = with_rows(run, rows, tuple(models))
    test = PerturbationTest(run, [0, 1], ["full_stop", "not"])
    found = list(test._changed([0, 1]))
    assert [(one.origin, str(one.expected)) for one in found] == [
        (0, "same prediction"),
        (0, "becomes contradiction"),
        (1, "P(entailment) may not fall"),
    ]
    assert [one.row.label for one in found] == ["entailment", "contradiction", None]
    assert (
        found[2].row.columns["file.before"] == "x" and found[2].row.columns["original.hypothesis"] == "a cat is there"
    )
    one = np.array([[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.21, 0.2, 0.59]])
    two = np.array([[0.1, 0.8, 0.1], [0.1, 0.3, 0.6], [0.19, 0.2, 0.61]])
    part = test._judged(run.dataset, found, [one, two])
    assert [row.columns["failed"] for row in part.rows] == ["two", "one", "two"]
    assert [row.columns["before"] for row in part.rows] == ["entailment | entailment"] * 2 + [
        "contradiction | contradiction"
    ]


@pytest.mark.slow
def test_a_test_is_a_run_that_can_be_filtered_and_is_the_same_again(tmp_path, table, capsys):
    checkpoint, file = make_checkpoint(tmp_path / "tiny", table), taxi(tmp_path)
    command = ["perturb", str(checkpoint.folder), str(file), "--out"]
    assert main([*command, f"{tmp_path}/one", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["failures"]["tiny"]
    assert main([*command, f"{tmp_path}/two", "--only", "tautology"]) == 0
    assert "“and true is true” added: same prediction" in capsys.readouterr().out
    run = run_folder.load(tmp_path / "one")
    assert [rate["rows"] for rate in told] == [rate.rows for rate in failure_rates(run, 0)]
    assert sum(rate["rows"] for rate in told) == len(run.keys)
    by_title = {(rate["perturbation"], rate["expected"]): rate for rate in told}
    tautologies = by_title["“and true is true” added", "same prediction"]
    assert tautologies["rows"] == 6
    assert by_title["Both texts swapped", "same prediction"]["rows"] == 2, "contradictions alone"
    data = read(file)
    longer = replace(data, rows=tuple(replace(row, second=f"{row.second} and true is true") for row in data.rows))
    before, now = (classify(checkpoint, some, torch.device("cpu")).argmax(axis=1) for some in (data, longer))
    assert tautologies["failures"] == (before != now).sum()
    assert (tautologies["low"], tautologies["high"]) == wilson(tautologies["failures"], 6)
    shown = open_table(run, known=bool)
    for rate in told:
        assert rows_of(rate["expression"], shown).sum() == rate["failures"]
    assert rows_of('genre = telephone and original.id = "1n"', shown).any(), "the file's columns are kept"
    alone = run_folder.load(tmp_path / "two")
    of_both = [row for row in run.dataset.rows if row.columns["perturbation"] == "“and true is true” added"]
    assert list(alone.dataset.rows) == of_both


@pytest.mark.slow
def test_a_filter_chooses_the_rows(tmp_path, table, capsys):
    """Also by what the checkpoint predicts."""
    checkpoint, file = make_checkpoint(tmp_path / "tiny", table), taxi(tmp_path)
    command = ["perturb", str(checkpoint.folder), str(file), "--only", "tautology", "--out", f"{tmp_path}/run"]
    assert main([*command, "--filter", "A.right and genre = telephone"]) == 0
    data = read(file)
    answers = [checkpoint.labels[i] for i in classify(checkpoint, data, torch.device("cpu")).argmax(axis=1)]
    right = [row for row, answer in zip(data.rows, answers, strict=True) if row.label == answer]
    kept = [row.id for row in right if row.columns["genre"] == "telephone"]
    assert [row.columns["original.id"] for row in run_folder.load(tmp_path / "run").dataset.rows] == kept
    capsys.readouterr()
    assert main([*command, "--filter", "genre = telephon and gold = neutral"]) == 2
    assert "No row has “telephon” as genre: did you mean telephone?" in capsys.readouterr().err
    assert main([*command, "--filter", "genre ="]) == 2 and "a value" in capsys.readouterr().err


def test_bad_input_gets_one_sentence(tmp_path, table, capsys):
    checkpoint, file = make_checkpoint(tmp_path / "tiny", table), taxi(tmp_path)
    command = ["perturb", str(checkpoint.folder), str(file), "--out", f"{tmp_path}/run", "--only"]
    assert main([*command, "typos"]) == 2 and "there is no perturbation 'typos'" in capsys.readouterr().err
    assert main([*command, "name"]) == 2 and "none of the perturbations applies" in capsys.readouterr().err
    assert not list(tmp_path.glob("run/.parts-*")), "nothing to resume"
    assert main([*command, "tautology", "--out", f"{tmp_path}/other"]) == 0
    run = run_folder.load(tmp_path / "other")
    with pytest.raises(DeskError, match="are changed already"):
        PerturbationTest(run, [0])
    with pytest.raises(DeskError, match="at least one row"):
        PerturbationTest(made_up_run(tmp_path), [])
    score = predictions("score", [[1.0]], "c" * 64, labels=("similarity",))
    with pytest.raises(DeskError, match="gives a score"):
        PerturbationTest(replace(made_up_run(tmp_path), models=(score,)), [0])


def test_a_cancelled_test_is_resumed_by_the_next_one(tmp_path, table, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "own"))
    monkeypatch.setenv("PAIRLENS_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(perturbed_run, "AT_ONCE", 2)
    checkpoint = make_checkpoint(tmp_path / "own/tiny", table)
    data = read(taxi(tmp_path))
    run = stored(data, (Predictions.of(checkpoint, classify(checkpoint, data, torch.device("cpu"))),))
    test = PerturbationTest(run, range(6))
    tried, real = Counter(), perturbed_run.classify

    def classified(checkpoint, dataset, device, progress):
        tried[dataset.rows[0].id] += 1
        if tried.total() == 2:
            job.cancel()
        return real(checkpoint, dataset, device, progress)

    monkeypatch.setattr(perturbed_run, "classify", classified)
    job = perturbation_job(test, ["tiny"])
    seen, progress = [], job.progress
    monkeypatch.setattr(job, "progress", lambda done: (seen.append(done), progress(done)))
    job.run()
    assert not job.problem and 2 <= job.done <= 4 and all(one <= two for one, two in pairwise(seen))
    job = perturbation_job(test, ["tiny"])
    job.run()
    assert not job.problem and job.done == job.rows == 6
    assert sorted(tried.values()) == [1, 1, 2]
    assert job.written == (test.checksum, [run.models[0].sha256])
    kept = store.open_run(test.checksum, [read_card(tmp_path / "own/tiny")["sha256"]])
    assert len({row.columns["original.id"] for row in kept.dataset.rows}) == 5  # "1c" twice
    other = perturbation_job(
        replace(test, run=replace(run, models=(replace(run.models[0], sha256="b" * 64),))), ["tiny"]
    )
    other.run()
    assert "is not the one that predicted this run" in other.problem
