"""The meaning of a model's logits: a softmax over classes, independent labels, or one score."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

SOFTMAX, SIGMOID, IDENTITY = "softmax", "sigmoid", "identity"
"""Exactly one class holds; labels are independent, or the output is a score from 0 to 1; the raw score."""


def chances(logits: Tensor, activation: str) -> Tensor:
    """Logits ``[..., C]`` as displayed, float64: probabilities, or the score of a single output."""
    logits = logits.double()
    if activation == SIGMOID:
        return torch.sigmoid(logits)
    return logits if activation == IDENTITY else torch.softmax(logits, dim=-1)


def supports(logits: Tensor, activation: str) -> Tensor:
    """The quantity whose differences are effects, ``[..., C]``: log p of each class, or the score of a single
    output."""
    if activation == SOFTMAX:
        return torch.log_softmax(logits, dim=-1)
    if logits.shape[-1] == 1:
        return torch.sigmoid(logits) if activation == SIGMOID else logits
    return torch.nn.functional.logsigmoid(logits)


@dataclass(frozen=True)
class ModelAnswers:
    """The answers of a model: its logits ``[..., C]`` as numbers that people read."""

    activation: str = SOFTMAX
    """The meaning of the logits."""
    unfitted: bool = False
    """Whether the only output is a similarity without a fitted threshold."""

    def chances(self, logits: Tensor) -> Tensor:
        """:func:`chances` of these logits."""
        return chances(logits, self.activation)

    def supports(self, logits: Tensor) -> Tensor:
        """:func:`supports` of these logits."""
        return supports(logits, self.activation)
