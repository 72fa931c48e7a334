"""What each word does to the verdict: a bar a word, and a line under it in the sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.panels.effects.methods import Method
from app.panels.panel import Panel, Payload, significant
from core.effects.words import DROPPED, TAKEN_AWAY
from core.evidence.effects import Effects, WordEffect, complete
from core.wording import counted, duration

Bar = tuple[float | None, ...]
"""The effect of a word, its spread, and the verdict's mean probability without it."""


@dataclass(frozen=True)
class WordBars:
    """What the bars show. ``ways``: by method and role a bar a word; all ways together have those of dropping, too.
    ``probability``: of the verdict as it is; ``completeness``: what the bars add up to, what they should, and
    whether that is near enough; ``took``: passes and time, of a model whose passes take long."""

    method: str
    unit: str
    probability: float
    ways: Mapping[str, Mapping[str, tuple[Bar, ...]]]
    completeness: tuple[float | bool, ...] | None
    took: str = ""


@dataclass(frozen=True)
class EffectsFrame(Payload):
    """What stands before there are effects. ``verdict``: the class that is followed, as people read it; ``methods``:
    how effects can be asked for; ``what_if``: whether the page shows another verdict than the model's own, which the
    effects are about; ``more``: which further replacements can be asked for, and what they cost, of a slow model."""

    verdict: str
    methods: tuple[Method, ...]
    what_if: bool
    more: str = ""


def word_bars(effects: Effects, timed: bool = False) -> WordBars:
    """The bars of a record; ``timed``: it is said how many passes it took."""
    target = effects.labels.index(effects.verdict)
    roles = tuple(dict.fromkeys(word.role for word in effects.words))
    alone = (DROPPED,) if effects.method == TAKEN_AWAY else ()
    ways = {
        method: {role: tuple(_bar(word, method, target, effects.method) for word in effects.of(role)) for role in roles}
        for method in (effects.method, *alone)
    }
    completeness = None
    if effects.completeness:
        completeness = (*significant(effects.completeness, 4), complete(effects.completeness))
    took = f"{counted(effects.passes, 'pass', 'es')} in {duration(effects.milliseconds / 1000)}" if timed else ""
    return WordBars(effects.method, effects.unit, effects.probability, ways, completeness, took)


def _bar(word: WordEffect, method: str, target: int, asked: str) -> Bar:
    if method != asked:
        return significant((word.by_way.get(method), word.spread_by_way.get(method), None), 4)
    after = None if word.probabilities is None else word.probabilities[target]
    return significant((word.effect, word.spread, after), 4)


PANEL = Panel(("effects",), "first")
