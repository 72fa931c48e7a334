"""A disk that is full for each of the writers of files: one sentence, and what was there before stays as it was.

A limit on the size of files makes it full: the system refuses a byte beyond it, wherever the file lies.
"""

import resource
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core import checkpoint, neighbours
from core.checkpoint import load
from core.desk import store
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.run_folder import reorder
from core.desk.strongest_words import StrongestWord, StrongestWords
from core.errors import DeskError
from core.external.settings import add_settings
from core.files import FileError
from tests.core.made_up import make_checkpoint
from tests.core.made_up_runs import keep, made_up_run, save
from trainers import resume
from trainers.card import add_to_card
from trainers.tables import write_rows

ROOM = 600
"""Bytes that a file may have while the disk is full."""


@contextmanager
def full_disk():
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def made(tmp_path, table, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path / "desk"))
    monkeypatch.setenv("PAIRLENS_NEIGHBOURS", str(tmp_path / "neighbours"))
    monkeypatch.delenv("PAIRLENS_DB", raising=False)
    own = make_checkpoint(tmp_path / "own", table)
    return SimpleNamespace(folder=tmp_path, checkpoint=own, run=made_up_run(tmp_path), table=table)


def trained(made, number):
    made.checkpoint.model.requires_grad_(False)
    for weight in made.checkpoint.model.parameters():
        weight.fill_(number)
    checkpoint.save(made.folder / "own", made.checkpoint.model, dict(made.checkpoint.card), words=made.table)


def index(made, number):
    rows = [neighbours.TrainingRow(f"{number}", "a dog", "a cat", "neutral")] * 60
    neighbours.save(made.checkpoint, rows, np.full((60, 8), number, dtype=np.float32), 60, "made up")


def predicted(made, number):
    model = replace(made.run.models[0], probabilities=np.full((6, 3), number, dtype=np.float32))
    save(replace(made.run, models=(model,)), made.folder / "run")


def ordered(made, number):
    if number == 1:
        keep(made.run)
    reorder(store.folder_of(made.run.dataset.sha256), made.run.models[:: 1 if number == 1 else -1])


def resumed(made, number):
    tensors = dict(made.checkpoint.model.named_parameters())
    resume.write(made.folder / "own", resume.Progress(f"{number}", step=number), tensors)


WRITERS = {
    "a checkpoint": trained,
    "an index of training rows": index,
    "a run": predicted,
    "a run that is kept": lambda made, number: keep(made.run),
    "an order of models": lambda made, number: ordered(made, number),
    "a guest's settings": lambda made, number: add_settings(made.folder, labels=[f"{n} {number}" for n in range(99)]),
    "a training's state": resumed,
    "a card": lambda made, number: add_to_card(made.folder / "own", notes=str(number) * 900),
    "a table": lambda made, number: write_rows(made.folder / "rows.csv", [{"row": n, "n": number} for n in range(400)]),
}


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "lock"}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_failed_write_is_reported_and_the_old_file_stays(made, writer):
    WRITERS[writer](made, 1)
    before = contents(made.folder)
    why = r"cannot be written \(.*File too large.*\); free space on the disk"
    with full_disk(), pytest.raises(FileError, match=why):
        WRITERS[writer](made, 2)
    assert contents(made.folder) == before
    WRITERS[writer](made, 2)
    assert load(made.folder / "own").card["title"] == "A tiny model"


def test_acknowledged_tags_are_stored_and_failed_ones_are_reported(made):
    annotations, words = Annotations(open_database()), StrongestWords(open_database())
    file = made.run.dataset.sha256
    annotations.give("Ann", file, "1e", "other")
    with full_disk():
        for write in (
            lambda: annotations.give("Ann", file, "1n", "other"),
            lambda: annotations.note("Ann", file, "1n", "why?"),
            lambda: words.keep(file, "c" * 64, {"1e": StrongestWord("dog", "premise")}),
        ):
            with pytest.raises(DeskError, match=r"used .*: check that its folder can be written and has"):
                write()
        assert annotations.state(file).row("1e").tags == {"other": {"Ann"}}
    again = Annotations(open_database())
    assert again.state(file).rows.keys() == {"1e"} and len(again.history(file)) == 1
    again.give("Ann", file, "1n", "other")
    assert again.state(file).rows.keys() == {"1e", "1n"} and StrongestWords(open_database()).count(file) == 0
