"""Batches: every row once, the same for the same seed, little padding, and nothing but the rows in them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.data import DataError, Example
from core.evaluation.encoding import Encoded, Ragged, Vocabulary, encode, encode_readings, plan
from core.reading.reader import Reading, WordReader, read_text
from core.reading.tokens import MAX_CHARACTERS
from core.reading.word_table import WordTable

LABELS = ("entailment", "neutral", "contradiction")


def many(rows: int) -> Encoded:
    generator = np.random.default_rng(0)
    x, y = (Ragged.of([[1] * n for n in generator.integers(1, 30, rows)]) for _ in range(2))
    return Encoded(y, (x,), torch.zeros(rows, dtype=torch.long), torch.ones(rows))


def test_an_epoch_holds_every_row_once_and_follows_from_its_seed() -> None:
    data = many(1000)
    first, again, other = plan(data, 32, [5, 0]), plan(data, 32, [5, 0]), plan(data, 32, [5, 1])
    assert sorted(np.concatenate(first)) == list(range(1000))
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert np.concatenate(first).tolist() != np.concatenate(other).tolist()


@pytest.mark.slow
def test_batches_hold_rows_of_like_length() -> None:
    data = many(20_000)
    batches = plan(data, 64, [0, 0])
    padded = sum(len(rows) * data.x.lengths[rows].max() for rows in batches)
    assert data.x.lengths.sum() / padded > 0.95


def test_a_batch_is_its_rows_vectors() -> None:
    words = WordTable.from_vectors(["a", "b", "c"], torch.eye(3), 1.0, "test")
    vocabulary = Vocabulary()
    rows = [
        Example("0", "a b c", "c", "neutral"),
        Example("1", "b", "a a", None),
        Example("2", "b \u200b", "\u200b", None),
    ]
    data = encode(rows, vocabulary, LABELS, judged="second")
    batch, labels = data.batch(np.array([1, 0, 2]), vocabulary.matrix(WordReader(words)))
    assert labels.tolist() == [-1, 1, -1]
    assert batch.x.mask.tolist() == [[True, True], [True, False], [True, False]]
    assert batch.x.words[1].tolist() == [[0, 0, 1], [0, 0, 0]] and batch.y.words[1].tolist() == torch.eye(3).tolist()
    assert batch.x.words[2].abs().sum() == 0  # a side without any word is one word of zeros
    turned = encode(rows, vocabulary, LABELS, judged="first")
    assert (
        turned.x.lengths.tolist() == data.first.lengths.tolist()
        and turned.batch(np.array([0]), None)[0].judged == "first"
    )


def test_two_limits_above_the_usual_one_cut_a_text_at_each_of_them() -> None:
    vocabulary, text = Vocabulary(), " ".join(f"w{i}" for i in range(600))
    assert [len(vocabulary.encode(text, limit)) for limit in (300, 500, 100, 200, 700)] == [300, 500, 100, 200, 600]


def test_the_end_of_a_text_that_is_not_read_is_known_however_it_is_read() -> None:
    reader, vocabulary = WordReader(WordTable.from_vectors(["a", "b"], torch.eye(2), 1.0, "test")), Vocabulary()
    far = f"a{' ' * MAX_CHARACTERS}b"  # one token, and the second beyond the characters that are split
    for text, words, cut in (("a b", 2, False), ("a " * 200, 200, False), ("a " * 201, 200, True), (far, 1, True)):
        read = read_text(reader, text)
        assert (len(read.tokens), read.cut, read.truncated) == (words, cut, max(0, text.count("a") - words))
        assert (len(vocabulary.encode(text)), vocabulary.cuts(text)) == (words, cut)
    shorter = Ragged.of([[1, 2], [2], [1, 1]]).without_last(2, np.array([True, True, True]))
    assert shorter.lengths.tolist() == [1, 1, 2], "a text keeps its only word"


def test_a_label_of_another_task_is_refused() -> None:
    with pytest.raises(DataError, match=r"'maybe'.*entailment, neutral, contradiction"):
        encode([Example("3", "a", "b", "maybe")], Vocabulary(), LABELS, judged="second")


def test_readings_are_numbered_as_rows_are_and_may_have_fewer_contexts_than_others() -> None:
    words = WordReader(WordTable.from_vectors(["a", "b", "c"], torch.eye(3), 1.0, "test"))
    claim, one, two = (read_text(words, text) for text in ("a b", "c", "b b a"))
    vocabulary = Vocabulary()
    data = encode_readings([Reading(claim, (one, two), "first"), Reading(claim, (two,), "first")], vocabulary)
    batch, _ = data.batch(np.array([0, 1]), vocabulary.matrix(words))
    assert batch.x.words.tolist() == [torch.eye(3)[:2].tolist()] * 2
    assert [side.mask.sum(1).tolist() for side in batch.contexts] == [[1, 3], [3, 0]]
    with pytest.raises(ValueError, match="needs one context, got 2"):
        _ = batch.y
