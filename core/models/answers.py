"""What the logits of a model mean: probabilities of classes, of labels each of which may hold, or one score."""

from __future__ import annotations

import torch
from torch import Tensor

SOFTMAX, SIGMOID, IDENTITY = "softmax", "sigmoid", "identity"
"""Of the classes one holds; each label may hold, or a score lies between 0 and 1; a score as it is."""


def chances(logits: Tensor, activation: str) -> Tensor:
    """What is shown of logits ``[..., C]``, float64: probabilities, or of one output the score."""
    logits = logits.double()
    if activation == SIGMOID:
        return torch.sigmoid(logits)
    return logits if activation == IDENTITY else torch.softmax(logits, dim=-1)


def supports(logits: Tensor, activation: str) -> Tensor:
    """What effects are differences of, ``[..., C]``: log p of each class, or of one output the score itself."""
    if activation == SOFTMAX:
        return torch.log_softmax(logits, dim=-1)
    if logits.shape[-1] == 1:
        return torch.sigmoid(logits) if activation == SIGMOID else logits
    return torch.nn.functional.logsigmoid(logits)
