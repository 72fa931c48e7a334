"""Attentive pooling: how much each word weighs when its sentence becomes one vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.panels.attention_map import compact
from app.panels.panel import Panel, Payload
from core.evidence import Explanation


def payloads(records: Sequence[Any], explanation: Explanation, show: str) -> list[Payload]:
    """One panel for all sentences, each on a scale up to its ``high``. ``shares``: their weights add up to 1."""
    weights = compact([record.weights for record in records])
    sides = [
        {"role": record.role, "weights": own, "high": max(*own, 1e-9)}
        for record, own in zip(records, weights, strict=True)
    ]
    return [{"name": records[0].name, "sides": sides, "shares": all(abs(sum(own) - 1) < 1e-3 for own in weights)}]


PANEL = Panel(("pooled_attention",), "main", payloads)
