"""Generates filters from a text and convolves texts with them (Shen et al. 2018, EMNLP, sections 3.1 to 3.3).

Only valid windows are used, 1…T-h+1 (equation 1); a text shorter than h words is padded to h. A window's position is
its first word's.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.layers.pooling import masked_max


class Windows(NamedTuple):
    """All windows of h words of B texts."""

    values: Tensor
    """[B, T', h·d], the words of each window concatenated; T' = max(T - h + 1, 1)."""
    mask: Tensor
    """[B, T'], true on windows inside their text (for a text shorter than h, on its only window)."""


def valid_windows(words: Tensor, mask: Tensor, width: int) -> Windows:
    """Windows of ``width`` words: ``words [B, T, d]`` (already zero on padding) and their ``mask [B, T]``."""
    if words.shape[1] < width:
        words = F.pad(words, (0, 0, 0, width - words.shape[1]))
    count = words.shape[1] - width + 1
    values = torch.cat([words[:, j : j + count] for j in range(width)], dim=-1)
    inside = (mask.sum(1, keepdim=True) - width + 1).clamp_min(1)
    return Windows(values, torch.arange(count, device=words.device)[None] < inside)


def adaptive_convolution(windows: Windows, filters: Tensor, bias: Tensor | None = None) -> Tensor:
    """Convolve each text with its own filters: windows of B texts, ``filters [B, K, h, d]`` -> pre-activations [B, T',
    K].

    A single batched product over all texts. ``bias [K]`` is ψ of the pair form (section 3.3); the single-text form has
    none (section 3.2).
    """
    flat = filters.flatten(2).mT
    return windows.values @ flat if bias is None else torch.baddbmm(bias, windows.values, flat)


class StaticConvolution(nn.Module):
    """The layer of the basic CNN (section 3.1, equation 1), before the ReLU: the same K filters and bias b for every
    text.

    | here | paper | space |
    |---|---|---|
    | filters | W | [K, h, d] |
    | bias | b | [K] |
    """

    def __init__(self, size: int, filters: int, width: int) -> None:
        super().__init__()
        self.filters = nn.Parameter(_uniform(filters, width, size, fan_in=width * size))
        self.bias = nn.Parameter(_uniform(filters, fan_in=width * size))

    def forward(self, windows: Windows) -> Tensor:
        """Pre-activations ``[B, T', K]``."""
        return F.linear(windows.values, self.filters.flatten(1), self.bias)  # [Shen18 eq. 1]


class FilterGenerator(nn.Module):
    r"""Generates a text's filters: z = CNN(X; θ_e) ∈ R^l, f = DCNN(z; θ_d) ∈ R^{K×h×d} (equations 2 and 3).

    | here | paper | space |
    |---|---|---|
    | encoder | θ_e: a basic CNN with l filters, ReLU, max over time | [l, h, d], [l] |
    | weight | θ_d: a transposed convolution of z, a 1 × 1 map of l channels, with a kernel of h × d | [l, K, h, d] |
    | constant | θ_d's bias | [K, h, d] |

    Where the paper is silent: the transposed convolution has one bias per filter weight, so that with ``weight`` 0 the
    generator can return any constant filters, and the model contains the basic CNN, as the paper claims.

    ``rank`` > 0 selects the *factorised* generator, which is not in the paper: filter k is ``constant_k`` plus a
    combination of its R directions, f_k = c_k + Σ_r m_kr(z) u_kr with m(z) linear in z. It has l·K·R + K·R·h·d weights
    instead of l·K·h·d (at l 100, K 300, h 5, d 50 and R 4: 0.4 million instead of 7.5).
    """

    def __init__(self, size: int, filters: int, width: int, code: int, rank: int = 0) -> None:
        super().__init__()
        self.shape = (filters, width, size)
        self.encoder = StaticConvolution(size, code, width)
        self.constant = nn.Parameter(_uniform(filters, width, size, fan_in=width * size))
        if rank:
            self.mix = nn.Parameter(_uniform(code, filters, rank, fan_in=code))
            self.directions = nn.Parameter(_uniform(filters, rank, width, size, fan_in=width * size))
        else:
            self.weight = nn.Parameter(_uniform(code, filters, width, size, fan_in=code * width * size))
        self.rank = rank

    def code(self, windows: Windows) -> Tensor:
        """z of each text, ``[B, l]``."""
        return masked_max(torch.relu(self.encoder(windows)), windows.mask)[0]  # [Shen18 eq. 2]

    def forward(self, code: Tensor) -> Tensor:
        """Filters ``[B, K, h, d]`` from ``code [B, l]``."""
        if not self.rank:
            made = torch.addmm(self.constant.flatten(), code, self.weight.flatten(1))  # [Shen18 eq. 3]
            return made.view(-1, *self.shape)
        # [K, B, R] @ [K, R, h·d]: each filter has separate directions.
        shares = (code @ self.mix.flatten(1)).view(-1, self.shape[0], self.rank).transpose(0, 1)
        made = torch.baddbmm(self.constant.flatten(1)[:, None], shares, self.directions.flatten(2))
        return made.transpose(0, 1).reshape(-1, *self.shape)

    def linear_map(self, filters: slice | int = slice(None)) -> Tensor:
        """The matrix M with f = [z; 1] M, ``[l + 1, K'·h·d]``, for the given filters: f is affine in z."""
        selection = slice(filters, filters + 1) if isinstance(filters, int) else filters
        if self.rank:
            weight = torch.einsum("lkr,krhd->lkhd", self.mix[:, selection], self.directions[selection])
        else:
            weight = self.weight[:, selection]
        return torch.cat([weight.flatten(1), self.constant[selection].flatten()[None]])


def _uniform(*shape: int, fan_in: int) -> Tensor:
    return nn.init.uniform_(torch.empty(shape), -(fan_in**-0.5), fan_in**-0.5)
