"""Names that both texts of a row have are exchanged for others, as in training with other_names."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.evaluation import encoding
from core.evaluation.encoding import Encoded, Ragged

COMMON_WORDS = (1, 2, 3)


def texts_of(texts: Ragged) -> list[list[int]]:
    words, sentence = texts.words()
    return [words[sentence == row].tolist() for row in range(len(texts.lengths))]


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Encoded:
    """500 rows whose first text has one word of each kind: common and shared, common, a name shared, a name alone."""
    monkeypatch.setattr(encoding, "COMMON", len(COMMON_WORDS))
    drawn = np.random.default_rng(0)
    shared, alone = drawn.integers(10, 60, 500), drawn.integers(60, 90, 500)
    first = Ragged.of([[1, 2, name, other] for name, other in zip(shared, alone, strict=True)])
    second = Ragged.of([[name, 1, 3, name, 3] for name in shared])
    return Encoded(first, (second,), torch.zeros(500), torch.ones(500))


def test_only_rare_words_of_both_texts_are_exchanged_and_alike_in_both(rows: Encoded) -> None:
    exchanged = rows.with_other_names(1.0, np.random.default_rng(1))
    before = zip(texts_of(rows.first), texts_of(rows.contexts[0]), strict=True)
    after = zip(texts_of(exchanged.first), texts_of(exchanged.contexts[0]), strict=True)
    new_names = set()
    for (first, second), (new_first, new_second) in zip(before, after, strict=True):
        name = new_first[2]
        assert new_first == [*first[:2], name, first[3]], "common words and the name of one text alone stay"
        assert new_second == [name, 1, 3, name, 3], "the other text has the same new name in all its places"
        assert name not in COMMON_WORDS
        new_names.add(name)
        assert len(second) == len(new_second)
    assert len(new_names) > 50, "each row draws its own"


def test_a_share_of_the_names_is_exchanged_and_the_same_draw_gives_the_same_rows(rows: Encoded) -> None:
    once, again, other = (rows.with_other_names(0.5, np.random.default_rng(seed)) for seed in (1, 1, 2))
    changed = (once.first.words()[0] != rows.first.words()[0]).sum()
    assert 200 < changed < 300
    assert (once.first.words()[0] == again.first.words()[0]).all()
    assert (once.first.words()[0] != other.first.words()[0]).any()
    assert rows.with_other_names(0.0, np.random.default_rng(1)) is rows


def test_rows_that_were_taken_out_of_a_set_exchange_their_own_words(rows: Encoded) -> None:
    numbers = np.array([499, 7, 8])
    some = rows.rows(numbers).with_other_names(1.0, np.random.default_rng(1))
    side = some.contexts[0].side(np.arange(3)).words
    assert (side[:, 0] == side[:, 3]).all()
    assert (side[:, 1:3] == torch.tensor([1, 3])).all()
