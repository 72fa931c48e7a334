"""Speed of what stands beside a verdict: the effects of words and of links."""

from __future__ import annotations

from collections.abc import Callable

from core.checkpoint import available, load_named
from core.effects.links import Taken
from core.effects.why import what_links_do, why
from core.effects.words import DROPPED, TAKEN_AWAY
from core.evidence.effects import Effects, LinkEffects
from trainers.bench.explaining import MISSING, sentences
from trainers.bench.row import Row, medians

MODEL = "nli-two-sided"
CUT = Taken.RENORMALISED


def effects(quick: bool) -> list[Row]:
    """The words of a pair dropped and taken away in four ways, and the links of its maps: 2 s for one of 40 x 40."""
    return [
        _row("20 + 12 words dropped", 50, 10 if quick else 40, lambda: _words(20, 12, DROPPED)),
        _row("20 + 12 words taken away", 400, 3 if quick else 10, lambda: _words(20, 12, TAKEN_AWAY)),
        _row("all links of both 20 x 12 maps", 300, 3 if quick else 10, lambda: _links(20, 12)),
        _row("all links of both 40 x 40 maps", 4000, 2 if quick else 5, lambda: _links(40, 40)),
    ]


def _words(first: int, second: int, method: str) -> Effects:
    checkpoint = load_named(MODEL)
    return why(checkpoint, *sentences(checkpoint, first, second), method=method)


def _links(first: int, second: int) -> tuple[LinkEffects, ...]:
    checkpoint = load_named(MODEL)
    return what_links_do(checkpoint, *sentences(checkpoint, first, second), CUT)


def _row(name: str, bar: float, repeats: int, compute: Callable[[], object]) -> Row:
    if MODEL not in available():
        return Row(f"{name}, {MODEL}", None, "ms", bar, note=MISSING)
    (taken,) = medians([compute], repeats)
    return Row(f"{name}, {MODEL}", taken, "ms", bar, note=f"median of {repeats}")
