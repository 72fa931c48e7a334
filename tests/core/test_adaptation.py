"""Adapted checkpoints: the fit against a slow loop, bits kept without corrections, folders, bases that changed."""

from __future__ import annotations

import csv
import itertools
import json
import math
import resource
import shutil
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from core.adaptation import adapt, features, fits, what_changed
from core.adaptation.adapt import LEARNED, AdaptationError, Examples, classifier_of
from core.adaptation.features import KEPT_PAIRS, GradualFeatures, feature_vectors, kept_features, kept_pairs
from core.adaptation.fits import FOLDS, KEEP, PULLS, Linear, fresh, held_out_pull, pulled, spread
from core.adaptation.reading_ahead import read_ahead
from core.adaptation.what_changed import KindEffect, WhatChanged, learned_with_less
from core.checkpoint import CheckpointError, available, load, load_named
from core.checkpoint.adapted import save_adapted, save_unlisted
from core.checkpoint.files import files_state
from core.checkpoint.memory import memory_of
from core.checkpoint.unlisted import folder_of, new_name
from core.data.corrected import NewLabel, corrected
from core.data.dataset import Dataset, Example
from core.effects import Question
from core.effects.words import DROPPED
from core.errors import UserError
from core.evaluation.predict import logits, prepare_rows
from core.evaluation.suites import SUITES, exchange, kind_of_exchange
from core.evidence import Explanation
from core.explain import explain
from core.files import FileError
from tests.guests import make, make_tower
from trainers.__main__ import main

PAIRS = [
    ("A Danish boy runs.", "A Swedish boy runs."),
    ("A man sells a red coat.", "A man sells a green coat."),
    ("Two women sing.", "Two people sing."),
    ("A dog sleeps.", "A dog sleeps in a basket."),
    ("The door is open.", "The door is closed."),
    ("A child eats soup.", "A child eats."),
]
OWN = ["same", "other", "same", "other", "other", "same"]


def answered(checkpoint, pairs=tuple(PAIRS)):
    rows = tuple(Example(str(number), *pair, None) for number, pair in enumerate(pairs))
    return logits(prepare_rows(checkpoint, Dataset("", "", rows)))


@pytest.mark.slow
def test_the_corrected_classifier_is_the_minimum_that_a_slow_loop_finds():
    torch.manual_seed(1)
    old = Linear(torch.randn(3, 5), torch.randn(3))
    x, y, kept = torch.randn(4, 5), torch.tensor([0, 2, 2, 1]), torch.randn(7, 5)
    found = pulled(old, x, y, kept, pull=0.7, keep=0.5)
    weight = old.weight.double().requires_grad_()
    bias = old.bias.double().requires_grad_()
    before = torch.log_softmax(old.logits(kept), 1)
    for _ in range(4000):
        pair_loss = -torch.log_softmax(x.double() @ weight.T + bias, 1)[range(4), y].sum()
        moved = (weight - old.weight).square().sum() + (bias - old.bias).square().sum()
        now = torch.log_softmax(kept.double() @ weight.T + bias, 1)
        kl = (before.exp() * (before - now)).sum()
        steps = torch.autograd.grad(pair_loss + 0.7 * moved + 0.5 * kl, (weight, bias))
        with torch.no_grad():
            weight -= 0.02 * steps[0]
            bias -= 0.02 * steps[1]
    torch.testing.assert_close(found.weight.double(), weight.detach(), atol=1e-6, rtol=0)
    torch.testing.assert_close(found.bias.double(), bias.detach(), atol=1e-6, rtol=0)


def test_a_new_classifier_of_raw_features_is_the_one_of_standardised_ones():
    torch.manual_seed(2)
    x = torch.randn(40, 3) * torch.tensor([1.0, 100.0, 0.01]) + 5
    y = (x[:, 1] > 5).long() + (x[:, 2] > 5).long()
    folds = torch.arange(40).numpy() % 4
    one, strength, right = fresh(x, y, folds)
    stretched, same, _ = fresh(x * torch.tensor([7.0, 0.1, 3.0]), y, folds)
    assert strength == same
    torch.testing.assert_close(one.logits(x), stretched.logits(x * torch.tensor([7.0, 0.1, 3.0])), atol=2e-3, rtol=0)
    assert right.shape == (40,) and right.dtype == bool
    scaled = ((x - x.mean(0)) / x.std(0, correction=0)).numpy()
    for labels, weights in itertools.product((y, (y > 1).long()), (None, "balanced")):
        own = fresh(x, labels, folds, balanced=weights is not None, strength=0.05).linear.logits(x).softmax(1)
        theirs = LogisticRegression(C=0.05, class_weight=weights, tol=1e-8).fit(scaled, labels)
        assert own.numpy() == pytest.approx(theirs.predict_proba(scaled), abs=1e-3)
    two = fresh(x, (y > 0).long(), folds).linear
    assert two.weight.shape == (2, 3) and two.logits(x).sum(1).abs().max() < 1e-3


def test_the_kept_pairs_are_in_no_suite():
    with KEPT_PAIRS.open(encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert {len(row) for row in rows} == {4} and 390 < 3 * len(rows[1:]) < 450
    texts = {text.lower().rstrip(".") for row in rows for text in row}
    tested = {
        text.lower().rstrip(".")
        for suite in SUITES.values()
        for row in suite.pairs.rows
        for text in (row.first, row.second)
    }
    assert not texts & tested
    exchanges = [exchange(premise, text) for premise, *others in rows for text in others]
    assert not [words for words in exchanges if words and kind_of_exchange(*words)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nli-two-sided", "nli-esim", "para-adaqa", "sentiment-acnn", "guest-minilm"])
def test_what_the_output_layer_reads_gives_the_logits_and_no_correction_changes_a_bit(name):
    base = load_named(name)
    pairs = kept_pairs(base)[:6]
    torch.testing.assert_close(
        base.model.output_layer(feature_vectors(base, pairs)), answered(base, pairs), atol=1e-5, rtol=0
    )
    same = adapt(base, [], [])
    assert torch.equal(answered(same, pairs), answered(base, pairs))
    mine = adapt(base, pairs, OWN)
    assert mine.labels == ("other", "same") and "results" not in mine.card and mine.card["base"]["name"] == name
    torch.testing.assert_close(
        mine.model.output_layer(feature_vectors(base, pairs)), answered(mine, pairs), atol=1e-5, rtol=0
    )
    assert torch.equal(answered(base, pairs), answered(load_named(name), pairs)), "the base is unchanged"


@pytest.mark.slow
def test_corrections_do_not_depend_on_their_order_and_keep_other_answers():
    base = load_named("nli-attconv-light")
    wrong = [("A Danish boy runs.", "A Swedish boy runs."), ("An Irish man eats.", "A Greek man eats.")]
    one = adapt(base, wrong, ["contradiction", "contradiction"])
    other = adapt(base, wrong[::-1], ["contradiction", "contradiction"])
    assert torch.equal(answered(one), answered(other))
    assert {one.labels[place] for place in answered(one, wrong).argmax(1)} == {"contradiction"}
    pull, chances = one.card["adaptation"]["pull"], answered(one, wrong).softmax(1)
    assert chances[:, one.labels.index("contradiction")].min() >= LEARNED and pull in PULLS
    stronger = adapt(base, wrong, ["contradiction"] * 2, pull=PULLS[PULLS.index(pull) + 1])
    assert answered(stronger, wrong).softmax(1)[:, one.labels.index("contradiction")].min() < LEARNED
    examples, others = Examples.of(base, wrong, ["contradiction"] * 2), kept_features(base)
    fitted = pulled(
        classifier_of(base), examples.features, examples.labels, others, pull=pull * spread(others), keep=KEEP
    )
    assert torch.equal(one.model.output_layer.weight, fitted.weight), "a pull is by the spread of the features"
    kept = kept_pairs(base)
    free = adapt(base, wrong, ["contradiction", "contradiction"], keep=0)
    before = answered(base, kept).argmax(1)
    changed, freely = ((answered(now, kept).argmax(1) != before).sum() for now in (one, free))
    assert changed < freely


def test_a_sample_of_many_labels_moves_the_classifier_only_as_far_as_rows_held_out_confirm():
    """Labels drawn from its own probabilities leave it as it was; other classes teach it."""
    old = Linear(torch.eye(3, 8) * 2, torch.zeros(3))
    x, folds = torch.from_numpy(np.random.default_rng(3).normal(size=(120, 8))).float(), np.arange(120) % FOLDS
    own = torch.multinomial(old.logits(x).softmax(1), 1, generator=torch.Generator().manual_seed(1))[:, 0]
    turned = (old.logits(x).argmax(1) + 1) % 3
    pulls = [held_out_pull(old, x, labels, folds, spread(x)) for labels in (own, turned)]
    assert pulls[0] == PULLS[-1] and pulls[1] <= 0.03
    base = load_named("nli-attconv-light")
    first, second = "A {} man has a dog.", "A {} man has {} dogs."
    pairs = [(first.format(own), second.format(own, other)) for own in ("tall", "old", "sad") for other in range(2, 20)]
    sample = adapt(base, pairs, ["contradiction"] * len(pairs))
    assert sample.card["adaptation"]["keep"] == 0 and sample.card["adaptation"]["pull"] in PULLS
    assert adapt(base, pairs[:50], ["contradiction"] * 50).card["adaptation"]["keep"] == KEEP


def tells_of_itself(saved):
    """An adapted checkpoint's explanation, its notebook's picture and JSON, and the effects of its words."""
    explanation = explain(saved, *PAIRS[0])
    assert explanation.labels == ("other", "same") and sum(explanation.probabilities) == pytest.approx(1)
    assert Explanation.from_dict(json.loads(explanation.to_json())) == explanation
    assert explanation.verdict.title() in explanation._repr_html_() and [
        record.to_text(explanation) for record in explanation.evidence
    ]
    question = Question(saved, *PAIRS[0])
    assert all(math.isfinite(word.effect) for word in question.words(DROPPED).words)
    assert question.reason() and question.faithfulness()


@contextmanager
def full_disk():
    """No file may grow beyond 64 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def folders(tmp_path, monkeypatch, table):
    from tests.core.made_up import make_checkpoint

    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    make_checkpoint(tmp_path / "tiny", table)
    return tmp_path


@pytest.mark.slow
def test_a_folder_holds_only_the_classifier_and_follows_its_base(folders, table):
    from tests.core.made_up import make_checkpoint

    base = load_named("tiny")
    saved = save_adapted(folders / "mine", adapt(base, PAIRS, OWN, name="mine", title="My events"))
    assert "mine" in available() and load_named("mine").card["title"] == "My events"
    assert sum(file.stat().st_size for file in (folders / "mine").iterdir()) < 50_000
    own = {id(part) for part in saved.model.parameters()} - {id(part) for part in load_named("tiny").model.parameters()}
    assert len(own) == 2 and memory_of(saved) < 10_000
    tells_of_itself(saved)

    # On another machine, with the base under the same name.
    elsewhere = folders / "copied"
    shutil.copytree(folders / "mine", elsewhere)
    assert torch.equal(answered(load_named("copied")), answered(saved))

    before = files_state(folders / "mine")
    make_checkpoint(folders / "tiny", table, hidden=14)
    assert files_state(folders / "mine") != before
    with pytest.raises(CheckpointError, match="adapted from other weights of tiny"):
        load_named("mine")
    shutil.rmtree(folders / "tiny")
    with pytest.raises(CheckpointError, match="was adapted from tiny, which is not here: copy that checkpoint too"):
        load_named("mine")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "classifier.safetensors").unlink(), "cannot be read"),
        (lambda folder: (folder / "classifier.safetensors").write_bytes(b"no weights"), "cannot be read"),
        (lambda folder: edited(folder, sha256="0" * 64), "does not match its card's checksum"),
        (lambda folder: edited(folder, labels=["a", "b", "c"]), "does not fit its card"),
        (lambda folder: edited(folder, base={"name": "mine", "sha256": "0" * 64, "title": "Loop"}), "mine"),
        (lambda folder: edited(folder, base="tiny"), "damaged"),
    ],
)
def test_a_damaged_folder_gets_one_sentence(folders, damage, message):
    save_adapted(folders / "mine", adapt(load_named("tiny"), PAIRS, OWN, name="mine"))
    damage(folders / "mine")
    with pytest.raises(CheckpointError, match=message) as error:
        load(folders / "mine")
    assert "\n" not in str(error.value)


def test_a_full_disk_leaves_nothing_behind_and_the_last_version_as_it_is(folders, monkeypatch):
    monkeypatch.setenv("PAIRLENS_RUNS", str(folders / "runs"))
    base = load_named("tiny")
    first, other = (adapt(base, PAIRS, labels, name="mine") for labels in (OWN, OWN[::-1]))
    kept = answered(save_adapted(folders / "mine", first))
    with full_disk():
        for name in ("mine", "new"):
            with pytest.raises(FileError, match="free space"):
                save_adapted(folders / name, other)
        with pytest.raises(CheckpointError, match="perhaps because the server’s disk is full") as error:
            save_unlisted(unlisted := new_name("tiny"), other)
        assert "\n" not in str(error.value) and str(folders) not in str(error.value)
    assert not folder_of(unlisted).exists()
    assert not (folders / "new").exists() and torch.equal(answered(load(folders / "mine")), kept)
    assert {file.name for file in (folders / "mine").iterdir()} == {"card.json", "classifier.safetensors"}


def edited(folder: Path, **changes):
    card = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps(card | changes))


def test_features_are_read_once_whoever_reads_and_whatever_fails(folders, monkeypatch):
    base, pairs, read = load_named("tiny"), [(f"a dog {number}", "a cat") for number in range(5)], list[int]()
    monkeypatch.setattr(features, "BATCH", 2)

    def counted(checkpoint, block):
        read.append(len(block))
        if len(read) == 2:
            raise OSError("the disk is gone")
        return feature_vectors(checkpoint, block)

    monkeypatch.setattr(features, "feature_vectors", counted)
    gradual = GradualFeatures(base, pairs)

    def leave(rows, of):
        raise InterruptedError(f"the visitor left after {rows} of {of} rows")

    with pytest.raises(InterruptedError, match="after 2 of 5 rows"):
        gradual.all(leave)
    with pytest.raises(OSError, match="the disk is gone"):
        gradual.all()
    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(lambda _: gradual.all(), range(2))
    assert gradual.complete and not gradual.read_block() and read == [2, 2, 2, 1]
    torch.testing.assert_close(one, feature_vectors(base, pairs))
    assert torch.equal(one, other)


def test_the_suites_are_read_ahead_once_and_again_if_that_failed(folders, monkeypatch, caplog):
    base, read = load_named("tiny"), list[int]()
    monkeypatch.setattr(what_changed, "SUITES", {"simple": SUITES["simple"]})
    monkeypatch.setattr(features, "feature_vectors", lambda checkpoint, block: 1 // 0)

    def end():
        for thread in threading.enumerate():
            if thread.name == "reading ahead":
                thread.join()

    read_ahead(base)
    end()
    assert "tiny could not be read ahead" in caplog.text

    def noted(checkpoint, block):
        read.append(len(block))
        return feature_vectors(checkpoint, block)

    monkeypatch.setattr(features, "feature_vectors", noted)
    read_ahead(base), read_ahead(base)
    end()
    monkeypatch.setattr(features, "feature_vectors", lambda checkpoint, block: 1 // 0)
    (test,) = what_changed.tested(base)
    assert len(test.features) == 200 and sum(read) == 200 + len(kept_features(base))
    monkeypatch.setattr(threading, "Thread", None)
    read_ahead(base)  # there is nothing left to read


def test_pairs_that_teach_nothing_get_one_sentence(folders):
    base = load_named("tiny")
    for pairs, labels, message in (
        (PAIRS[:1], ["new"], "every pair has the label 'new'"),
        (PAIRS * 60, [str(number) for number in range(360)], "360 different values"),
    ):
        with pytest.raises(AdaptationError, match=message):
            adapt(base, pairs, labels)
    one_row = adapt(base, PAIRS, ["rare", *["usual", "common"] * 2, "usual"])
    assert one_row.labels == ("common", "rare", "usual")
    renamed = adapt(base, PAIRS, OWN, roles={"first": "report", "second": "reply"})
    assert renamed.roles == {"first": "report", "second": "reply", "judged": "reply"}
    with pytest.raises(AdaptationError, match="two different names"):
        adapt(base, PAIRS, OWN, roles={"first": "x", "second": "x"})


@pytest.mark.slow
def test_external_models_share_all_but_their_last_layer(tmp_path):
    """A cross-encoder's layer is within its body; a bi-encoder without a classifier gets one over both vectors."""
    for folder in (make(tmp_path / "cross", labels=["no", "yes"]), make_tower(tmp_path / "bi")):
        base = load(folder)
        saved = save_adapted(tmp_path / f"{folder.name}-mine", adapt(base, PAIRS, OWN))
        torch.testing.assert_close(
            saved.model.output_layer(feature_vectors(base, PAIRS)), answered(saved), atol=1e-5, rtol=0
        )
        tells_of_itself(saved)
        own = {id(part) for part in saved.model.parameters()}
        assert len(own - {id(part) for part in load(folder).model.parameters()}) == len(own), (
            "other loads share nothing"
        )
        if base.model.output_layer is not None:
            torch.testing.assert_close(
                base.model.output_layer(feature_vectors(base, PAIRS)), answered(base), atol=1e-5, rtol=0
            )


def test_a_function_cannot_be_adapted(monkeypatch):
    monkeypatch.setenv("PAIRLENS_GUESTS", "tests.core.test_adaptation:coin")
    with pytest.raises(UserError, match="has no layer that could be replaced"):
        adapt(load_named("tests.core.test_adaptation:coin"), PAIRS, OWN)


class Coin:
    labels = ("heads", "tails")
    roles = ("premise", "hypothesis")

    def probabilities(self, pairs):
        return [[0.5, 0.5]] * len(pairs)


def coin():
    return Coin()


@pytest.mark.slow
def test_the_command_adapts_to_a_file_with_columns_of_its_own(folders, tmp_path, capsys):
    file = folders / "events.csv"
    lines = [f'"{first}","{second}",{label}' for (first, second), label in zip(PAIRS, OWN, strict=True)]
    file.write_text("\n".join(["Report,Other,Verdict", *lines, f'"{PAIRS[0][0]}","{PAIRS[0][1]}",other', "a,b,"]))
    command = ["adapt", "tiny", str(file), "--columns", "first=Report,second=Other,label=Verdict"]
    assert main([*command, "--out", str(folders / "events"), "--roles", "report,reply", "--title", "Events"]) == 0
    out = capsys.readouterr()
    assert "Events: 7 pairs, classes other, same" in out.out and "1 pair with two different labels" in out.err
    card = json.loads((folders / "events/card.json").read_text())
    assert card["adaptation"]["rows"] == 7 and card["adaptation"]["labels"] == {"other": 4, "same": 3}
    assert "adapt tiny events.csv" in card["adaptation"]["command"] and str(tmp_path) not in json.dumps(card)
    assert (
        main([*command, "--label", "same=entailment", "--label", "other=neutral", "--out", str(folders / "nli")]) == 0
    )
    assert load_named("nli").labels == ("entailment", "neutral", "contradiction")
    file.write_text("Report,Other,Verdict\n" + "\n".join(f"a {at},the {at},{at / 4}" for at in range(9)))
    capsys.readouterr()
    assert main([*command, "--out", str(folders / "grades")]) == 2
    assert "are numbers such as 0.25, which look like grades" in capsys.readouterr().err
    file.write_text("Report,Other,Verdict\n" + "\n".join(f"a {at},the {at},class {at % 40}" for at in range(80)))
    assert main([*command, "--out", str(folders / "many")]) == 0
    assert "class 0, class 1, class 10, " in (told := capsys.readouterr().out) and "class 9" not in told


def test_the_command_compares_readers_on_rows_held_out(folders, table, capsys):
    from tests.core.made_up import make_checkpoint

    make_checkpoint(folders / "other", table, "decomposable")
    words, things = ("red", "cold", "a", "the"), ("dog", "man", "toy", "snow", "animal")
    rows = [
        (f"{word} {thing}", f"{word if at % 2 else 'an'} {thing} {at}", OWN[at % 2])
        for at, (word, thing) in enumerate((word, thing) for word in words for thing in things)
    ]
    file = folders / "events.csv"
    file.write_text("\n".join([*(",".join(row) for row in [("Report", "Other", "Verdict"), *rows]), "a,b,"]))
    command = ["readers", str(file), "tiny", "other", "--columns", "first=Report,second=Other,label=Verdict"]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert told.startswith("Cross-validated on 20 rows: ") and told.count("%") == 2 and "McNemar’s p = " in told
    file.write_text("Report,Other,Verdict\n" + "\n".join(f"a,{at},same" for at in range(9)))
    assert main(command) == 2 and "too few rows to compare readers" in capsys.readouterr().err


def test_folds_keep_texts_together_and_have_their_share_of_each_class(folders):
    pairs = [(f"a dog {at // 2}", f"a man {at}") for at in range(40)]
    examples = Examples.of(load_named("tiny"), pairs, [OWN[at // 2 % 3 % 2] for at in range(40)])
    by_text = {}
    for (first, _), fold in zip(examples.pairs, examples.folds, strict=True):
        assert by_text.setdefault(first, fold) == fold
    counts = [[int((examples.labels[examples.folds == fold] == label).sum()) for fold in range(4)] for label in (0, 1)]
    assert all(max(of_class) - min(of_class) <= 2 for of_class in counts), counts
    shared = Examples.of(load_named("tiny"), [("a dog", f"a man {at}") for at in range(8)], OWN[:4] * 2)
    assert sorted(Counter(shared.folds.tolist()).values()) == [2, 2, 2, 2]
    pairs = [(f"a dog {at}", f"a man {at}") for at in range(16)]
    asked = Examples.of(load_named("tiny"), pairs, ["neutral"] * 16, [*"hfgeddbcbcbaaaca"])
    assert np.bincount(asked.folds).tolist() == [4] * 4, "the largest of the questions first"


def test_a_fit_ends_when_its_step_says_so_and_many_pairs_give_the_same_in_blocks(monkeypatch):
    torch.manual_seed(4)
    x, y = torch.randn(60, 5), torch.arange(60) % 3
    old = Linear(torch.randn(3, 5), torch.zeros(3))

    class StopError(Exception):
        pass

    def stop():
        raise StopError

    for fit in (
        lambda: fresh(x, y, torch.arange(60).numpy() % 4, step=stop),
        lambda: pulled(old, x, y, pull=1.0, step=stop),
    ):
        with pytest.raises(StopError):
            fit()
    at_once = fresh(x, y, torch.arange(60).numpy() % 4).linear, pulled(old, x, y, pull=1.0)
    monkeypatch.setattr(fits, "_AT_ONCE", 10)
    monkeypatch.setattr(fits, "_BLOCK", 35)
    in_blocks = fresh(x, y, torch.arange(60).numpy() % 4).linear, pulled(old, x, y, pull=1.0)
    for one, other in zip(at_once, in_blocks, strict=True):
        torch.testing.assert_close(one.logits(x), other.logits(x), atol=1e-4, rtol=0)


def test_25_pairs_are_not_all_in_one_class():
    """In features that are mostly noise, log loss is lowest without any of them."""
    torch.manual_seed(6)
    x, tested = torch.randn(25, 200), torch.randn(400, 200)
    y = (x[:, :20].sum(1) > 0).long()
    found = fresh(x, y, torch.arange(25).numpy() % 4)
    assert found.strength * 25 >= fits.LEAST_STRENGTH
    assert 60 < int(found.linear.logits(tested).argmax(1).sum()) < 340


def test_the_command_checks_labels_and_a_corrected_file_is_adapted_to(folders, capsys):
    file, words = folders / "many.csv", ("dog", "cat", "man", "toy", "snow")
    rows = [(f"a {words[n % 5]} {n}", f"the {words[n % 3]} {n}", ("same", "other")[n % 2]) for n in range(60)]
    file.write_text("\n".join(["premise,hypothesis,label", *map(",".join, rows)]) + "\n")
    assert main(["check-labels", "tiny", str(file), "--out", str(folders / "suspects.csv")]) == 0
    listed = (folders / "suspects.csv").read_text().splitlines()
    chances = [float(line.split(",")[1]) for line in listed[1:]]
    assert listed[0] == "id,label_p,label,first,second" and len(chances) == 60 and chances == sorted(chances)
    capsys.readouterr()
    assert main(["check-labels", "tiny", str(file), "--noise", "0.1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["changed"]) == (60, 6) and 0 <= found["auc"] <= 1
    assert main(["check-labels", "tiny", str(file), "--noise", "1"]) == 2
    made = corrected(file, {0: NewLabel("other", "Ann"), 1: NewLabel("other", "Ann, Bob")})
    (folders / "many-corrected.csv").write_bytes(made.content)
    assert main(["adapt", "tiny", str(folders / "many-corrected.csv"), "--out", str(folders / "corrected")]) == 0
    card = json.loads((folders / "corrected/card.json").read_text())
    assert card["adaptation"]["labels"] == {"other": 31, "same": 29}


def test_what_corrections_change_is_counted_pair_by_pair(monkeypatch):
    base, suite, rows = load_named("nli-attconv-light"), SUITES["simple"], SUITES["simple"].pairs.rows
    torch.manual_seed(3)
    features, (old, new) = torch.randn(len(rows), 4), (Linear(torch.randn(3, 4), torch.zeros(3)) for _ in range(2))
    gold = np.array([base.labels.index(row.label) for row in rows])
    kinds = np.array([row.columns["kind"] for row in rows])
    corrected = Examples(PAIRS, torch.tensor([0, 1, 2, 0, 1, 2]), base.labels, torch.randn(6, 4), np.zeros(6))
    found = what_changed.compared(base, corrected, old, new, 0.1, [what_changed.Tested(suite, features, gold, kinds)])
    was, now = (old.logits(features).argmax(1).numpy() == gold, new.logits(features).argmax(1).numpy() == gold)
    for one in found.kinds:
        pairs = Counter((bool(was[at]), bool(now[at])) for at in np.flatnonzero(kinds == one.kind))
        assert (one.fixed, one.cost, one.total) == (pairs[False, True], pairs[True, False], pairs.total())
        assert (one.before, one.after) == (pairs[True, True] + one.cost, pairs[True, True] + one.fixed)
        (at,) = [at for at, row in enumerate(rows) if (row.first, row.second) == one.example]
        assert kinds[at] == one.kind and was[at] != now[at], "one of the pairs that changed"
    shares = [(one.after - one.before) / one.total for one in found.kinds]
    assert len(shares) == len({*kinds}) and shares == sorted(shares), "worst losses first"
    monkeypatch.setattr(what_changed, "tested", lambda base: ())
    both = [Examples.of(base, PAIRS[:1], [label]) for label in ("neutral", "contradiction")]
    chosen = [what_changed.fitted(base, one, 0.1).linear.logits(one.features).argmax() for one in both]
    assert [base.labels[at] for at in chosen] == ["neutral", "contradiction"], "each has a fit of its own"


def test_a_pull_that_learns_too_little_names_one_that_learns_more():
    def changed(pull, learned, lost):
        return WhatChanged(pull, 2, 0, learned, (KindEffect("S", "at least", 22, 22, 22 - lost, 0, lost, 1.0),))

    now = changed(1.0, 0, 1)
    assert learned_with_less(now, [changed(0.1, 2, 3), changed(0.3, 2, 2)]) == (
        "With the pull at 6 of 9, 2 of 2 stand, and “at least” falls from 22 to 20 of 22 test pairs."
    )
    assert learned_with_less(now, [changed(0.3, 1, 0)]) == "With the pull at 6 of 9, 1 of 2 stand."
    assert not learned_with_less(now, [changed(0.3, 0, 0)]) and not learned_with_less(now, [])
