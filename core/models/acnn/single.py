"""ACNN: one text, convolved with filters generated from itself (Shen et al. 2018, section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from core.evidence import FilterProvenance, GeneratedFilters
from core.models.acnn.adaptive import ACNNConfig, AdaptiveModel, TextTrace
from core.models.base import Evidence, Output, register
from core.reading.batch import Batch
from core.reading.reader import Reading


@register(
    "acnn",
    config=ACNNConfig,
    title="ACNN",
    paper="Shen et al. 2018",
    section="3.2",
    tasks=("text classification",),
    shows=(FilterProvenance, GeneratedFilters),
)
class ACNN(AdaptiveModel):
    """One text, convolved with filters made from itself: S-ACNN with one filter, M-ACNN with many; with adaptivity
    none the basic CNN (sections 3.1 and 3.2)."""

    made_from = ("first",)

    def __init__(self, config: ACNNConfig) -> None:
        super().__init__(config, config.filters)

    @classmethod
    def contexts(cls, config: Mapping[str, Any]) -> tuple[int, ...]:
        return (0,)

    def forward(self, batch: Batch, override: Tensor | None = None) -> Output:
        """Raises ValueError for any ``override``: there is no attention to replace."""
        if override is not None:
            raise ValueError("this model reads one text alone: it has no attention to replace")
        windows = self.windows(batch.first)
        own = None if self.generator is None else self.generate(windows)
        side = self.convolve(windows, batch.first, own, None if own is None else own[1], None)
        logits = self.classifier(F.dropout(side.pooled, self.config.dropout, self.training))
        return Output(logits, side.pooled, side)

    def evidence(self, reading: Reading, output: Output, overridden: bool = False) -> Evidence:
        side: TextTrace = output.trace
        role = reading.first.role
        shares = self.classifier.weight * side.pooled[0]
        made_from = role if side.applied is not None else ""
        yield FilterProvenance, lambda: self.provenance("filters", role, side, shares, made_from)
        yield from self.generated(side, role, role)
