"""What models have in common whose sentences look at each other."""

from __future__ import annotations

from core.evidence import AttentionMap, AttentiveContext, Record
from core.evidence.record import matrix
from core.layers.attention import CrossAttention
from core.models.base import Evidence, Output, Settings, Wanted
from core.models.baselines import Baseline
from core.reading.reader import Reading


class CrossAttending(Baseline):
    """A baseline whose trace is a :class:`CrossAttention`."""

    @classmethod
    def shows(cls, config: Settings) -> tuple[type[Record], ...]:
        return AttentionMap, AttentiveContext

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        """A map and its contexts for each direction, first that of the second sentence's words."""
        trace: CrossAttention = output.trace
        first, second = reading.first.role, reading.second.role
        directions = (
            (second, first, trace.scores[0], trace.second[0], trace.overridden[0]),
            (first, second, trace.scores[0].mT, trace.first[0], trace.overridden[1]),
        )
        for rows, columns, scores, values, replaced in directions:
            name, weights = f"attention {rows} to {columns}", matrix(values)
            if AttentionMap in wanted:
                yield AttentionMap(name, rows, columns, matrix(scores), weights, replaced)
            if AttentiveContext in wanted:
                yield AttentiveContext("attentive context", rows, columns, weights, (None,) * len(weights))
