"""ACNN: a single text is convolved with filters generated from itself (Shen et al. 2018, section 3.2)."""

from __future__ import annotations

from torch import Tensor

from core.evidence import FilterProvenance, GeneratedFilters, Record
from core.layers.attention import refuse
from core.models.acnn.adaptive import ACNNConfig, AdaptiveModel, TextTrace, generated
from core.models.base import Evidence, Output, Reads, Settings, Wanted, register
from core.reading.batch import Batch
from core.reading.reader import Reading


@register("acnn", title="ACNN", paper="Shen et al. 2018", section="3.2")
class ACNN(AdaptiveModel):
    """A single text is convolved with filters generated from itself: S-ACNN with one filter, M-ACNN with many; without
    adaptivity the basic CNN (sections 3.1 and 3.2)."""

    made_from = ("first",)

    def __init__(self, config: ACNNConfig) -> None:
        super().__init__(config, config.filters)

    @classmethod
    def reads(cls, config: Settings) -> Reads:
        return Reads((0,))

    def forward(self, batch: Batch, override: Tensor | None = None) -> Output:
        """Raises ValueError for any ``override``: the model has no attention."""
        refuse(override)
        windows = self.windows(batch.first)
        own = None if self.generator is None else self.generate(windows)
        side = self.convolve(windows, batch.first, own, None if own is None else own[1], None)
        return Output(self.classifier(self.dropped(side.pooled)), side.pooled, side)

    @classmethod
    def shows(cls, config: Settings) -> tuple[type[Record], ...]:
        """Only records the settings produce: fixed filters are not generated."""
        return (FilterProvenance,) if config.get("adaptivity") == "none" else (FilterProvenance, GeneratedFilters)

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        side: TextTrace = output.trace
        role = reading.first.role
        if FilterProvenance in wanted:
            shares = self.classifier.weight * side.pooled[0]
            yield self.provenance("filters", role, side, shares, role if side.applied is not None else "")
        if GeneratedFilters in wanted:
            yield from generated(side, role, role)
