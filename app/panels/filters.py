"""What won the filters: one row a filter, its pre-activation's parts and its share in every class's logit."""

from __future__ import annotations

from typing import Any

from core.evidence import Explanation, FilterProvenance


def payload(explanation: Explanation) -> dict[str, Any] | None:
    """What the table draws, or None for a model without filters.

    A filter is a list (shorter than a dict a filter): index, position, first and last token of its window, left, self,
    right, context, bias, pre-activation, activation, then one share a class.
    """
    record: FilterProvenance | None = explanation.find(FilterProvenance)
    if record is None:
        return None
    rows = [
        [
            f.index, f.position, *f.window,
            *(float(f"{value:.6g}") for value in (
                f.left, f.self_, f.right, f.context, f.bias, f.preactivation, f.activation, *f.logit_shares)),
        ]
        for f in record.filters
    ]  # fmt: skip
    return {
        "rows": record.rows,
        "width": record.width,
        "labels": list(explanation.labels),
        "filters": rows,
        "bias": [float(f"{value:.6g}") for value in record.logit_bias],
        "logits": [float(f"{value:.6g}") for value in explanation.logits],
    }
