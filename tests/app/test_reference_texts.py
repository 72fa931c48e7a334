"""A map's reference texts: found by name and checksum, matched by their rows, and never in the way."""

import os
import shutil
from pathlib import Path

import pytest

from app.filter_map.reference_texts import reference_texts, texts_of
from core.checkpoint import load
from core.data import Example, read
from core.filter_map.map import FilterMap, MapItem

SINGLE = {"first": "text", "second": "", "judged": "text"}
PAIR = {"first": "question", "second": "answer", "judged": "answer"}
STAMP = ("weights", "map", "file", 0)


def opened(folder: Path) -> tuple:
    checkpoint = load(folder)
    return checkpoint, FilterMap.load(folder / "map", checkpoint)


def rows(*ids):
    return [Example(id, f"first of {id}", f"second of {id}", "0") for id in ids]


def test_single_texts_are_found_by_the_ids_of_their_rows():
    items = [MapItem("b", "0"), MapItem("gone", "0"), MapItem("a", "0"), MapItem("c", "0")]
    texts = texts_of(items, rows("a", "b", "c", "c"), SINGLE, STAMP)
    assert texts.own == ("first of b", "", "first of a", ""), "an id of two rows names neither"
    assert dict(texts.by_role) == {"text": texts.own}


def test_a_pairs_texts_are_those_of_their_side():
    items = [
        MapItem("a", "question", "", "question"),
        MapItem("a", "0", "", "answer"),
        MapItem("b", "0", "", "answer"),
        MapItem("b", "0", "", "another side"),
    ]
    texts = texts_of(items, rows("a", "b"), PAIR, STAMP)
    assert texts.own == ("first of a", "second of a", "second of b", "")
    assert dict(texts.by_role) == {
        "question": ("first of a", "", "", ""),
        "answer": ("", "second of a", "second of b", ""),
    }


def test_a_map_of_only_questions_has_the_answers_of_their_rows():
    texts = texts_of([MapItem("b", "question", "", "question")], rows("a", "b"), PAIR, STAMP)
    assert dict(texts.by_role) == {"question": ("first of b",), "answer": ("second of b",)}


@pytest.mark.parametrize("below", ["", "topics", "data/topics"])
def test_the_file_is_found_up_to_two_folders_down(checkpoints, tmp_path, monkeypatch, below):
    checkpoint, filter_map = opened(checkpoints / "test-topics")
    assert reference_texts(checkpoint, filter_map) is None
    (tmp_path / "another").mkdir()
    (tmp_path / "another/texts.csv").write_text("a file of the same name")
    (tmp_path / below).mkdir(parents=True, exist_ok=True)
    shutil.copy(checkpoints / "data/topics/texts.csv", tmp_path / below)
    monkeypatch.setenv("PAIRLENS_DATA", str(tmp_path))
    texts = reference_texts(checkpoint, filter_map)
    of_row = {row.id: row.first for row in read(checkpoints / "data/topics/texts.csv").rows}
    assert texts.own == tuple(of_row[item.id] for item in filter_map.items)
    assert reference_texts(checkpoint, filter_map) is texts, "read once"


def changed(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\n")


def unreadable(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize("damage", [Path.unlink, changed, unreadable, lambda file: file.write_bytes(b"\x80\x04")])
def test_a_missing_changed_or_unreadable_file_has_no_texts(checkpoints, tmp_path, monkeypatch, damage):
    checkpoint, filter_map = opened(checkpoints / "test-topics")
    file = tmp_path / "texts.csv"
    shutil.copy(checkpoints / "data/topics/texts.csv", file)
    monkeypatch.setenv("PAIRLENS_DATA", str(tmp_path))
    assert reference_texts(checkpoint, filter_map) is not None
    os.utime(file, ns=(0, 0))
    damage(file)
    assert reference_texts(checkpoint, filter_map) is None


def test_a_file_that_holds_no_rows_any_reader_knows_has_no_texts(checkpoints, tmp_path, monkeypatch):
    """The checksum of a map's card may be of anything."""
    checkpoint, filter_map = opened(checkpoints / "test-topics")
    (tmp_path / "texts.csv").write_bytes(b"\x80\x04")
    monkeypatch.setenv("PAIRLENS_DATA", str(tmp_path))
    monkeypatch.setattr("app.filter_map.reference_texts.checksum", lambda path: filter_map.card["data"]["sha256"])
    assert reference_texts(checkpoint, filter_map) is None


def test_a_file_that_names_none_of_the_items_has_no_texts(checkpoints, monkeypatch):
    checkpoint, filter_map = opened(checkpoints / "test-topics")
    filter_map.items = (MapItem("gone", "film"),)
    filter_map.card = {**filter_map.card, "sha256": "another map"}
    monkeypatch.setenv("PAIRLENS_DATA", str(checkpoints / "data"))
    assert reference_texts(checkpoint, filter_map) is None


@pytest.mark.parametrize(
    "data",
    [
        None,
        "texts.csv",
        {},
        {"file": None},
        {"file": ""},
        {"file": ".."},
        {"file": "../texts.csv"},
        {"file": "/etc/passwd"},
        {"file": "*.csv"},
        {"file": "te\0xt"},
        {"file": "texts.csv"},
    ],
)
@pytest.mark.parametrize("folder", ["data/topics", "gone", "data/topics/texts.csv"])
def test_a_card_or_folder_that_leads_nowhere_has_no_texts(checkpoints, monkeypatch, data, folder):
    checkpoint, filter_map = opened(checkpoints / "test-topics")
    monkeypatch.setenv("PAIRLENS_DATA", str(checkpoints / folder))
    filter_map.card = {**filter_map.card, "data": data}
    assert reference_texts(checkpoint, filter_map) is None
