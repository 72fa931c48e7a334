"""Recurrent networks over texts of a batch, and the precision that they run in."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from core.processor import native_bf16

EndState = Tensor | tuple[Tensor, Tensor]
"""The final state of a network, for an LSTM with its cell state."""
Read = TypeVar("Read", bound=Callable[..., Any])


def single(values: Tensor) -> Tensor:
    """These numbers in float32 where mixed precision left them in bfloat16."""
    return values.float() if values.dtype == torch.bfloat16 else values


def recurrent(read: Read) -> Read:
    """A function of recurrent cells, which mixed precision on a CPU leaves in float32 where bf16 is emulated.

    oneDNN has no LSTM in bf16 there, and torch's fallback is ten times slower than float32.
    """

    @functools.wraps(read)
    def run(*arguments: Any) -> Any:
        if not torch.is_autocast_enabled("cpu") or native_bf16():
            return read(*arguments)
        with torch.autocast("cpu", enabled=False):
            return read(*(single(value) if isinstance(value, Tensor) else value for value in arguments))

    return cast(Read, run)


@recurrent
def read_packed(
    network: nn.LSTM | nn.GRU, words: Tensor, mask: Tensor, start: EndState | None = None
) -> tuple[Tensor, EndState]:
    """States of texts' words ``[B, T, D], [B, T] -> [B, T, d]``, zero on pads, and the last real ones as torch's
    networks give them and take them back (``start``)."""
    # Packed, or the last state would be that after the pads.
    packed = pack_padded_sequence(words, mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
    out, end = network(packed, start)
    states, _ = pad_packed_sequence(out, batch_first=True, total_length=words.shape[1])
    return states, end


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
