"""AttConv "w/o convolution" (Yin & Schütze 2018, section 4): each word is processed without its neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.evidence import AttentionMap, AttentiveContext, FilterProvenance, Record
from core.models.attconv import AttConvConfig, AttConvLight
from core.models.base import Evidence, Output, Settings, Wanted, register, setting
from core.reading.reader import Reading

LAYERS = 4


class FeedForward(nn.Module):
    """z = W_4 tanh(W_3 tanh(W_2 tanh(W_1 (h_i + c_i) + b_1) + b_2) + b_3) + b_4: ``[B, T, d] -> [B, T, d]``."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(size, size) for _ in range(LAYERS))

    def forward(self, states: Tensor, context: Tensor) -> Tensor:
        values = states + context
        for place, layer in enumerate(self.layers):
            values = layer(torch.tanh(values) if place else values)
        return values


@dataclass(frozen=True)
class FeedForwardConfig(AttConvConfig):
    """There is always a context; ``width`` is ignored."""

    context: str = setting("extra", one_of=("extra", "each", "intra"))


@register("attconv-feedforward", title="AttConv w/o convolution", paper="Yin & Schütze 2018", section="4")
class AttConvFeedForward(AttConvLight):
    """Light attentive convolution without the convolution: four layers over the sum of a word and its context.

    z_i as in :class:`FeedForward`, features = max_i tanh(z_i). The four matrices R^{d×d} have as many weights as the
    light form's W_1 and W_2 at width 3 (360k at d = 300).
    """

    def __init__(self, config: FeedForwardConfig) -> None:
        super().__init__(config)
        self.convolution = FeedForward(config.hidden)  # type: ignore[assignment]

    @classmethod
    def shows(cls, config: Settings) -> tuple[type[Record], ...]:
        """The model has no windows to show."""
        return AttentionMap, AttentiveContext

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        return super().evidence(reading, output, {*wanted} - {FilterProvenance}, overridden)
