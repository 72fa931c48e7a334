"""Bi-CNN: a model that encodes each sentence separately and combines the two only in the classifier."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.layers.attention import Override, refuse
from core.layers.convolution import windows
from core.layers.pooling import masked_max
from core.models.base import CentredConfig, Output, Settings, register, setting
from core.models.baselines import Baseline, ComparingConfig
from core.reading.batch import Batch, Side


@dataclass(frozen=True)
class BiCNNConfig(CentredConfig, ComparingConfig):
    """``context``: extra (both sentences are encoded, with the same weights), none (the judged text alone: a classifier
    of single texts, or of pairs "w/o context")."""

    context: str = setting("extra", one_of=("extra", "none"))

    def __post_init__(self) -> None:
        if self.compare and self.context == "none":
            raise ValueError("compare needs both sentences, and context none reads one")


@register("bi-cnn", title="Bi-CNN", paper="Yin & Schütze 2018", section="4")
class BiCNN(Baseline):
    r"""AttConv without attention: one convolution over both sentences, each max-pooled.

    h_i = tanh(W [w_{i-1}; w_i; w_{i+1}] + b), vector = max_i h_i, features = [vector of the first; vector of the
    second], optionally compared, or only the judged text's vector. ``convolution`` is W ∈ R^{d×3d} (270k at d = 300)
    and b.
    """

    config: BiCNNConfig

    def __init__(self, config: BiCNNConfig) -> None:
        super().__init__(config, config.hidden if config.context == "none" else config.joined_size(config.hidden))
        self.convolution = nn.Linear(config.width * config.hidden, config.hidden)

    def forward(self, batch: Batch, override: Override | None = None) -> Output:
        """Raises ValueError for any ``override``: the model has no attention; and if linguistic features do not fit."""
        refuse(override)
        sides = (batch.x,) if self.config.context == "none" else (batch.first, batch.second)
        vectors = [self._vector(side) for side in sides]
        features = vectors[0] if len(vectors) == 1 else self.config.joined(*vectors)
        return self.classify(features, features.shape[1], batch)

    def _vector(self, side: Side) -> Tensor:
        """``[B, T, D] -> [B, d]``."""
        states = torch.tanh(self.convolution(windows(self.words(side), self.config.width)))
        return masked_max(states, side.mask)[0]

    @classmethod
    def contexts(cls, config: Settings) -> tuple[int, ...]:
        """The judged text alone suffices if the other one is not read."""
        return (1,) if config.get("context", "extra") == "extra" else (0, 1)
