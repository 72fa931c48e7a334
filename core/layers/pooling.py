"""Pooling over the real words of a sentence."""

from __future__ import annotations

from torch import Tensor


def masked_max(states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Max over positions: ``[B, T, K], [B, T] -> values [B, K], winning positions [B, K]``; padding never wins.

    On ties the earliest position wins on the CPU (torch.max); CUDA guarantees no order.
    """
    return states.masked_fill(~mask[..., None], float("-inf")).max(dim=1)


def masked_mean(states: Tensor, mask: Tensor) -> Tensor:
    """Mean over the real positions: ``[B, T, K], [B, T] -> [B, K]``; padding is ignored. 0 without real positions."""
    return states.masked_fill(~mask[..., None], 0.0).sum(1) / mask.sum(1, keepdim=True).clamp_min(1)


def states_at(states: Tensor, places: Tensor) -> Tensor:
    """The state at one position of each row: ``[B, T, K], [B] -> [B, K]``."""
    return states.gather(1, places[:, None, None].expand(-1, 1, states.shape[2]))[:, 0]
