"""Pairs of different lengths as one block of numbers with masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """B pairs as word vectors. x is the sentence that is judged (t_x), y its context (t_y).

    ``x`` float ``[B, T_x, D]``, ``x_mask`` bool ``[B, T_x]`` (true on real words), ``y`` and ``y_mask`` likewise. What
    stands on pads is never read: models zero it. ``extra`` float ``[B, F]``: linguistic features of the pairs
    (:mod:`core.linguistics.features`), for models that read them.
    """

    x: Tensor
    x_mask: Tensor
    y: Tensor
    y_mask: Tensor
    extra: Tensor | None = None

    def __post_init__(self) -> None:
        if self.x.ndim != 3 or self.y.ndim != 3 or self.x.shape[2] != self.y.shape[2]:
            raise ValueError(f"expected x [B, Tx, D] and y [B, Ty, D], got {list(self.x.shape)}, {list(self.y.shape)}")
        if self.x_mask.shape != self.x.shape[:2] or self.y_mask.shape != self.y.shape[:2]:
            raise ValueError(
                f"expected masks {list(self.x.shape[:2])} and {list(self.y.shape[:2])}, "
                f"got {list(self.x_mask.shape)} and {list(self.y_mask.shape)}"
            )
        if self.extra is not None and (self.extra.ndim != 2 or len(self.extra) != len(self.x)):
            raise ValueError(f"expected extra [{len(self.x)}, F], got {list(self.extra.shape)}")

    @classmethod
    def from_vectors(cls, judged: Sequence[Tensor], context: Sequence[Tensor], extra: Tensor | None = None) -> Batch:
        """Pad two lists of B word-vector matrices ``[T, D]``, one sentence each, into a batch."""
        x, x_mask = pad(judged)
        y, y_mask = pad(context)
        return cls(x, x_mask, y, y_mask, extra)

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        extra = None if self.extra is None else self.extra.to(device)
        return Batch(self.x.to(device), self.x_mask.to(device), self.y.to(device), self.y_mask.to(device), extra)


def pad(sentences: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Stack matrices ``[T_i, D]`` into ``[B, max T, D]`` with zeros behind, and their mask ``[B, max T]``."""
    if not sentences or min(len(s) for s in sentences) == 0:
        raise ValueError("every sentence of a batch needs at least one word")
    block = torch.nn.utils.rnn.pad_sequence(list(sentences), batch_first=True)
    lengths = torch.tensor([len(s) for s in sentences])
    return block, torch.arange(block.shape[1])[None] < lengths[:, None]
