"""Errors of sides and batches name the expected shape and the sides that exist."""

import pytest
import torch

from core.layers.attention import attention_weights
from core.layers.pooling import masked_mean
from core.reading.batch import Batch, Side
from tests.models import make, sentence


def test_wrong_shapes_name_the_expected_ones():
    with pytest.raises(ValueError, match=r"expected a mask \[1, 2\], got \[1, 3\]"):
        Side(torch.zeros(1, 2, 3), torch.ones(1, 3, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"expected words float \[B, T, D\].*got \[1, 2\]"):
        Side(torch.zeros(1, 2), torch.ones(1, 2, dtype=torch.bool))
    with pytest.raises(ValueError, match="at least one word"):
        Side.of([torch.zeros(0, 3)])
    with pytest.raises(ValueError, match=r"every context needs 2 rows, got \[1\]"):
        Batch.of([sentence(2, 1), sentence(3, 2)], [sentence(2, 3)])
    with pytest.raises(ValueError, match=r"expected extra \[1, F\], got \[2, 4\]"):
        Batch.of([sentence(2, 1)], [sentence(2, 3)], extra=torch.zeros(2, 4))
    with pytest.raises(ValueError, match="judged must be one of first, second, both, got 'third'"):
        Batch.of([sentence(2, 1)], judged="third")


def test_a_model_of_pairs_refuses_single_texts_and_several_contexts():
    first, model = [sentence(2, 1)], make("addition")
    for contexts in ([], [first, first]):
        with pytest.raises(ValueError, match=f"needs one context, got {len(contexts)}"):
            model(Batch.of(first, *contexts))


@pytest.mark.parametrize("judged", ["first", "second"])
def test_a_single_text_is_no_context_of_its_own(judged):
    batch = Batch.of([sentence(2, 1)], judged=judged)
    assert batch.x is batch.first
    with pytest.raises(ValueError, match="needs one context, got 0"):
        make("attconv-light")(batch)


def test_a_row_without_a_context_that_others_have_attends_to_nothing():
    """Rows may have fewer contexts than others: their masks are false throughout."""
    scores = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, True], [False, False]])
    weights = attention_weights(scores, mask)
    assert torch.equal(weights[0], scores[0].softmax(-1)) and not weights[1].any()
    assert not masked_mean(torch.ones(2, 2, 4), mask)[1].any()
    weights.square().sum().backward()
    assert torch.isfinite(scores.grad).all() and not scores.grad[1].any()
