"""The questions of Explore's panels to the API, and the cost of each answer with a slow model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.explore import heads, what_if
from app.explore.reading import Read
from app.explore.what_if import WhatIf
from app.panels.verdict import class_names
from core.checkpoint import Checkpoint
from core.effects import METHODS, cost, gradients
from core.effects.links import STRONGEST
from core.effects.question import target_class
from core.effects.words import ATTENTION, DROPPED, REPLACED, SAMPLING, TAKEN_AWAY
from core.evidence import AttentionMap, Explanation
from core.linguistics.negation import negatable

ALL = "all"
"""For a slow model: as many replacements of each word as for any other model."""


@dataclass(frozen=True)
class Method:
    """A method for word effects, with its ``cost`` where that is worth saying."""

    name: str
    cost: str = ""


@dataclass(frozen=True)
class Knockouts:
    """The cost of each ablation of a transformer with this number of ``layers``: of its ``strongest`` links or
    ``every`` link, before the softmax, from any layer on, or of whole ``heads``."""

    strongest: str
    every: str
    heads: str
    layers: int


@dataclass(frozen=True)
class Why:
    """The panels' questions.

    - ``question``: about the current pair and the unchanged model;
    - ``shown``: about the drawn explanation, with its edits;
    - ``verdict``: the name of the class that effects are about;
    - ``methods``: the default one first; ``more``: the cost of all replacements;
    - ``timed``: whether answers state their number of passes;
    - ``negatable``: by role, the words before which “not” can stand.
    """

    question: Mapping[str, object]
    shown: Mapping[str, object]
    verdict: str
    methods: Sequence[Method]
    timed: bool
    more: str
    knockouts: Knockouts | None
    costs: Mapping[str, str]
    negatable: Mapping[str, Sequence[int]]
    what_if: WhatIf


def why(read: Read) -> Why:
    """The questions about a pair."""
    page, checkpoint = read.page, read.checkpoint
    pair = checkpoint, *page.pair.now
    model, typed = {"model": page.model}, page.texts[0].now
    head = heads.shown(page, checkpoint)
    method = shown_method(read)
    sides = [side for side in (read.shown.first, *read.shown.contexts) if side.role]
    return Why(
        question=model | {"first": page.pair.first, "second": page.pair.second},
        shown=model | {"first": typed[0], "second": typed[1], "edits": list(map(str, page.made)), "head": head},
        verdict=followed(checkpoint, read.trained),
        methods=_methods(read),
        timed=bool(checkpoint.seconds),
        more=_more(read, method),
        knockouts=_knockouts(read.shown, pair),
        costs={
            "change": _price(checkpoint, lambda: cost.of_smallest_change(*pair)),
            "faithfulness": _price(checkpoint, lambda: cost.of_believing(*pair)),
        },
        negatable={side.role: negatable([token.text for token in side.tokens]) for side in sides},
        what_if=what_if.panel(page, checkpoint, read.steps),
    )


def followed(checkpoint: Checkpoint, explanation: Explanation) -> str:
    """The name of the class whose probability effects are about."""
    return class_names(explanation)[target_class(checkpoint, explanation.probabilities)]


def shown_method(read: Read) -> str:
    """The method by which word effects are shown. If combined removal takes long, words are dropped until the user
    requests another method."""
    page = read.page
    waits = page.method == TAKEN_AWAY and not page.drawn and not _brisk(read)
    return DROPPED if waits else page.method


def _brisk(read: Read) -> bool:
    return not read.checkpoint.seconds or cost.of_words(read.checkpoint, *read.page.pair.now).brisk


def _methods(read: Read) -> Sequence[Method]:
    """All methods, the default one first, with their costs if the model is slow."""
    checkpoint, pair = read.checkpoint, read.page.pair.now
    attends = AttentionMap in checkpoint.model.shows(checkpoint.card["config"])
    known = [name for name in METHODS if name != ATTENTION or attends]
    if not checkpoint.model.differentiable:
        known = [name for name in known if name not in gradients.METHODS]
    first = TAKEN_AWAY if _brisk(read) else DROPPED
    known.sort(key=lambda name: name != first)
    drawing = SAMPLING if read.page.drawn == ALL else None
    return [
        Method(name, _price(checkpoint, lambda name=name: cost.of_words(checkpoint, *pair, name, drawing)))  # type: ignore[misc]
        for name in known
    ]


def _more(read: Read, method: str) -> str:
    """The cost of all replacements of each word; empty if they are drawn already, or if there are none."""
    checkpoint = read.checkpoint
    if not checkpoint.seconds or read.page.drawn == ALL or method not in (TAKEN_AWAY, REPLACED):
        return ""
    whole = cost.of_words(checkpoint, *read.page.pair.now, method, SAMPLING)
    return f"all {SAMPLING.frequent + SAMPLING.related} replacements of each word: {whole}"


def _price(checkpoint: Checkpoint, of: Callable[[], cost.Cost]) -> str:
    """A cost in words; empty if the model is fast."""
    return str(of()) if checkpoint.seconds else ""


def _knockouts(explanation: Explanation, pair: tuple[Checkpoint, str, str]) -> Knockouts | None:
    """The ablations of a transformer with their costs; None for a model whose weights can be set."""
    maps = (one for one in explanation.evidence if isinstance(one, AttentionMap) and one.own)
    cells = [len(one.weights) * len(one.weights[0]) for one in maps]
    knockouts = pair[0].model.knockouts
    if not cells or knockouts is None:
        return None
    strongest, every = (
        str(cost.of_passes(*pair, 1 + sum(min(most, count) for count in cells))) for most in (STRONGEST, max(cells))
    )
    return Knockouts(strongest, every, str(cost.of_heads(*pair)), knockouts.layers)
