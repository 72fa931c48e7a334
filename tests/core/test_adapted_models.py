"""Adapted models: how features are read, folders, bases that changed, models that cannot be adapted, the command."""

from __future__ import annotations

import json
import math
import resource
import shutil
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from core.adaptation import adapt, features, stored_features, what_changed
from core.adaptation.adapt import AdaptationError, Examples
from core.adaptation.features import GradualFeatures, feature_vectors, kept_features
from core.adaptation.reading_ahead import read_ahead
from core.adaptation.stored_features import STORE
from core.checkpoint import CheckpointError, available, load, load_named
from core.checkpoint.adapted import save_adapted, save_unlisted
from core.checkpoint.files import files_state
from core.checkpoint.memory import memory_of
from core.checkpoint.unlisted import folder_of, new_name
from core.data.corrected import NewLabel, corrected
from core.effects import Question
from core.effects.words import DROPPED
from core.errors import UserError
from core.evaluation.suites import SUITES
from core.evidence import Explanation
from core.explain import explain
from core.files import FileError
from tests.core.made_up import OWN, PAIRS, answered, change_card
from tests.guests import make, make_tower
from trainers.__main__ import main


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
        (lambda folder: change_card(folder, sha256="0" * 64), "does not match its card's checksum"),
        (lambda folder: change_card(folder, labels=["a", "b", "c"]), "does not fit its card"),
        (lambda folder: change_card(folder, base={"name": "mine", "sha256": "0" * 64, "title": "Loop"}), "mine"),
        (lambda folder: change_card(folder, base="tiny"), "damaged"),
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


def test_stored_features_are_used_where_some_that_are_read_again_are_equal(folders, monkeypatch, tmp_path):
    base, read = load_named("tiny"), list[int]()
    monkeypatch.setattr(features, "BATCH", 2)
    monkeypatch.setattr(STORE, "folder", tmp_path / "features")

    def counted(checkpoint, block):
        read.append(len(block))
        return feature_vectors(checkpoint, block)

    def blocks(checkpoint=base, pairs=PAIRS[:5]):
        del read[:]
        told = GradualFeatures(checkpoint, pairs).all()
        torch.testing.assert_close(told, feature_vectors(checkpoint, pairs))
        return len(read)

    monkeypatch.setattr(features, "feature_vectors", counted)
    assert blocks() == 3 and blocks() == 1, "of the first block they are read, to compare them"
    adapted = save_adapted(tmp_path / "mine", adapt(base, PAIRS, OWN))
    assert blocks(adapted) == 1, "an adapted model has its base's features"
    assert blocks(pairs=PAIRS[1:6]) == 3 and blocks(replace(base, card=base.card | {"sha256": "b" * 64})) == 3
    for spoil in (
        lambda file: save_file({"features": torch.zeros(5, 12)}, file),
        lambda file: save_file({"features": feature_vectors(base, PAIRS[:4])}, file),
        lambda file: file.write_bytes(b"{"),
    ):
        spoil(STORE.file(base.card, PAIRS[:5]))
        assert blocks() == 3 and blocks() == 1
    monkeypatch.setattr(stored_features, "MOST_FILES", 1)
    assert blocks(pairs=PAIRS[:3]) == 2 and len([*STORE.folder.iterdir()]) == 1 and blocks() == 3
    with full_disk():
        assert blocks(pairs=PAIRS[:4]) == 2


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
    monkeypatch.setenv("PAIRLENS_GUESTS", "tests.core.test_adapted_models:coin")
    with pytest.raises(UserError, match="has no layer that could be replaced"):
        adapt(load_named("tests.core.test_adapted_models:coin"), PAIRS, OWN)


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
