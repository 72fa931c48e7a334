"""The attentive context of the selected word: what it is mixed from, and the words that the mix is nearest to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.panels.attention_map import compact
from app.panels.panel import Panel, Payload
from core.evidence import AttentiveContext, Explanation, Matrix
from core.evidence.attentive_context import NOT_IN_THE_TABLE


@dataclass(frozen=True)
class Contexts(Payload):
    """The weights of every word's context, and its heaviest word that is not in the table: it is named, with ``why``,
    where the mix has no nearest words."""

    weights: Matrix
    unknown: tuple[str | None, ...]
    why: str = NOT_IN_THE_TABLE


def payloads(records: Sequence[AttentiveContext], explanation: Explanation, show: str) -> list[Contexts]:
    """A panel for each side whose words have contexts."""
    return [
        Contexts(
            compact(record.weights),
            tuple(record.unknown(explanation, row) for row in range(len(record.weights))),
            rows=record.rows,
            columns=record.columns,
        )
        for record in records
    ]


def nearest(records: Sequence[AttentiveContext]) -> Mapping[str, object]:
    """Nearest words of the contexts that were looked up, by the role of the rows and the row."""
    words = {
        record.rows: {
            str(row): {"words": list(mix.nearest), "similarity": [round(s, 3) for s in mix.similarity]}
            for row, mix in enumerate(record.nearest)
            if mix is not None
        }
        for record in records
    }
    return {role: rows for role, rows in words.items() if rows}


PANEL = Panel(("attentive_context",), "beside", payloads, late=nearest)
