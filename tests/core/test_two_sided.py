"""What is special to attentive convolution from both sides; what all models do is in tests/test_conformance.py."""

import pytest
import torch

from tests.models import batch_of, make, row


def with_null(links: torch.Tensor) -> torch.Tensor:
    """Weights with what is left of each row on the null word."""
    return torch.cat([links, 1 - links.sum(-1, keepdim=True)], dim=-1).double()


def test_directions_that_agree_cost_nothing_and_those_that_do_not_cost_more():
    model = make("two-sided", agreement=0.5)
    batch = batch_of(model, ((3, 3),))
    links = torch.eye(3)[[1, 2, 0]][None]
    both_ways = with_null(links), with_null(links.transpose(1, 2))
    assert model.penalty(model(batch, both_ways)).item() == pytest.approx(0, abs=1e-9)
    # Of three links two are of both directions: 2 · 2 of 3 + 2 weights.
    fewer = both_ways[0], with_null(links.transpose(1, 2) * torch.tensor([1.0, 0.0, 1.0])[:, None])
    assert model.penalty(model(batch, fewer)).item() == pytest.approx(-0.5 * torch.tensor(4 / 5).log().item())
    assert make("two-sided").penalty(model(batch)) is None


def test_agreement_does_not_see_pads():
    model = make("two-sided", agreement=1.0)
    batch = batch_of(model, ((4, 7), (6, 2)))
    alone = [model.penalty(model(row(batch, k))).item() for k in range(2)]
    assert model.penalty(model(batch)).item() == pytest.approx(sum(alone) / 2)
