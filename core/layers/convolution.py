"""Convolutions over the words of a sentence, and the terms of a filter's value.

All keep the sentence length and pad with zeros at both ends. A bias makes padding non-zero, so every function zeroes
the padding of its result (models.md, shapes).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def windows(states: Tensor, width: int) -> Tensor:
    """Concatenates the words of each word's window: ``[B, T, d] -> [B, T, width·d]``, left to right, zeros beyond the
    ends.

    The word is at the centre of its window, or just left of it if the width is even; padding in ``states`` must already
    be zero.
    """
    if width == 1:
        return states
    length = states.shape[1]
    padded = F.pad(states, (0, 0, (width - 1) // 2, width // 2))
    return torch.cat([padded[:, k : k + length] for k in range(width)], dim=-1)


class GatedConvolution(nn.Module):
    r"""f_gconv (AttConv, equations 7 to 9): a gate between a word's own state and the state of its phrase.

    For the phrase i_i around word u_i: o = tanh(W_h i + b_h), g = σ(W_g i + b_g), result g∘u + (1-g)∘o.

    | here | paper | space |
    |---|---|---|
    | states | H | [B, T, d] |
    | hidden, gate | (W_h, b_h), (W_g, b_g) | R^{d×width·d}, R^d |
    """

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.hidden = nn.Linear(width * size, size)
        self.gate = nn.Linear(width * size, size)
        # The gate starts almost fully open for the word itself (g = .88), as in highway networks, which begin by
        # carrying their input (Srivastava et al. 2015): the model matches words first and learns to use phrases later.
        nn.init.constant_(self.gate.bias, 2.0)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """``[B, T, d], [B, T] -> [B, T, d]``, zero on padding."""
        phrases = windows(states, self.width)
        out = torch.tanh(self.hidden(phrases))  # [Yin18 eq. 7]
        gate = torch.sigmoid(self.gate(phrases))  # [Yin18 eq. 8]
        return (gate * states + (1 - gate) * out) * mask[..., None]  # [Yin18 eq. 9]


class AttentiveConvolution(nn.Module):
    r"""The pre-activation of h_i,new = tanh(W_1 [h_{i-1}; h_i; h_{i+1}] + W_2 c_i + b) (AttConv, equations 5 and 6).

    | here | paper | space |
    |---|---|---|
    | local | W_1 and b | R^{K×width·d}, R^K |
    | attentive | W_2 (none without a context) | R^{K×d_c} |
    """

    def __init__(self, size: int, filters: int, width: int, context_size: int | None) -> None:
        super().__init__()
        self.width = width
        self.local = nn.Linear(width * size, filters)
        self.attentive = nn.Linear(context_size, filters, bias=False) if context_size else None

    def forward(self, states: Tensor, context: Tensor | None) -> Tensor:
        """Pre-activations ``[B, T, K]`` from states ``[B, T, d]`` and attentive contexts ``[B, T, d_c]``."""
        seen = windows(states, self.width)
        if self.attentive is None or context is None:
            return self.local(seen)
        # Equation 5: one product over [h_{i-1}; h_i; h_{i+1}; c_i] is faster than the sum of two products in equation
        # 6.
        weight = torch.cat([self.local.weight, self.attentive.weight], dim=1)
        return F.linear(torch.cat([seen, context], dim=-1), weight, self.local.bias)  # [Yin18 eq. 5]

    def parts(self, states: Tensor, context: Tensor | None, positions: Tensor) -> dict[str, Tensor]:
        """The terms of equation 6 for the pre-activation of each filter k at ``positions[k]``, for one sentence.

        ``states [T, d]``, ``context [T, d_c]``, ``positions [K]`` -> ``offsets [K, width]`` (one per word of the
        window, left to right), ``context [K]``, ``bias [K]``. They add up to the value in the forward pass.
        """
        filters = self.local.out_features
        window = windows(states[None], self.width)[0, positions].view(filters, self.width, -1)
        weight = self.local.weight.view(filters, self.width, -1)
        attentive = torch.zeros(filters, dtype=states.dtype, device=states.device)
        if self.attentive is not None and context is not None:
            attentive = (context[positions] * self.attentive.weight).sum(-1)
        return {"offsets": (window * weight).sum(-1), "context": attentive, "bias": self.local.bias}  # [Yin18 eq. 6]
