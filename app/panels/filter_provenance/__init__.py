"""What won the filters: one row a filter, its pre-activation's parts and its share in every class's logit."""

from __future__ import annotations

from collections.abc import Sequence

from app.panels.panel import Panel, Payload
from core.evidence import Explanation, FilterProducts, FilterProvenance


def provenances(explanation: Explanation) -> list[FilterProvenance]:
    """One record a side whose filters are told, the judged side first; none for a model without filters."""
    return [record for record in explanation.evidence if isinstance(record, FilterProvenance)]


def part_names(width: int) -> list[str]:
    """The parts of a pre-activation: one a word of the window, then the attentive context and the bias."""
    near = {1: ["self"], 3: ["left", "self", "right"]}
    return [*near.get(width, [f"word {i}" for i in range(1, width + 1)]), "context", "bias"]


def rest(explanation: Explanation) -> list[tuple[str, tuple[float, ...]]]:
    """What the logits hold beside the filters' shares and the classifier's bias: a name and a share a class."""
    record: FilterProducts | None = explanation.find(FilterProducts)
    if record is None:
        return []
    products = tuple(sum(column) for column in zip(*record.products, strict=True))
    lines = [("products of both texts’ filters", products), ("linguistic features", record.linguistic)]
    return [(name, shares) for name, shares in lines if any(shares)]


def payloads(records: Sequence[object], explanation: Explanation, show: str) -> list[Payload]:
    """What the table draws of all sides' filters.

    A filter is a list (shorter than a dict a filter): index, position, first and last token of its window, one number
    a part (see ``parts``), pre-activation, activation, then one share a class (none where shares are not told).
    """
    sides = provenances(explanation)
    if not sides:
        return []
    drawn = {
        "sides": [
            {
                "role": record.rows,
                "made_from": record.made_from,
                "activation": record.activation,
                "parts": part_names(record.width),
                "filters": [
                    [f.index, f.position, *f.window,
                     *_short((*f.offsets, f.context, f.bias, f.preactivation, f.activation, *f.logit_shares))]
                    for f in record.filters
                ],
            }
            for record in sides
        ],
        "shares": all(f.logit_shares for record in sides for f in record.filters),
        "rest": [[name, _short(shares)] for name, shares in rest(explanation)],
        "bias": _short(sides[0].logit_bias),
        "logits": _short(explanation.logits),
    }  # fmt: skip
    return [drawn]


def _short(values: Sequence[float]) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


PANEL = Panel(("filter_provenance", "filter_products"), "below", payloads)
