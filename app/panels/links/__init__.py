"""What each link of attention does to the verdict: a matrix like that of the weights, in the weights' place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.panels.attention_map import compact
from app.panels.panel import Panel, Payload
from core.evidence import AttentionMap, Explanation, FilterProvenance, Matrix, PhraseSelection, PooledAttention, Record
from core.evidence.attention_map import FINAL_STATE, NO_WORD
from core.evidence.effects import HEADS, LinkEffects

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
    """The effects of one map, ``values``, on a scale to ``high`` either way; ``before``: its weights, or its scores
    where ``least`` is the one that a cell got. ``words``: what stands along both edges. ``heavy``: cells with much
    weight and little effect, ``telling``: with little weight and much effect. ``crossings``: whether the model counted
    words that look across a word; ``layer``: the first one, from 0, of a transformer in which links were cut. Of whole
    heads the rows are layers, the columns heads."""

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
    crossings: bool
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
    shape = len(links.effects), len(links.effects[0])
    return LinkMap(
        links.rows,
        links.columns,
        links.units,
        edge_words(links.rows, links.columns, links.units, links.null, shape, explanation),
        links.null,
        links.renormalised,
        links.least,
        compact(links.before),
        compact(links.effects),
        max((abs(effect) for row in links.effects for effect in row if effect is not None), default=0.0),
        links.tau_b,
        links.crossings,
        links.layer,
        heavy,
        telling,
    )


def edge_words(
    rows: str, columns: str, units: str, null: bool, shape: tuple[int, int], explanation: Explanation
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What stands along the rows and along the columns of a map of these two roles."""
    if units == HEADS:
        return _numbered(f"{rows} ", shape[0]), _numbered(f"{columns} ", shape[1])
    along = _units(columns, "words" if units == FINAL_STATE else units, explanation)
    heads = (*along, *([NO_WORD] if null else []))
    return _as_many(_units(rows, units, explanation), shape[0]), _as_many(heads, shape[1])


def _units(role: str, units: str, explanation: Explanation) -> Sequence[str]:
    """What stands along an edge, in words."""
    sentence = explanation.sentence(role)
    tokens = [token.text for token in sentence.tokens]
    if units == FINAL_STATE:
        return [units]
    phrases = explanation.find(PhraseSelection)
    if units == "phrases" and phrases is not None:
        side = next(side for side in phrases.sides if side.role == role)
        return [sentence.words(phrase.span) for phrase in side.phrases]
    filters = explanation.find(FilterProvenance)
    if units == "windows" and filters is not None:
        count = max(1, len(tokens) - filters.width + 1)
        return [" ".join(tokens[start : start + filters.width]) for start in range(count)]
    return tokens


def _as_many(words: Sequence[str], count: int) -> tuple[str, ...]:
    """So many names: numbers where units have none of their own, as the hops of self-attention."""
    return tuple(words) if len(words) == count else _numbered("", count)


def _numbered(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"{name}{i + 1}" for i in range(count))


PANEL = Panel(("links",), "main")
