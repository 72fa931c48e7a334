"""Records of models whose sentences look at each other."""

from __future__ import annotations

from core.evidence import AttentionMap, AttentiveContext
from core.evidence.record import matrix
from core.layers.attention import CrossAttention
from core.models.base import Evidence
from core.reading.reader import Reading

SHOWS = (AttentionMap, AttentiveContext)


def evidence_of(reading: Reading, trace: CrossAttention, overridden: bool) -> Evidence:
    """A map and its contexts for each direction, first that of the second sentence's words."""
    first, second = reading.first.role, reading.second.role
    directions = (
        (second, first, trace.scores[0], trace.second[0], trace.overridden[0]),
        (first, second, trace.scores[0].mT, trace.first[0], trace.overridden[1]),
    )
    for rows, columns, raw, used, replaced in directions:
        scores, weights = matrix(raw), matrix(used)
        map_ = AttentionMap(f"attention {rows} to {columns}", rows, columns, scores, weights, replaced)
        yield AttentionMap, lambda map_=map_: map_  # type: ignore[misc]
        contexts = AttentiveContext("attentive context", rows, columns, weights, (None,) * len(weights))
        yield AttentiveContext, lambda contexts=contexts: contexts  # type: ignore[misc]
