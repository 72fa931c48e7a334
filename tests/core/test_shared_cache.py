"""Results computed once for all threads, such as the explanations that pages share."""

from __future__ import annotations

import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core import explain as explaining
from core.checkpoint import load
from core.explain import explained
from core.reading.reader import PairError
from core.shared_cache import SharedCache
from tests.core.made_up import make_checkpoint

PAIR = "a dog", "a cat"


@pytest.fixture
def explanations(monkeypatch):
    """A memory of this test's own, and the texts that were read."""
    read, real = [], explaining.explain

    def counted(checkpoint, *texts, **more):
        read.append(texts)
        return real(checkpoint, *texts, **more)

    monkeypatch.setattr(explaining, "explain", counted)
    monkeypatch.setattr(explaining, "_EXPLANATIONS", SharedCache(60_000, explaining._size))
    monkeypatch.setattr(explaining, "_FIRST_RUNS", SharedCache(100))
    return read


def test_threads_that_ask_for_the_same_make_it_once():
    memory, made, everyone = SharedCache[int](10), [], threading.Barrier(4)

    def make():
        made.append(1)
        threading.Event().wait(0.05)
        return 7

    def ask(_):
        everyone.wait()
        return memory("key", make)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ask, range(4))) == [7] * 4
    assert made == [1]


def test_those_asked_for_last_stay():
    memory = SharedCache[int](10, size=lambda value: value)
    for key in (4, 5, 4, 3):
        memory(key, lambda key=key: key)
    assert len(memory) == 2, "4 and 3 are kept: 5 was not asked for again"
    memory(4, lambda: pytest.fail("4 is kept"))
    assert memory(50, lambda: 50) == 50 and len(memory) == 1, "the last one stays, however large"


def test_a_new_value_costs_the_same_however_many_are_kept():
    measured = list[int]()

    def size(value: int) -> int:
        measured.append(value)
        return 1

    memory = SharedCache[int](1000, size)
    for key in range(100):
        memory(key, lambda key=key: key)
    assert measured == [*range(100)], "a value is measured once, not again with each later one"


def test_a_failure_reaches_who_asks_and_is_not_kept():
    memory = SharedCache[int](10)
    with pytest.raises(ZeroDivisionError):
        memory("key", lambda: 1 // 0)
    assert len(memory) == 0 and memory("key", lambda: 3) == 3


def test_a_pair_is_explained_once_for_all_threads(tmp_path, table, explanations):
    checkpoint = make_checkpoint(tmp_path / "mine", table)
    with ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(lambda _: explained(checkpoint, *PAIR), range(4))
    assert all(other is first for other in others)
    assert explanations == [("A sentence.", "A sentence."), PAIR]
    assert explained(load(checkpoint.folder), *PAIR) is first, "the same files are the same checkpoint"


def test_texts_have_explanations_of_their_own(tmp_path, table, explanations):
    checkpoint = make_checkpoint(tmp_path / "mine", table)
    for first, second in (PAIR, PAIR[::-1], ("a dog a", "cat")):
        other = explained(checkpoint, first, second)
        assert (other.first.text, other.contexts[0].text) == (first, second)
    with pytest.raises(PairError):
        explained(checkpoint, "", "a cat")


def test_no_more_is_kept_than_fits(tmp_path, table, explanations):
    checkpoint, made = make_checkpoint(tmp_path / "mine", table), []
    for count in range(1, 12):
        made.append(explained(checkpoint, "dog " * count, "a cat"))
    (provenance,) = (record for record in made[-1].evidence if record.kind == "filter_provenance")
    sizes = [10_000 + 300 * count + 900 * len(provenance.filters) for count in range(11, 0, -1)]
    fitting = sum(total <= 60_000 for total in itertools.accumulate(sizes))
    assert 1 < fitting == len(explaining._EXPLANATIONS) < 11
    assert [explained(checkpoint, "dog " * (11 - place), "a cat") is made[10 - place] for place in range(fitting)] == [
        True
    ] * fitting, "the last ones"


def test_a_checkpoint_that_has_changed_is_another(tmp_path, table, explanations):
    folder = make_checkpoint(tmp_path / "mine", table).folder
    before = explained(load(folder), *PAIR)
    card = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps({**card, "title": "Another"}))
    assert before.title != "Another" and explained(load(folder), *PAIR).title == "Another"
