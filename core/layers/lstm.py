"""An LSTM that reads a text in both directions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from core.layers.recurrent import recurrent


class BiLSTM(nn.Module):
    """States of a text's words from both directions: ``[B, T, D], [B, T] -> [B, T, 2u]``, zero on pads.

    Two LSTMs over padded texts, the second over each text turned round, and not one over packed texts: a batch has
    texts of like lengths, so that little is lost on pads, and only padded texts take torch's fused kernels on a CPU.
    """

    def __init__(self, size: int, units: int) -> None:
        super().__init__()
        self.forwards = nn.LSTM(size, units, batch_first=True)
        self.backwards = nn.LSTM(size, units, batch_first=True)

    @recurrent
    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        own, _ = self.forwards(states)
        turned, _ = self.backwards(turned_round(states, mask))
        return torch.cat([own, turned_round(turned, mask)], dim=-1).masked_fill(~mask[..., None], 0.0)


def turned_round(states: Tensor, mask: Tensor) -> Tensor:
    """Each text's words from the last to the first, pads still behind: ``[B, T, D], [B, T] -> [B, T, D]``."""
    places = torch.arange(mask.shape[1], device=mask.device)[None]
    at = torch.where(mask, mask.sum(1, keepdim=True) - 1 - places, places)
    rows = torch.arange(len(mask), device=mask.device)[:, None] * mask.shape[1]
    # Whole rows of a flat block: a gather of single numbers, and its gradient, take nearly twice as long on a CPU.
    return states.flatten(0, 1).index_select(0, (rows + at).flatten()).view_as(states)
