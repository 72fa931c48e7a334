"""Pooling over the real words of a sentence."""

from __future__ import annotations

from torch import Tensor


def masked_max(states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Max over positions: ``[B, T, K], [B, T] -> values [B, K], winning positions [B, K]``; pads never win.

    Of equal values the earliest position wins on the CPU (torch.max); CUDA promises no order.
    """
    return states.masked_fill(~mask[..., None], float("-inf")).max(dim=1)
