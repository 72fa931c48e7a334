"""Features are computed once for the same pairs, whatever happens to the files that keep them."""

import numpy as np
import pytest

from core.linguistics import cache as feature_cache
from core.linguistics.cache import features
from core.linguistics.features import FEATURES, LinguisticsError, extra_features
from core.reading.tokens import tokenize
from tests.core.made_up import make_table
from tests.processes import forked

PAIRS = [("a dog runs", "an animal moves"), ("who is he?", "He is a cook."), ("", "🙂")]


@pytest.fixture(scope="module")
def words():
    return make_table()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    return tmp_path / "xdg/pairlens/features"


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
def test_a_row_a_pair_and_a_second_call_computes_none(kind, words, computed):
    first = features(kind, PAIRS, words, progress=False)
    assert first.dtype == np.float32 and first.shape == (3, len(FEATURES[kind]))
    for row, (one, other) in zip(first, PAIRS, strict=True):
        expected = extra_features(kind, tokenize(one), tokenize(other), words)
        np.testing.assert_array_equal(row, np.array(expected, dtype=np.float32))
    assert len(computed) == 3
    np.testing.assert_array_equal(features(kind, PAIRS, words, progress=False), first)
    assert len(computed) == 3
    np.testing.assert_array_equal(features(kind, PAIRS[::-1], words, progress=False), first[::-1])
    assert len(computed) == 6


def test_the_key_contains_everything_the_values_depend_on(words, computed, monkeypatch):
    features("answer", PAIRS[:1], words, progress=False)
    features("entailment", PAIRS[:1], words, progress=False)
    other = make_table()
    other.sha256 = "another"
    features("answer", PAIRS[:1], other, progress=False)
    features("entailment", PAIRS[:1], other, progress=False)
    assert computed == ["answer", "entailment", "answer"]
    monkeypatch.setattr(feature_cache, "VERSION", -1)
    features("entailment", PAIRS[:1], words, progress=False)
    assert len(computed) == 4


def test_a_long_text_is_cut(words):
    one, other = features("answer", [("a", "b " * 200), ("a", "b " * 300)], words, progress=False)
    np.testing.assert_array_equal(one, other)


def test_no_pairs_and_an_unknown_kind_leave_no_file(words, folder):
    assert features("answer", [], words).shape == (0, 4)
    with pytest.raises(LinguisticsError, match="choose one of"):
        features("paraphrase", PAIRS, words)
    assert not folder.exists()


@pytest.mark.parametrize("harm", [lambda file: b"", lambda file: b"not an array" * 100, lambda file: file[:-8]])
def test_a_broken_file_is_written_again(harm, words, folder, computed):
    good = features("answer", PAIRS, words, progress=False)
    (path,) = folder.iterdir()
    path.write_bytes(harm(path.read_bytes()))
    for _ in range(2):
        np.testing.assert_array_equal(features("answer", PAIRS, words, progress=False), good)
    assert len(computed) == 6


def test_a_place_that_cannot_be_written_costs_no_run(words, tmp_path):
    (tmp_path / "xdg").write_text("")
    assert features("answer", PAIRS, words, progress=False).shape == (3, 4)
    assert (tmp_path / "xdg").read_text() == ""


def test_a_killed_run_keeps_its_computed_values(words, computed, monkeypatch):
    monkeypatch.setattr(feature_cache, "AT_ONCE", 2)

    def failing(kind, first, *rest):
        if first and first[0].norm == "stop":
            raise KeyboardInterrupt
        return extra_features(kind, first, *rest)

    monkeypatch.setattr(feature_cache, "extra_features", failing)
    pairs = [("a", "b"), ("c", "d"), ("stop", "")]
    with pytest.raises(KeyboardInterrupt):
        features("answer", pairs, words, progress=False)
    seen = []
    monkeypatch.setattr(feature_cache, "extra_features", lambda *given: seen.append(given) or extra_features(*given))
    assert features("answer", pairs, words, progress=False).shape == (3, 4)
    assert len(seen) == 1


def test_several_processes_share_one_folder(words, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(feature_cache, "AT_ONCE", 10)
    pairs = [(f"a dog {i}", f"the dog {i} runs") for i in range(60)]

    def compute(number):
        np.save(tmp_path / f"{number}.npy", features("answer", pairs, words, progress=False))

    runs = [forked(compute, number) for number in range(2)]
    for run in runs:
        run.join()
    assert [run.exitcode for run in runs] == [0, 0]
    np.testing.assert_array_equal(*(np.load(tmp_path / f"{number}.npy") for number in range(2)))
    assert len([*folder.glob("*.npy")]) == 6
