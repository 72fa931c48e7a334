"""Writers that share a folder: each result is complete and from one writer, and other files are not touched."""

import os
import signal
from pathlib import Path
from threading import Thread

import pytest

from core.files import whole_file, whole_folder
from tests.processes import forked


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_writers_of_one_file_at_once_all_succeed_and_the_last_wins(tmp_path):
    path = tmp_path / "p.csv"
    with whole_file(path) as first:
        with whole_file(path) as second:
            first.write_text("of the first")
            second.write_text("of the second")
        assert path.read_text() == "of the second"
    assert path.read_text() == "of the first" and names(tmp_path) == {"p.csv"}


def test_a_persons_own_files_are_no_scratch(tmp_path):
    own = tmp_path / "p.csv.tmp", tmp_path / "unfinished.tmp" / "notes.txt", tmp_path / "notes.txt"
    own[1].parent.mkdir()
    for file in own:
        file.write_text("mine")
    with whole_file(tmp_path / "p.csv") as scratch:
        scratch.write_text("new")
    with whole_folder(tmp_path, last="card.json") as scratch:
        (scratch / "card.json").write_text("new")
    assert [file.read_text() for file in own] == ["mine"] * 3
    assert names(tmp_path) == {"p.csv", "card.json", "p.csv.tmp", "unfinished.tmp", "notes.txt"}


@pytest.mark.parametrize("name", ["a" * 250, "lock"])
def test_a_file_keeps_its_name_however_long_it_is(tmp_path, name):
    path = tmp_path / name
    with whole_file(path) as scratch:
        scratch.write_text("new")
    assert path.read_text() == "new" and scratch.name == path.name


def write_folder(folder, content):
    with whole_folder(folder, last="card.json") as scratch:
        for name in ("weights", "card.json"):
            (scratch / name).write_text(content)


def test_a_folder_never_has_the_card_of_one_writer_and_the_weights_of_another(tmp_path, monkeypatch):
    """The second writer comes when the first has moved its weights, not yet its card."""
    second, move = Thread(target=write_folder, args=(tmp_path, "second")), Path.replace

    def interrupted(path, target):
        moved = move(path, target)
        if path.name == "weights" and path.parent.parent.parent == tmp_path and moved.read_text() == "first":
            second.start()
            second.join(0.3)
        return moved

    monkeypatch.setattr(Path, "replace", interrupted)
    write_folder(tmp_path, "first")
    second.join()
    assert [(tmp_path / name).read_text() for name in ("weights", "card.json")] == ["second"] * 2
    assert names(tmp_path) == {"weights", "card.json"}


def write_half(path):
    with whole_file(path) as scratch:
        scratch.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)


def test_scratch_of_killed_processes_is_removed_and_that_of_living_ones_stays(tmp_path):
    killed = forked(write_half, tmp_path / "p.csv")
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    assert len(names(tmp_path)) == 1
    with whole_file(tmp_path / "living.csv") as scratch:
        scratch.write_text("whole")
        with whole_file(tmp_path / "q.csv") as other:
            other.write_text("new")
        assert len(names(tmp_path)) == 2  # q.csv and what is being written
    assert names(tmp_path) == {"living.csv", "q.csv"}
