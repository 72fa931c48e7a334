"""What each link of attention does to the verdict: a matrix like that of the weights, in the weights' place."""

from __future__ import annotations

from dataclasses import dataclass

from app.panels.attention_map import compact
from app.panels.panel import Panel, Payload
from core.evidence import AttentionMap, Explanation, Matrix, PhraseSelection, PooledAttention, Record
from core.evidence.edges import link_edges
from core.evidence.effects import LinkEffects

Cell = tuple[int, int]


@dataclass(frozen=True)
class Knockouts:
    """What can be cut of a transformer of so many ``layers``, with what each costs: its ``strongest`` links or
    ``every`` link, before the softmax, from any layer on, or whole ``heads``."""

    strongest: str
    every: str
    heads: str
    layers: int


@dataclass(frozen=True)
class LinksFrame(Payload):
    """What stands before there are effects. ``verdict``: the class that is followed, as people read it;
    ``knockouts``: of a transformer."""

    verdict: str
    knockouts: Knockouts | None = None


@dataclass(frozen=True)
class LinkMap:
    """The effects of one map, ``values``, on a scale to ``high`` either way.

    ``before``: its weights, or its scores where ``least`` is the one that a cell got; ``words``: along both edges;
    ``heavy``: cells with much weight and little effect, ``telling``: with little weight and much effect; ``layer``: the
    first one, from 0, of a transformer in which links were cut. Of whole heads the rows are layers, the columns heads.
    """

    rows: str
    columns: str
    units: str
    words: tuple[tuple[str, ...], tuple[str, ...]]
    null: bool
    renormalised: bool
    least: float | None
    before: Matrix
    values: tuple[tuple[float | None, ...], ...]
    high: float
    tau_b: float | None
    layer: int
    heavy: tuple[Cell, ...]
    telling: tuple[Cell, ...]


def frame(explanation: Explanation, verdict: str, knockouts: Knockouts | None = None) -> LinksFrame | None:
    """The panel without its matrices; None for a model that shows no attention."""
    kinds = (AttentionMap, PooledAttention, PhraseSelection)
    attends = any(isinstance(record, kinds) and _cuttable(record) for record in explanation.evidence)
    return LinksFrame(verdict, knockouts) if attends else None


def _cuttable(record: Record) -> bool:
    """Whether the links of a map can be cut: of what a function says of its attention they cannot."""
    return not isinstance(record, AttentionMap) or bool(record.scores or record.own)


def link_map(links: LinkEffects, explanation: Explanation) -> LinkMap:
    """The matrix of one map's effects."""
    heavy, telling = links.disagreeing
    return LinkMap(
        links.rows,
        links.columns,
        links.units,
        link_edges(links, explanation),
        links.null,
        links.renormalised,
        links.least,
        compact(links.before),
        compact(links.effects),
        max((abs(effect) for row in links.effects for effect in row if effect is not None), default=0.0),
        links.tau_b,
        links.layer,
        heavy,
        telling,
    )


PANEL = Panel(("links",), "main")
