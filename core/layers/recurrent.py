"""Recurrent networks over the texts of a batch, and the precision they run in."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from core.processor import native_bf16

EndState = tuple[Tensor, Tensor]
"""The final state of a network; for an LSTM, with its cell state."""
Read = TypeVar("Read", bound=Callable[..., Any])


def single(values: Tensor) -> Tensor:
    """Casts to float32 if mixed precision left the tensor in bfloat16."""
    return values.float() if values.dtype == torch.bfloat16 else values


def recurrent(read: Read) -> Read:
    """Decorates a function that runs recurrent cells: under mixed precision on a CPU that emulates bf16 they stay in
    float32.

    oneDNN has no bf16 LSTM there, and torch's fallback is ten times slower than float32.
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
    network: nn.LSTM, words: Tensor, mask: Tensor, start: EndState | None = None
) -> tuple[Tensor, EndState]:
    """States of the words of each text, ``[B, T, D], [B, T] -> [B, T, d]``, zero on padding, and the states at the last
    real words in the form torch's networks return and accept (``start``)."""
    # Packed, because otherwise the last state would be the one after the padding.
    packed = pack_padded_sequence(words, mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
    out, end = network(packed, start)
    states, _ = pad_packed_sequence(out, batch_first=True, total_length=words.shape[1])
    return states, end


class BiLSTM(nn.Module):
    """States of a text's words from both directions: ``[B, T, D], [B, T] -> [B, T, 2u]``, zero on padding.

    Two LSTMs over padded texts, the second over the reversed texts, instead of one over packed texts: batches hold
    texts of similar lengths, so padding costs little, and only padded texts use torch's fused CPU kernels.
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
    """Each text's words in reverse order, padding still at the end: ``[B, T, D], [B, T] -> [B, T, D]``."""
    places = torch.arange(mask.shape[1], device=mask.device)[None]
    at = torch.where(mask, mask.sum(1, keepdim=True) - 1 - places, places)
    rows = torch.arange(len(mask), device=mask.device)[:, None] * mask.shape[1]
    # Whole rows of a flattened tensor: an element-wise gather and its gradient take nearly twice as long on a CPU.
    return states.flatten(0, 1).index_select(0, (rows + at).flatten()).view_as(states)
