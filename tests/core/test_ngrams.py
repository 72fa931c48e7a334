"""The n-grams that a filter answers to most: equal to a slow loop, and in the unit of the evidence."""

import itertools

import numpy as np
import pytest
import torch

from core.evidence import FilterProvenance, GeneratedFilters
from core.explain import explain
from core.filter_map.ngrams import ReadWords, TextNgrams, frequent_words, window_values
from core.reading.tokens import tokenize
from core.reading.word_table import WordTable
from tests.core.made_up import WORDS, make_checkpoint

TEXTS = [
    "the dog plays in the snow",
    "",
    "The DOG plays in the snow with zyxgraph",
    "an animal",
    "  ",
    "a red-haired man is in the cold snow , a man is in the cold snow .",
]


@pytest.fixture(scope="module", params=["acnn", "adaqa", "no projection", "width 2"])
def made(request, tmp_path_factory, table):
    settings = {"no projection": {"projection": 0}, "width 2": {"width": 2}}.get(request.param, {})
    architecture = "adaqa" if request.param == "adaqa" else "acnn"
    return make_checkpoint(tmp_path_factory.mktemp("ngrams") / "tiny", table, architecture, **settings)


def bank_of(checkpoint, *texts):
    """The filters made from the first text and what they won, with a bias that is not 0 where there is one."""
    told = explain(checkpoint, *texts)
    bank = told.find(GeneratedFilters)
    return told, bank, next(r for r in told.evidence if isinstance(r, FilterProvenance) and r.rows == bank.applied_to)


def answer(checkpoint, weights, word):
    """⟨weights, p(word)⟩ for one place's weights [d], number by number."""
    vector, projection = checkpoint.words.vectors([word])[0], checkpoint.model.projection
    read = vector if projection is None else projection.weight @ vector + projection.bias
    return sum(w * x for w, x in zip(weights, read.tolist(), strict=True))


def slow(checkpoint, texts, weights, bias, limit=200):
    """Value and first text of every distinct n-gram, word by word."""
    width, found = len(weights), {}
    for number, text in enumerate(texts):
        norms = [token.norm for token in tokenize(text)][:limit]
        for start in range(max(1, len(norms) - width + 1) if norms else 0):
            ngram = tuple(norms[start : start + width])
            value = bias + sum(answer(checkpoint, weights[place], word) for place, word in enumerate(ngram))
            found.setdefault(ngram, (value, number))
    return found


@torch.no_grad()
def test_ngrams_of_texts_are_those_of_a_slow_loop(made):
    _, bank, _ = bank_of(made, "a man runs in the snow", "the dog plays")
    for limit, bias in ((200, 0.0), (4, -0.7)):
        known = TextNgrams(made, TEXTS, limit)
        expected = slow(made, TEXTS, bank.bank[3], bias, limit)
        found = known.strongest(bank.bank[3], bias, 1000)
        assert len(known) == len(found) == len(expected)
        assert {n.words: n.text for n in found} == {words: text for words, (_, text) in expected.items()}
        for ngram in found:
            assert ngram.value == pytest.approx(expected[ngram.words][0], abs=1e-5)
        values = [n.value for n in found]
        assert values == sorted(values, reverse=True)
        assert known.strongest(bank.bank[3], bias, 2) == found[:2]


@pytest.mark.parametrize("text", ["the dog plays in the cold snow", "a DOG"])
def test_values_are_those_of_the_windows_of_a_text(made, text):
    """The unit of window_values and of the evidence: before the ReLU, with the bias."""
    single = made.single
    if not single:
        with torch.no_grad():
            made.model.bias_a.uniform_(-1, 1)
            made.model.bias_q.uniform_(-1, 1)
    told, bank, won = bank_of(made, *([text] if single else ["a man", text]))
    assert bank.applied_to != bank.made_from or single
    known = TextNgrams(made, [text])
    for index in (0, 7):
        expected = sorted(window_values(made, told, bank, index), reverse=True)
        found = known.strongest(bank.bank[index], won.filters[index].bias, 100)
        assert [n.value for n in found] == pytest.approx(expected, abs=1e-5)
        assert found[0].value == pytest.approx(won.filters[index].preactivation, abs=1e-5)


@pytest.mark.slow
@torch.no_grad()
def test_the_strongest_words_are_found_place_by_place(made):
    _, bank, _ = bank_of(made, "a man runs in the snow", "the dog plays")
    weights, words = bank.bank[5], ReadWords.of(made, frequent_words(made.words))
    assert words.vectors.shape == (len(words.words), made.model.config.words) and words.vectors.dtype == np.float32
    rows = words.strongest(weights, 4)
    for place, row in zip(weights, rows, strict=True):
        expected = sorted(((answer(made, place, word), word) for word in words.words), reverse=True)[:4]
        assert [word for word, _ in row] == [word for _, word in expected]
        assert [value for _, value in row] == pytest.approx([value for value, _ in expected], abs=1e-5)
    # The first ones together: no n-gram of the vocabulary has a larger value.
    best = TextNgrams(made, [" ".join(row[0][0] for row in rows)]).strongest(weights, 0.0, 1)[0].value
    assert best == pytest.approx(sum(row[0][1] for row in rows), abs=1e-5)
    some = [" ".join(ngram) for ngram in itertools.product(words.words[:6], repeat=len(weights))]
    assert TextNgrams(made, some).strongest(weights, 0.0, 1)[0].value <= best + 1e-5


def test_nothing_to_find_and_fewer_than_asked_for(made):
    _, bank, _ = bank_of(made, "a man runs in the snow", "the dog plays")
    nothing = TextNgrams(made, ["", " \u200b "])
    assert len(nothing) == 0
    assert nothing.strongest(bank.bank[0], 0.0, 5) == []
    rows = ReadWords.of(made, ["dog", "snow"]).strongest(bank.bank[0], 5)
    assert {len(row) for row in rows} == {2}


def test_frequent_words_are_those_that_a_text_can_hold():
    words = ["the", "``", "aug.", "N'T", "n't", "''", '"', "red-haired", "snow", "rare"]
    table = WordTable.from_vectors(words, torch.ones(len(words), 4), 1.0, "test")
    assert frequent_words(table, 9) == ["the", "n't", '"', "red-haired", "snow"]
    assert frequent_words(table) == ["the", "n't", '"', "red-haired", "snow", "rare"]
    over = WordTable.from_vectors(["melanchiton", "snow"], torch.ones(2, 4), 1.0, "tuned", table)
    assert frequent_words(over, 9) == frequent_words(table, 9)
    assert set(WORDS) - {"."} <= set(frequent_words(WordTable.from_vectors(WORDS, torch.ones(len(WORDS), 4), 1.0, "t")))
