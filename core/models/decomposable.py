"""Decomposable Attention: align, compare, aggregate (Parikh et al. 2016, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.layers.attention import CrossAttention, Override, attend_both_ways, attention_weights
from core.models.base import Output, register, setting
from core.models.baselines import BaselineConfig, CrossAttending
from core.models.routes import ATTENDED, OWN, UNPATCHED, WEIGHTS, Patching
from core.reading.batch import Batch, Side

FAR = 11
"""From this distance on, words share one bias in the intra-sentence attention."""


@dataclass(frozen=True)
class DecomposableConfig(BaselineConfig):
    """``intra``: whether each word also attends to its own sentence (section 3.4). Dropout applies to the projected
    words (one mask per sentence) and within F, G, H and F_intra."""

    intra: bool = setting(False)


@dataclass(frozen=True)
class DecomposableTrace(CrossAttention):
    """Attention in both directions, and the intra-sentence weights if there are any."""

    intra_second: Tensor | None
    """[B, T_2, T_2], each row adds up to 1 over real words; None without intra-sentence attention."""
    intra_first: Tensor | None


class TwoLayers(nn.Module):
    """ReLU(W_2 ReLU(W_1 x + b_1) + b_2), the form of F, G, H and F_intra: ``[…, n] -> […, d]``."""

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(inputs, size), nn.Linear(size, size)
        self.dropout = dropout

    def forward(self, values: Tensor) -> Tensor:
        inner = torch.relu(self.inner(F.dropout(values, self.dropout, self.training)))
        return torch.relu(self.outer(F.dropout(inner, self.dropout, self.training)))


@register("decomposable", title="Decomposable Attention", paper="Parikh et al. 2016", section="3")
class Decomposable(CrossAttending):
    r"""Decomposable Attention: words are aligned and compared independently, and the comparisons are summed.

    e_ij = F(a_i)·F(b_j), β_i = Σ_j softmax_j(e_i)_j b_j, α_j = Σ_i softmax_i(e_j)_i a_i, v_1 = Σ_i G([a_i; β_i]), v_2 =
    Σ_j G([b_j; α_j]), features = H([v_1; v_2]) ∈ R^d. With ``intra``: a'_i = Σ_j softmax_j(F_intra(a_i)·F_intra(a_j) +
    d_|i-j|)_j a_j, and [a_i; a'_i] replaces a_i.

    | here | paper | space |
    |---|---|---|
    | attend, compare, aggregate, own | F, G, H, F_intra | two layers with ReLU |
    | distance | d_0 … d_11 | R^12 |

    Where we differ: a learned map projects frozen word vectors; sentences do not begin with a NULL word; the distance
    bias depends on the absolute distance.
    """

    def __init__(self, config: DecomposableConfig) -> None:
        size, dropout = config.hidden, config.dropout
        super().__init__(config, size)
        width = 2 * size if config.intra else size
        self.own = TwoLayers(size, size, dropout) if config.intra else None
        self.distance = nn.Parameter(torch.zeros(FAR + 1)) if config.intra else None
        self.attend = TwoLayers(width, size, dropout)
        self.compare = TwoLayers(2 * width, size, dropout)
        self.aggregate = TwoLayers(2 * size, size, dropout)

    def forward(self, batch: Batch, override: Override | None = None, patching: Patching = UNPATCHED) -> Output:
        """``override``: ``[B, T_2, T_1]`` replaces the second sentence's attention to the first, ``[B, T_1, T_2]`` the
        first's to the second; None keeps the model's map, and a single tensor replaces the first map.

        Raises ValueError for another shape or if linguistic features do not fit.
        """
        (a, intra_first), (b, intra_second) = self._read(batch.first), self._read(batch.second)
        scores = self.attend(b) @ self.attend(a).mT  # [Parikh16 eq. 1]
        cross = attend_both_ways(scores, batch.first.mask, batch.second.mask, override)
        from_second = patching(WEIGHTS, cross.first) @ patching(ATTENDED, b)  # [Parikh16 eq. 2]
        from_first = patching(WEIGHTS, cross.second) @ patching(ATTENDED, a)
        a, b = patching(OWN, a), patching(OWN, b)
        parts = [self._compared(a, from_second, batch.first), self._compared(b, from_first, batch.second)]
        own = self.aggregate(torch.cat(parts, dim=1))  # [Parikh16 H]
        trace = DecomposableTrace(**vars(cross), intra_second=intra_second, intra_first=intra_first)
        return self.classify(own, own.shape[1], batch, trace, patching)

    def _read(self, side: Side) -> tuple[Tensor, Tensor | None]:
        """Words ``[B, T, d]``, or with intra-sentence attention concatenated with their contexts ``[B, T, 2d]``, and
        its weights."""
        words = self.words(side)
        if self.own is None or self.distance is None:
            return words, None
        own, places = self.own(words), torch.arange(words.shape[1], device=words.device)
        apart = (places[:, None] - places).abs().clamp_max(FAR)
        weights = attention_weights(own @ own.mT + self.distance[apart], side.mask)
        return torch.cat([words, weights @ words], dim=-1), weights

    def _compared(self, words: Tensor, aligned: Tensor, side: Side) -> Tensor:
        compared: Tensor = self.compare(torch.cat([words, aligned], dim=-1))  # [Parikh16 eq. 3]
        return compared.masked_fill(~side.mask[..., None], 0.0).sum(1)  # [Parikh16 eq. 4]
