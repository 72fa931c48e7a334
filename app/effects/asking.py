"""How a page asks why: of a model whose passes take long, what nobody waits for first, and what the rest costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from app.page_state.explore import EVERY, HEADS
from app.pairs import Version
from app.panels.effects.methods import Method, methods
from app.panels.links import Knockouts
from core.checkpoint import Checkpoint
from core.effects import cost
from core.effects.links import STRONGEST, Taken
from core.effects.nudges import can_nudge
from core.effects.words import ATTENTION, DRAWING, DROPPED, REPLACED, TAKEN_AWAY, Drawing, usual_drawing
from core.evidence import AttentionMap, Explanation

FEW, ALL = "few", "all"
"""Replacements of each word that a person has asked for, of a slow model: those that it has by itself, or as many as
of any other."""


@dataclass(frozen=True)
class Way:
    """How words are asked about. ``method``: as it is shown; ``computed``: what is computed for it."""

    method: str
    computed: str
    drawing: Drawing


def way(checkpoint: Checkpoint, texts: Version, method: str, drawn: str) -> Way:
    """How words are asked about by a ``method`` that a person chose, or the first one, with ``drawn`` replacements.
    Where all ways of taking words away take long, words are dropped until the others are asked for."""
    drawing = DRAWING if drawn == ALL else usual_drawing(checkpoint.card)
    whole = bool(drawn) or _brisk(checkpoint, texts)
    if method == TAKEN_AWAY and not whole:
        method = DROPPED
    return Way(method, TAKEN_AWAY if method == DROPPED and whole else method, drawing)


def _brisk(checkpoint: Checkpoint, texts: Version) -> bool:
    return not checkpoint.seconds or cost.of_words(checkpoint, *texts).brisk


def ways(checkpoint: Checkpoint, texts: Version, asked: Way) -> tuple[Method, ...]:
    """All methods with what each costs, the first one first; without costs of a model that nobody waits for."""
    known = methods(asked.drawing, can_nudge(checkpoint))
    if AttentionMap not in checkpoint.model.shows(checkpoint.card["config"]):
        known = tuple(method for method in known if method.name != ATTENTION)
    if not checkpoint.seconds:
        return known
    known = tuple(method for method in known if checkpoint.model.differentiable or not method.gradient)
    priced = (replace(one, cost=str(cost.of_words(checkpoint, *texts, one.name, asked.drawing))) for one in known)
    first = TAKEN_AWAY if _brisk(checkpoint, texts) else DROPPED
    return tuple(sorted(priced, key=lambda one: one.name != first))


def more(checkpoint: Checkpoint, texts: Version, asked: Way) -> str:
    """What all replacements of each word cost; empty where they are drawn already, or where there are none."""
    if asked.drawing == DRAWING or asked.method not in (TAKEN_AWAY, REPLACED):
        return ""
    count, costs = DRAWING.frequent + DRAWING.related, cost.of_words(checkpoint, *texts, asked.method, DRAWING)
    return f"all {count} replacements of each word: {costs}"


def cut(links: str) -> tuple[Taken, bool]:
    """How links are cut, and whether each of them is; whole heads are asked for of transformers alone."""
    return (Taken(links), False) if links in {*Taken} else (Taken.KEPT, links == EVERY)


def price(checkpoint: Checkpoint, texts: Version, of: Callable[..., cost.Cost]) -> str:
    """What something costs, in words; empty of a model that nobody waits for."""
    return str(of(checkpoint, *texts)) if checkpoint.seconds else ""


def of_heads(links: str, checkpoint: Checkpoint) -> bool:
    """Whether it is asked what whole heads do."""
    return links == HEADS and checkpoint.model.has_heads


def knockouts(checkpoint: Checkpoint, texts: Version, explanation: Explanation) -> Knockouts | None:
    """What can be cut of a transformer, with what it costs; None of a model whose weights can be set."""
    cells = [
        len(record.weights) * len(record.weights[0])
        for record in explanation.evidence
        if isinstance(record, AttentionMap) and record.own
    ]
    if not cells:
        return None
    strongest, every = (
        str(cost.of_passes(checkpoint, *texts, 1 + sum(min(most, count) for count in cells)))
        for most in (STRONGEST, max(cells))
    )
    heads = str(cost.of_heads(checkpoint, *texts))
    return Knockouts(strongest, every, heads, checkpoint.model.layers)
