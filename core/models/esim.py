"""ESIM, the Enhanced LSTM in AttConv's tables, in its sequential form (Chen et al. 2017, section 3)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.layers.attention import Override, attend_both_ways
from core.layers.pooling import masked_max, masked_mean
from core.layers.recurrent import BiLSTM
from core.models.base import Output, register
from core.models.baselines import BaselineConfig, CrossAttending
from core.models.routes import ATTENDED, OWN, UNPATCHED, WEIGHTS, Patching
from core.reading.batch import Batch, Side


@register("esim", title="ESIM", paper="Chen et al. 2017", section="3")
class ESIM(CrossAttending):
    r"""ESIM: a BiLSTM encodes both sentences, words are aligned and compared, and a second BiLSTM reads the
    comparisons.

    ā = BiLSTM(first), b̄ = BiLSTM(second), e_ij = ā_i·b̄_j, ã_i = Σ_j softmax_j(e_i)_j b̄_j, b̃_j = Σ_i
    softmax_i(e_j)_i ā_i, m_a = F([ā; ã; ā - ã; ā∘ã]), v_a = BiLSTM'(m_a), m_b and v_b by symmetry, v = [mean v_a; max
    v_a; mean v_b; max v_b], features = tanh(H v) ∈ R^d.

    | here | paper | space |
    |---|---|---|
    | encoder | BiLSTM of section 3.1 | d -> 2d |
    | compare | F, with a ReLU | R^{d×8d} |
    | composition | BiLSTM of section 3.3 | d -> 2d |
    | layer | hidden layer of the classifier | R^{d×8d} |

    Where we differ: words are frozen vectors from the table, projected by a learned map, instead of fine-tuned GloVe
    vectors. Dropout applies to the projected words (one mask per sentence), to compared words and around the hidden
    layer.
    """

    def __init__(self, config: BaselineConfig) -> None:
        size = config.hidden
        super().__init__(config, size)
        self.encoder = BiLSTM(size, size)
        self.compare = nn.Linear(8 * size, size)
        self.composition = BiLSTM(size, size)
        self.layer = nn.Linear(8 * size, size)

    def forward(self, batch: Batch, override: Override | None = None, patching: Patching = UNPATCHED) -> Output:
        """``override``: ``[B, T_2, T_1]`` replaces the second sentence's attention, ``[B, T_1, T_2]`` the first's; None
        keeps the model's map, and a single tensor replaces the first map.

        Raises ValueError for another shape or if linguistic features do not fit.
        """
        first, second = batch.first, batch.second
        a = self.encoder(self.words(first), first.mask)  # [Chen17 eq. 1]
        b = self.encoder(self.words(second), second.mask)  # [Chen17 eq. 2]
        scores = b @ a.mT  # [Chen17 eq. 11]
        trace = attend_both_ways(scores, first.mask, second.mask, override)
        from_second = patching(WEIGHTS, trace.first) @ patching(ATTENDED, b)  # [Chen17 eq. 12]
        from_first = patching(WEIGHTS, trace.second) @ patching(ATTENDED, a)  # [Chen17 eq. 13]
        a, b = patching(OWN, a), patching(OWN, b)
        pooled = torch.cat([*self._composed(a, from_second, first), *self._composed(b, from_first, second)], dim=1)
        own = torch.tanh(self.layer(self.dropped(pooled)))
        return self.classify(own, own.shape[1], batch, trace, patching)

    def _composed(self, states: Tensor, aligned: Tensor, side: Side) -> tuple[Tensor, Tensor]:
        """Mean and max over a sentence's compared words after the second BiLSTM, ``[B, 2d]`` each."""
        # F [a; ã; a - ã; a∘ã] = (F_1 + F_3) a + (F_2 - F_3) ã + F_4 (a∘ã) needs three quarters of the products.
        own, other, difference, product = self.compare.weight.chunk(4, dim=1)
        weight = torch.cat([own + difference, other - difference, product], dim=1)
        joined = torch.cat([states, aligned, states * aligned], dim=-1)  # [Chen17 eq. 14-15]
        compared = self.dropped(torch.relu(F.linear(joined, weight, self.compare.bias)))
        read = self.composition(compared, side.mask)
        return masked_mean(read, side.mask), masked_max(read, side.mask)[0]  # [Chen17 eq. 18-19]
