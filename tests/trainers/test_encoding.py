"""Batches: every row once, the same for the same seed, little padding, and nothing but the rows in them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.data import Example
from core.errors import RunError
from core.evaluation.encoding import Encoded, Ragged, Vocabulary, encode, plan
from core.reading.word_table import WordTable

LABELS = ("entailment", "neutral", "contradiction")


def many(rows: int) -> Encoded:
    generator = np.random.default_rng(0)
    x, y = (Ragged.of([[1] * n for n in generator.integers(1, 30, rows)]) for _ in range(2))
    return Encoded(x, y, torch.zeros(rows, dtype=torch.long), torch.ones(rows))


def test_an_epoch_holds_every_row_once_and_follows_from_its_seed() -> None:
    data = many(1000)
    first, again, other = plan(data, 32, [5, 0]), plan(data, 32, [5, 0]), plan(data, 32, [5, 1])
    assert sorted(np.concatenate(first)) == list(range(1000))
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert np.concatenate(first).tolist() != np.concatenate(other).tolist()


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
    data = encode(rows, vocabulary, LABELS, second_judged=True)
    batch, labels = data.batch(np.array([1, 0, 2]), vocabulary.matrix(words))
    assert labels.tolist() == [-1, 1, -1]
    assert batch.x_mask.tolist() == [[True, True], [True, False], [True, False]]
    assert batch.x[1].tolist() == [[0, 0, 1], [0, 0, 0]] and batch.y[1].tolist() == torch.eye(3).tolist()
    assert batch.x[2].abs().sum() == 0  # a side without any word is one word of zeros
    turned = encode(rows, vocabulary, LABELS, second_judged=False)
    assert turned.x.lengths.tolist() == data.y.lengths.tolist()


def test_a_label_of_another_task_is_refused() -> None:
    with pytest.raises(RunError, match=r"'maybe'.*entailment, neutral, contradiction"):
        encode([Example("3", "a", "b", "maybe")], Vocabulary(), LABELS, second_judged=True)
