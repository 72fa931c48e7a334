"""What won the filters: one row a filter, its pre-activation's parts and its share in every class's logit."""

from __future__ import annotations

from collections.abc import Sequence

from app.panels.panel import Panel, Payload
from core.evidence import Explanation, FilterProducts, FilterProvenance


def provenances(explanation: Explanation) -> list[FilterProvenance]:
    """One record a side with filters, the judged side first; none for a model without filters."""
    return [record for record in explanation.evidence if isinstance(record, FilterProvenance)]


def payloads(records: Sequence[object], explanation: Explanation, show: str) -> list[Payload]:
    """What the table draws of all sides' filters.

    A filter is a list (shorter than a dict a filter): index, position, first and last token of its window, one number
    a part (see ``parts``), pre-activation, activation, then one share a class (none where the record has no shares).
    """
    sides = provenances(explanation)
    if not sides:
        return []
    products = explanation.find(FilterProducts)
    drawn = {
        "sides": [
            {
                "role": record.rows,
                "made_from": record.made_from,
                "activation": record.activation,
                "parts": record.part_names,
                "wins": list(record.wins),
                "beside": [f.beside for f in record.filters] if record.wins else [],
                "filters": [
                    [
                        f.index,
                        f.position,
                        *f.window,
                        *_short((*f.offsets, f.context, f.bias, f.preactivation, f.activation, *f.logit_shares)),
                    ]
                    for f in record.filters
                ],
            }
            for record in sides
        ],
        "shares": all(record.shared for record in sides),
        "rest": [[name, _short(shares)] for name, shares in (products.parts() if products else ())],
        "bias": _short(sides[0].logit_bias),
        "logits": _short(explanation.logits),
    }
    return [drawn]


def _short(values: Sequence[float]) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


PANEL = Panel(("filter_provenance", "filter_products"), "below", payloads)
