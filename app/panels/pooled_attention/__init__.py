"""Attentive pooling: how much each word weighs when its sentence becomes one vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from app.panels.attention_map import compact
from app.panels.panel import Panel, Payload, scale_end
from core.evidence import Explanation, PooledAttention


@dataclass(frozen=True)
class PooledSide:
    """A sentence's weights, on a scale up to ``high``."""

    role: str
    weights: tuple[float, ...]
    high: float


@dataclass(frozen=True)
class Pooled(Payload):
    """All sentences of a pair. ``shares``: their weights add up to 1."""

    name: str
    sides: tuple[PooledSide, ...]
    shares: bool


def payloads(records: Sequence[PooledAttention], explanation: Explanation, show: str) -> list[Pooled]:
    """One panel for all sentences."""
    weights = compact(tuple(record.weights for record in records))
    shares = all(abs(sum(own) - 1) < 1e-3 for own in weights)
    most = 1.0 if shares else inf
    sides = (PooledSide(record.role, own, scale_end(own, most)) for record, own in zip(records, weights, strict=True))
    return [Pooled(records[0].name, tuple(sides), shares)]


PANEL = Panel(("pooled_attention",), "main", payloads)
