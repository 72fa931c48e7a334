"""What won the filters: one row a filter, its pre-activation's parts and its share in every class's logit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.panels.panel import Panel, Payload, significant
from core.evidence import Explanation, FilterProducts, FilterProvenance, FilterRecord, Record

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class SideFilters:
    """The filters of one side. A filter is a list (shorter than a dict a filter): index, position, first and last token
    of its window, one number a part (see ``parts``), pre-activation, activation, then one share a class (none where the
    record has no shares). ``wins`` and ``beside``: of a text of several lines, how often each won, and beside which."""

    role: str
    made_from: str
    activation: str
    parts: tuple[str, ...]
    wins: tuple[int, ...]
    beside: tuple[int | None, ...]
    filters: tuple[Numbers, ...]


@dataclass(frozen=True)
class Filters(Payload):
    """What the table draws of all sides' filters. ``rest``: what else adds to the logits, by name."""

    sides: tuple[SideFilters, ...]
    shares: bool
    rest: tuple[tuple[str, Numbers], ...]
    bias: Numbers
    logits: Numbers


def payloads(records: Sequence[Record], explanation: Explanation, show: str) -> list[Filters]:
    """One table for all sides with filters, the judged side first; none for a model without filters."""
    sides = [record for record in records if isinstance(record, FilterProvenance)]
    if not sides:
        return []
    products = explanation.find(FilterProducts)
    rest = tuple((name, significant(shares)) for name, shares in (products.parts() if products else ()))
    shared = all(record.shared for record in sides)
    bias, logits = significant(sides[0].logit_bias), significant(explanation.logits)
    return [Filters(tuple(map(_side, sides)), shared, rest, bias, logits)]


def _side(record: FilterProvenance) -> SideFilters:
    beside = tuple(one.beside for one in record.filters) if record.wins else ()
    filters = tuple(map(_filter, record.filters))
    return SideFilters(
        record.rows, record.made_from, record.activation, tuple(record.part_names), tuple(record.wins), beside, filters
    )


def _filter(one: FilterRecord) -> Numbers:
    numbers = (*one.offsets, one.context, one.bias, one.preactivation, one.activation, *one.logit_shares)
    return (one.index, one.position, *one.window, *significant(numbers))


PANEL = Panel(("filter_provenance", "filter_products"), "below", payloads)
