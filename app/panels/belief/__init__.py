"""Can it be believed: how well each way to ask why names the words that decide, and what moved attention does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.panels.attention_map import compact
from app.panels.belief.facts import WAYS, Fact, facts
from app.panels.panel import Panel, Payload, scale_end, significant
from core.evidence import Explanation, Matrix
from core.evidence.edges import edge_words
from core.evidence.faithfulness import RANDOM, STEPS, Curves, Faithfulness


@dataclass(frozen=True)
class BeliefFrame(Payload):
    """What stands before anything is computed. ``verdict``: the class that is followed, as people read it; ``cost``:
    passes and time, of a model whose passes take long."""

    verdict: str
    cost: str = ""


@dataclass(frozen=True)
class Way:
    """What the verdict loses by one way's order of the words: alone its first words ``left``, and these ``taken``
    out; the mean over the steps, and each step in words."""

    title: str
    left: float
    taken: float
    steps: tuple[str, ...]


@dataclass(frozen=True)
class TwoMaps:
    """The model's own attention beside an adversary's, on one scale to ``high``. ``words``: along both edges."""

    rows: str
    columns: str
    words: tuple[tuple[str, ...], tuple[str, ...]]
    own: Matrix
    other: Matrix
    high: float


@dataclass(frozen=True)
class Belief:
    """What the panel shows. ``sentence``: what it comes to; ``ways``: the most telling first, ``random`` beside."""

    sentence: str
    ways: tuple[Way, ...]
    random: Way
    facts: tuple[Fact, ...]
    maps: tuple[TwoMaps, ...]


def belief(measured: Faithfulness, explanation: Explanation) -> Belief:
    """What the panel shows of a record."""
    known = ((WAYS[name], curves) for name, curves in measured.curves.items() if name in WAYS)
    ways = sorted((_way(title, curves) for title, curves in known), key=lambda way: -way.taken)
    return Belief(
        measured.sentence.replace("'", "’"),
        tuple(ways),
        _way("Random orders", measured.curves[RANDOM]),
        facts(measured, explanation),
        tuple(_maps(measured, explanation)),
    )


def _way(title: str, curves: Curves) -> Way:
    left, taken = significant(curves.aopc, 4)
    told = zip(STEPS, curves.sufficiency, curves.comprehensiveness, strict=True)
    steps = tuple(f"{step}: {kept:+.2f} with these alone, {out:+.2f} without" for step, kept, out in told)
    return Way(title, left, taken, tuple(line.replace("-", "−") for line in steps))


def _maps(measured: Faithfulness, explanation: Explanation) -> Iterator[TwoMaps]:
    found = measured.adversary
    if found is None or not found.maps:
        return
    for own, other in zip(measured.maps, found.maps, strict=True):
        shape = len(own.weights), len(own.weights[0])
        words = edge_words(own.rows, own.columns, own.units, own.null, shape, explanation)
        yield TwoMaps(own.rows, own.columns, words, _short(own.weights), _short(other), _most((own.weights, other)))


def _short(weights: Matrix) -> Matrix:
    return compact(tuple(tuple(round(weight, 4) for weight in row) for row in weights))


def _most(maps: Sequence[Matrix]) -> float:
    return scale_end((weight for weights in maps for row in weights for weight in row), most=1.0)


PANEL = Panel(("belief",), "below")
