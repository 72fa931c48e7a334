"""Checkpoints are listed, loaded once until their files change, and kept in memory; a bad one costs only itself."""

import json
import os
import threading
import time
from pathlib import Path

import pytest
import torch

from core import checkpoint as module
from core.__main__ import main
from core.checkpoint import CheckpointError, available, files, load_named, memory, read_card, save
from core.checkpoint.unlisted import SECONDS, TRAINING, folder_of, new_name, remove_old
from core.models import build
from core.shared_cache import SharedCache
from tests.core.made_up import change_card, make_checkpoint, truncate


def test_a_persons_own_checkpoints_are_listed(tmp_path, table, monkeypatch):
    shipped, own = tmp_path / "shipped", tmp_path / "own"
    monkeypatch.setattr(module, "PRETRAINED", shipped)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(own))
    assert available() == {}
    make_checkpoint(shipped / "light", table)
    make_checkpoint(own / "light", table, hidden=5)
    make_checkpoint(own / "mine", table)
    (own / "half-written").mkdir()
    assert list(available()) == ["light", "own/light", "mine"]
    assert load_named("own/light").model.config.hidden == 5
    assert load_named("mine") is load_named("mine")
    with pytest.raises(CheckpointError, match="choose one of light, own/light, mine"):
        load_named("yours")


def test_a_retrained_checkpoint_is_reloaded(tmp_path, table, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    make_checkpoint(tmp_path / "mine", table)
    before = load_named("mine")
    torch.manual_seed(6)
    save(tmp_path / "mine", build("attconv-light", before.card["config"]), before.card, words=table)
    assert load_named("mine") is not before


@pytest.mark.parametrize("part", ["", "mine", "mine/card.json", "mine/weights.safetensors"])
def test_an_unreadable_file_gets_one_sentence(tmp_path, table, monkeypatch, capsys, part):
    """The tests may run as root, whom no permission stops: the refusal is played."""
    for name in ("mine", "other"):
        make_checkpoint(tmp_path / name, table)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    forbid(monkeypatch, tmp_path / part)
    files._card.cache_clear()  # true permissions change the file's ctime, and it is read again
    refused = tmp_path.name if not part else "mine"
    assert main(["models"]) == 0
    listed = capsys.readouterr()
    assert ("A tiny model" in listed.out) == bool(part) and "AttConv light" in listed.out
    assert ("Permission denied" in listed.err) == (part != "mine/weights.safetensors")
    assert main(["explain", "--model", refused, "--first", "a dog", "--second", "an animal"]) == 2
    told = capsys.readouterr().err
    assert refused in told and "Permission denied" in told and len(told.splitlines()) == 1
    if part:
        assert main(["explain", "--model", "other", "--first", "a dog", "--second", "an animal"]) == 0


def forbid(monkeypatch, forbidden):
    """A folder of mode 000: it can be seen, what is in it cannot. A file of mode 000: it cannot be opened."""
    folder = forbidden.is_dir()

    def refuse(method):
        real = getattr(Path, method)

        def refusing(path, *arguments, **named):
            if forbidden in path.parents or (path == forbidden and method == ("iterdir" if folder else "open")):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *arguments, **named)

        monkeypatch.setattr(Path, method, refusing)

    for method in ("stat", "iterdir", "open"):
        refuse(method)


def test_one_bad_card_costs_its_own_line(tmp_path, table, monkeypatch, capsys):
    for name in ("bad", "good"):
        make_checkpoint(tmp_path / name, table)
    change_card(tmp_path / "good", results=None, title="A good one")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    for change in ({"results": 5}, {"results": {"dev": 3}}, {"title": ["x"]}, {"name": None}):
        change_card(tmp_path / "bad", **change)
        assert main(["models"]) == 0
        listed = capsys.readouterr()
        assert "A good one" in listed.out and listed.err.startswith("bad/card.json is damaged")
        assert len(listed.err.splitlines()) == 1


def test_the_checkpoints_used_last_stay_in_memory(tmp_path, table, monkeypatch):
    for name in "abc":
        make_checkpoint(tmp_path / name, table)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr(memory, "_CHECKPOINTS", SharedCache(0, memory._size))
    monkeypatch.setenv("PAIRLENS_MEMORY_MB", str(2.5 * memory.memory_of(load_named("a")) / 1e6))
    a, b = load_named("a"), load_named("b")
    assert load_named("a") is a
    c = load_named("c")
    assert load_named("a") is a and load_named("c") is c and load_named("b") is not b
    monkeypatch.setenv("PAIRLENS_MEMORY_MB", "0.000001")
    one = load_named("a")
    assert load_named("a") is one and len(memory._CHECKPOINTS) == 1
    for wrong in ("much", "-1", "nan"):
        monkeypatch.setenv("PAIRLENS_MEMORY_MB", wrong)
        with pytest.raises(CheckpointError, match="PAIRLENS_MEMORY_MB must be a number of megabytes"):
            load_named("a")


def test_a_card_is_read_once_until_its_file_changes(tmp_path, table, monkeypatch):
    folder, read = make_checkpoint(tmp_path / "mine", table).folder, []
    files._card.cache_clear()
    monkeypatch.setattr(files, "read_json", lambda path: read.append(path) or json.loads(path.read_text()))
    first = read_card(folder)
    first["title"] = "changed by the one who asked"
    assert read_card(folder)["title"] != first["title"] and len(read) == 1
    change_card(folder, title="Trained again")
    assert read_card(folder)["title"] == "Trained again" and len(read) == 2


@pytest.fixture
def loads(tmp_path, monkeypatch):
    """Names of the folders that were loaded, in order; checkpoints in the test's folder are listed."""
    loaded, real = [], memory.load
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr(memory, "load", lambda folder: loaded.append(folder.name) or real(folder))
    return loaded


@pytest.mark.parametrize("name", ["card.json", "weights.safetensors", "words.safetensors"])
def test_a_failure_is_remembered_until_a_file_changes(tmp_path, table, loads, name):
    folder = make_checkpoint(tmp_path / "mine", table).folder
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[:-9])
    told = []
    for _ in range(2):
        with pytest.raises(CheckpointError) as caught:
            load_named("mine")
        told.append(str(caught.value))
    assert loads == ["mine"] and told[0] == told[1]
    (folder / name).write_bytes(whole)
    assert load_named("mine").name == "tiny" and loads == ["mine"] * 2


@pytest.mark.parametrize("name", ["weights.safetensors", "words.safetensors"])
def test_a_file_that_changes_is_read_though_the_card_does_not(tmp_path, table, loads, name):
    folder = make_checkpoint(tmp_path / "mine", table).folder
    before = load_named("mine")
    truncate(folder, name)
    with pytest.raises(CheckpointError):
        load_named("mine")
    assert before.name == "tiny"


def test_a_refusal_of_the_system_is_not_remembered(tmp_path, table, loads, monkeypatch):
    make_checkpoint(tmp_path / "mine", table)
    with monkeypatch.context() as patch:
        forbid(patch, tmp_path / "mine" / "weights.safetensors")
        with pytest.raises(CheckpointError, match="Permission denied"):
            load_named("mine")
    assert load_named("mine").name == "tiny"


def test_loading_one_checkpoint_does_not_block_loaded_ones(tmp_path, table, monkeypatch):
    for name in ("slow", "ready"):
        make_checkpoint(tmp_path / name, table)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    ready, real = load_named("ready"), memory.load
    begun, go_on, answers = threading.Event(), threading.Event(), []

    def slow(folder):
        begun.set()
        go_on.wait(600)
        return real(folder)

    monkeypatch.setattr(memory, "load", slow)
    visitors = [threading.Thread(target=lambda: answers.append(load_named("slow"))) for _ in range(2)]
    for visitor in visitors:
        visitor.start()
    begun.wait(600)
    other = threading.Thread(target=lambda: answers.append(load_named("ready")))
    other.start()
    other.join(600)
    there = list(answers)
    go_on.set()
    for visitor in visitors:
        visitor.join()
    assert there == [ready] and answers[1] is answers[2]


def test_a_model_takes_the_memory_of_its_weights_and_of_a_word_table_of_its_own(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "mine", table)
    weights = [*checkpoint.model.parameters(), *checkpoint.model.buffers()]
    own = sum(weight.numel() * weight.element_size() for weight in weights)
    assert checkpoint.card["words"]["own"]
    assert memory.memory_of(checkpoint) == own + table.codes.numel() + 200 * len(table)
    checkpoint.card["words"]["own"] = False
    assert memory.memory_of(checkpoint) == own


def test_an_unlisted_model_or_a_training_that_stands_still_is_removed_after_a_day(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path))
    now = time.time()
    for kind in ("card.json", TRAINING):
        for age, kept in ((SECONDS - 100, True), (SECONDS + 100, False)):
            folder = folder_of(new_name(f"base-{kind}"))
            folder.mkdir(parents=True)
            (folder / TRAINING).mkdir()
            (folder / kind).touch()
            os.utime(folder / TRAINING, (now - 100 * SECONDS,) * 2)
            os.utime(folder / kind, (now - age,) * 2)
            remove_old()
            assert folder.exists() == kept, (kind, age)
