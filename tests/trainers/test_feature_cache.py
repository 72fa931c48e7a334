"""Features are computed once a pair, whatever happens to the file that keeps them."""

import contextlib
import sqlite3

import numpy as np
import pytest

from core.linguistics import cache as feature_cache
from core.linguistics.cache import default_cache, features
from core.linguistics.features import FEATURES, LinguisticsError, extra_features
from core.reading.tokens import tokenize
from tests.core.made_up import make_table
from tests.processes import forked

PAIRS = [
    ("a dog runs", "an animal moves"),
    ("who is he?", "He is a cook."),
    ("a dog runs", "an animal moves"),
    ("", "🙂"),
]


@pytest.fixture(scope="module")
def words():
    return make_table()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "features.sqlite3"


@pytest.fixture
def computed(monkeypatch):
    """The kinds of the rows that were computed, in order."""
    calls = []

    def counting(kind, *rest):
        calls.append(kind)
        return extra_features(kind, *rest)

    monkeypatch.setattr(feature_cache, "extra_features", counting)
    return calls


@pytest.mark.parametrize("kind", list(FEATURES))
def test_a_row_a_pair_and_a_second_call_computes_none(kind, words, path, computed):
    first = features(kind, PAIRS, words, path, progress=False)
    assert first.dtype == np.float32 and first.shape == (4, len(FEATURES[kind]))
    for row, (one, other) in zip(first, PAIRS, strict=True):
        expected = extra_features(kind, tokenize(one), tokenize(other), words)
        np.testing.assert_array_equal(row, np.array(expected, dtype=np.float32))
    assert len(computed) == 3
    np.testing.assert_array_equal(features(kind, PAIRS[::-1], words, path, progress=False), first[::-1])
    assert len(computed) == 3


def test_only_what_changed_is_computed(words, path, computed):
    features("answer", PAIRS, words, path, progress=False)
    features("answer", [*PAIRS, ("a dog runs", "an animal moved"), ("an animal moves", "a dog runs")], words, path)
    assert computed == ["answer"] * 5
    features("entailment", PAIRS[:1], words, path, progress=False)
    assert computed[5:] == ["entailment"]


def test_the_key_contains_everything_the_values_depend_on(words, path, computed, monkeypatch):
    features("answer", PAIRS[:1], words, path, progress=False)
    features("entailment", PAIRS[:1], words, path, progress=False)
    other = make_table()
    other.sha256 = "another"
    features("answer", PAIRS[:1], other, path, progress=False)
    features("entailment", PAIRS[:1], other, path, progress=False)
    assert computed == ["answer", "entailment", "answer"]
    monkeypatch.setattr(feature_cache, "VERSION", -1)
    features("entailment", PAIRS[:1], words, path, progress=False)
    assert len(computed) == 4


def test_a_long_text_is_cut(words, path):
    one, other = features("answer", [("a", "b " * 200), ("a", "b " * 300)], words, path, progress=False)
    np.testing.assert_array_equal(one, other)


def test_no_pairs(words, path):
    assert features("answer", [], words, path).shape == (0, 4)


def test_an_unknown_kind_leaves_no_file(words, path):
    with pytest.raises(LinguisticsError, match="choose one of"):
        features("paraphrase", PAIRS, words, path)
    assert not path.exists()


def break_beginning(path):
    path.write_bytes(b"not a database" * 100)


def break_end(path):
    path.write_bytes(path.read_bytes()[:5000])


def break_middle(path):
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


@pytest.mark.parametrize("harm", [break_beginning, break_end, break_middle])
def test_a_broken_file_is_rebuilt_and_kept_as_a_backup(harm, words, path, computed, capsys):
    good = features("answer", PAIRS, words, path, progress=False)
    harm(path)
    np.testing.assert_array_equal(features("answer", PAIRS, words, path, progress=False), good)
    said = capsys.readouterr().err
    assert "is broken" in said and said.count("\n") == 1
    assert len(computed) == 6 and path.with_name("features.sqlite3.broken").exists()
    np.testing.assert_array_equal(features("answer", PAIRS, words, path, progress=False), good)
    assert len(computed) == 6 and capsys.readouterr().err == ""


@pytest.mark.parametrize("row", ["x'00'", "NULL", "'abcdabcdabcdabcd'"])
def test_a_row_of_another_kind_is_computed_again(row, words, path, computed):
    good = features("answer", PAIRS, words, path, progress=False)
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE pairlens_features SET row = {row}")
    connection.close()
    np.testing.assert_array_equal(features("answer", PAIRS, words, path, progress=False), good)
    assert len(computed) == 6


def test_a_place_that_cannot_be_written_costs_no_run(words, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "features.sqlite3", tmp_path):
        assert features("answer", PAIRS, words, place, progress=False).shape == (4, 4)
        said = capsys.readouterr().err
        assert "cannot be used" in said and said.count("\n") == 1
    assert (tmp_path / "file").read_text() == ""


def test_a_killed_run_keeps_its_computed_values(words, path, monkeypatch):
    monkeypatch.setattr(feature_cache, "_AT_ONCE", 2)

    def failing(kind, first, *rest):
        if first and first[0].norm == "stop":
            raise KeyboardInterrupt
        return extra_features(kind, first, *rest)

    monkeypatch.setattr(feature_cache, "extra_features", failing)
    with pytest.raises(KeyboardInterrupt):
        features("answer", [("a", "b"), ("c", "d"), ("stop", "")], words, path, progress=False)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM pairlens_features").fetchone() == (2,)
    connection.close()


def test_the_default_file_is_in_the_cache_folder(words, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    features("answer", PAIRS, words, progress=False)
    assert default_cache() == tmp_path / "xdg" / "pairlens" / "features.sqlite3" and default_cache().is_file()
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_cache() == tmp_path / ".cache" / "pairlens" / "features.sqlite3"


def test_several_processes_share_one_file(words, path, tmp_path, monkeypatch):
    monkeypatch.setattr(feature_cache, "_AT_ONCE", 10)
    pairs = [(f"a dog {i}", f"the dog {i} runs") for i in range(60)]

    def compute(number):
        with (tmp_path / f"{number}.err").open("w") as err, contextlib.redirect_stderr(err):
            np.save(tmp_path / f"{number}.npy", features("answer", pairs, words, path, progress=False))

    runs = [forked(compute, number) for number in range(2)]
    for run in runs:
        run.join()
    assert [run.exitcode for run in runs] == [0, 0]
    np.testing.assert_array_equal(*(np.load(tmp_path / f"{number}.npy") for number in range(2)))
    assert [(tmp_path / f"{number}.err").read_text() for number in range(2)] == ["", ""]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM pairlens_features").fetchone() == (60,)
    connection.close()
