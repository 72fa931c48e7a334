"""Multi-perspective matching of two sequences of states, without recurrence (BiMPM, Wang et al. 2017, section 3.3).

m = f(v_1, v_2; W) ∈ R^l, m_k = cos(W_k ∘ v_1, W_k ∘ v_2), W ∈ R^{l×d}, with one W for each kind of matching:

- full: each state with the other side's max-pooled vector (BiMPM uses the last RNN state, which a CNN lacks);
- max: the largest m over the other side's states, per perspective;
- attentive: each state with the mean of the other side's states, weighted by their cosines to it;
- max-attentive: each state with the state of the other side that has the largest cosine.

The l values of each kind are pooled over a side's positions by max and by a weighted mean with weights softmax(u·v),
where BiMPM uses a BiLSTM: 8·l values per side. The max shows whether anything matches, the mean how much of the
sentence does; with u = 0 all positions have equal weight.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.layers.attention import put_in_place
from core.layers.pooling import masked_max
from core.models.routes import MATCHING, UNPATCHED, Patching

MATCHINGS = ("full", "max", "attentive", "max-attentive")
EPSILON = 1e-8


class Matched(NamedTuple):
    """Matching vectors of a pair, and the alignment of states they are based on."""

    vectors: Tensor
    """[B, 16·l]: the maxima of the four kinds for side x, then their weighted means; then the same for side y."""
    scores: Tensor
    """Cosines of the states, [B, T_x, T_y]; undefined on padding."""
    weights: Tensor
    """Weights of y's states in the mean matched with each state of x, [B, T_x, T_y], 0 on y's padding."""
    nearest_to_x: Tensor
    """The position in y of the state with the largest cosine for each state of x, [B, T_x]."""
    nearest_to_y: Tensor
    """The position in x of the state with the largest cosine for each state of y, [B, T_y]."""


class MultiPerspective(nn.Module):
    """W for the four kinds, ``[4, l, d]``, and u ``[d]``; both directions share them, as in BiMPM."""

    def __init__(self, size: int, perspectives: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.empty(len(MATCHINGS), perspectives, size).uniform_(0.5, 1.5))
        self.u = nn.Parameter(torch.zeros(size))

    def forward(
        self,
        x: Tensor,
        x_mask: Tensor,
        y: Tensor,
        y_mask: Tensor,
        override: Tensor | None = None,
        nearest: Tensor | None = None,
        patching: Patching = UNPATCHED,
    ) -> Matched:
        """Matches states ``x [B, T_x, d]`` with ``y [B, T_y, d]``. ``override [B, T_x, T_y]`` replaces the weights with
        which states of x average states of y, ``nearest [B, T_x + T_y]`` the positions of the largest cosines, x's
        before y's. Raises ValueError if the override's shape differs."""
        x = x.masked_fill(~x_mask[..., None], 0.0)
        y = y.masked_fill(~y_mask[..., None], 0.0)
        scores = F.normalize(x, dim=2, eps=EPSILON) @ F.normalize(y, dim=2, eps=EPSILON).mT
        weights, back = _shares(scores, y_mask), _shares(scores.mT, x_mask)
        if override is not None:
            weights = put_in_place(override, weights, y_mask[:, None])
        # [B, T_x, T_y, l]: every pair of states in each perspective; the other direction uses its transpose.
        pairs = _cosines_of_all(x, y, self.w[1])
        if nearest is None:
            of_x, of_y = _nearest(scores, y_mask), _nearest(scores.mT, x_mask)
        else:
            of_x, of_y = torch.split(nearest, [x.shape[1], y.shape[1]], dim=1)
        weights, back, of_x, of_y = (patching(MATCHING, values) for values in (weights, back, of_x, of_y))
        sides = [
            self._side(x, x_mask, y, y_mask, of_x, weights, pairs),
            self._side(y, y_mask, x, x_mask, of_y, back, pairs.transpose(1, 2)),
        ]
        return Matched(torch.cat(sides, dim=1), scores, weights, of_x, of_y)

    def _side(
        self,
        own: Tensor,
        own_mask: Tensor,
        other: Tensor,
        other_mask: Tensor,
        nearest: Tensor,
        weights: Tensor,
        pairs: Tensor,
    ) -> Tensor:
        pooled, _ = masked_max(other, other_mask)
        most = other.gather(1, nearest[..., None].expand(-1, -1, other.shape[2]))
        vectors = [
            _cosines(own, pooled[:, None].expand_as(own), self.w[0]),
            pairs.masked_fill(~other_mask[:, None, :, None], -2.0).amax(2),
            _cosines(own, weights @ other, self.w[2]),
            _cosines(own, most, self.w[3]),
        ]
        matched = torch.cat(vectors, dim=2)
        counts = (own @ self.u).masked_fill(~own_mask, float("-inf")).softmax(1)
        return torch.cat([masked_max(matched, own_mask)[0], (counts[:, None] @ matched)[:, 0]], dim=1)


def _nearest(scores: Tensor, mask: Tensor) -> Tensor:
    """The position of the largest cosine in each row, over real positions."""
    return scores.masked_fill(~mask[:, None], -2.0).argmax(2)


def _shares(scores: Tensor, mask: Tensor) -> Tensor:
    """Cosines (none negative after a ReLU) normalised to add up to 1 in each row over real positions."""
    real = scores.masked_fill(~mask[:, None], 0.0)
    return real / real.sum(2, keepdim=True).clamp_min(EPSILON)


def _cosines(a: Tensor, b: Tensor, w: Tensor) -> Tensor:
    """m for states at the same positions: ``[B, T, d], [B, T, d], [l, d] -> [B, T, l]``."""
    square = (w * w).T
    lengths = _length(a, square) * _length(b, square)
    return (a * b) @ square / lengths


def _cosines_of_all(x: Tensor, y: Tensor, w: Tensor) -> Tensor:
    """m for all pairs of states of x and y: ``[B, T_x, d], [B, T_y, d], [l, d] -> [B, T_x, T_y, l]``."""
    square = w * w
    # [B, l, T_x, d] @ [B, 1, d, T_y]: the weights need to multiply only one side.
    products = (x[:, None] * square[:, None]) @ y[:, None].mT
    lengths = _length(x, square.T)[:, :, None] * _length(y, square.T)[:, None]
    return products.permute(0, 2, 3, 1) / lengths


def _length(states: Tensor, square: Tensor) -> Tensor:
    """|W_k ∘ v| for every perspective, ``[B, T, l]``; clamped above 0, where the root's gradient is infinite."""
    return (states * states @ square).clamp_min(EPSILON).sqrt()
