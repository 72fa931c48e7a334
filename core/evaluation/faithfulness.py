"""How far a picture of a verdict can be believed: erasing what a way names, and moving what attention shows.

- Sufficiency and comprehensiveness (DeYoung et al. 2020, ERASER, section 4): what the verdict's probability loses when
  only the words that a way ranks first are left, and when just these are taken out.
- Permuted and uniform attention (Jain & Wallace 2019, section 4.2.1), all maps at once.
- The adversary (the same, section 4.2.2): attention as far as possible from the model's with nearly the same answer.

Where we differ from ERASER: words of both texts are ranked together, and each text keeps at least its first-ranked
word, because a model of pairs has no answer to half a pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.effects import gradients
from core.effects.links import Taken, link_effects, stacked
from core.effects.why import MIX, Asked
from core.effects.words import DRAWING, TAKEN_AWAY, Drawing, Place, Sides, places
from core.evaluation.pointing import LEAST_ATTENDED, MOST_ATTENDED, attention_received
from core.evaluation.predict import predict
from core.layers.attention import Override
from core.models.base import AttentionLinks, Intervention

RANDOM = "random"
STEPS = ("1", "2", "3", "20 %", "50 %")
"""How many of the first-ranked words are kept or taken out; shares are rounded up."""
ORDERS = 20
"""Random orders whose mean stands beside every way."""
PERMUTATIONS = 100
WAYS = (TAKEN_AWAY, *MIX, *gradients.METHODS, MOST_ATTENDED, LEAST_ATTENDED)


@dataclass(frozen=True)
class Curves:
    """Of one way, a number for each of :data:`STEPS`: p(full) - p(kept alone), and p(full) - p(rest), of the verdict's
    class. A good way has small numbers in the first and large ones in the second."""

    sufficiency: tuple[float, ...]
    comprehensiveness: tuple[float, ...]

    @property
    def aopc(self) -> tuple[float, float]:
        """The mean of each: the area over the perturbation curve (Nguyen 2018)."""
        return float(np.mean(self.sufficiency)), float(np.mean(self.comprehensiveness))


@dataclass(frozen=True)
class Moved:
    """What the verdict does when attention is moved; of scores, where a choice follows, this does not apply."""

    permutations: int
    changed: int
    """Permutations in which the verdict is another."""
    total_variation: float
    """Of the class probabilities, mean over the permutations."""
    uniform: tuple[float, ...]
    """Class probabilities under uniform attention."""


@dataclass(frozen=True)
class Faithfulness:
    """All of it for one pair."""

    model: str
    labels: tuple[str, ...]
    verdict: str
    probabilities: tuple[float, ...]
    curves: dict[str, Curves]
    """By way, with the mean of random orders as ``random``."""
    moved: Moved | None
    tau_b: tuple[float | None, ...]
    """Kendall's τ-b between weight and size of the effect, one an attention map."""
    named: tuple[int, int] | None
    """Of the words with the largest effect (three, or all), how many are among as many most attended ones."""

    @property
    def sentence(self) -> str:
        """What it comes to."""
        parts = []
        if self.moved is not None:
            of = self.moved.permutations
            parts.append(
                f"moving this model's attention changes its verdict in {self.moved.changed} of {of} permutations"
            )
        if self.named is not None:
            parts.append(f"its attention names {self.named[0]} of the {self.named[1]} words with the largest effect")
        if not parts and self.tau_b:
            return "Its attention is scores that a choice follows, so moving it does not apply."
        if not parts:
            return "This model has no attention that could be moved."
        text = "; ".join(parts)
        return f"{text[0].upper()}{text[1:]}."


def faithfulness(
    checkpoint: Checkpoint,
    first: str,
    second: str = "",
    *,
    ways: Sequence[str] = WAYS,
    drawing: Drawing = DRAWING,
    seed: int = 0,
    progress: Callable[[int], None] = lambda rows: None,
) -> Faithfulness:
    """How far each way can be believed on one pair. ``progress`` is called now and then; what it raises ends the work.
    Raises PairError as :func:`core.explain.explain` does."""
    asked = Asked.about(checkpoint, first, second, drawing)
    values = values_of(asked, ways, progress)
    orders = {way: np.argsort(-np.array(numbers), kind="stable").tolist() for way, numbers in values.items()}
    maps = own_maps(asked)
    cut, told = Taken.RENORMALISED, lambda done, of: progress(done)
    effects = link_effects(checkpoint, asked.reading, asked.target, cut, told) if maps else ()
    return Faithfulness(
        model=checkpoint.name,
        labels=checkpoint.labels,
        verdict=checkpoint.labels[asked.target],
        probabilities=asked.explanation.probabilities,
        curves=erase(asked, orders, seed, progress),
        moved=moved(asked, maps, seed) if maps and all(links.least is None for links in maps) else None,
        tau_b=tuple(links.tau_b for links in effects),
        named=_named(orders.get(TAKEN_AWAY), orders.get(MOST_ATTENDED)),
    )


def values_of(
    asked: Asked, ways: Sequence[str], progress: Callable[[int], None] = lambda rows: None
) -> dict[str, list[float]]:
    """By way, a number for every word of both texts: the larger, the earlier it is ranked. Ways that read attention are
    left out where no map has these words as columns."""
    values: dict[str, list[float]] = {}
    if {TAKEN_AWAY, *MIX} & {*ways}:
        words = asked.word_effects(MIX, lambda done, of: progress(done))
        values[TAKEN_AWAY] = [_or_least(word.effect) for word in words]
        values |= {way: [_or_least(word.by_way.get(way)) for word in words] for way in MIX}
    for way in gradients.METHODS:
        if way in ways:
            effects, _ = gradients.word_effects(asked.checkpoint, asked.reading, asked.target, way)
            values[way] = [_or_least(word.effect) for word in effects]
    received = [attention_received(asked, side.role) for side in asked.pair.sides]
    if any(received):
        # A text that no map looks into is ranked last, whichever way round.
        both = [
            weights or [float("nan")] * len(side.tokens)
            for side, weights in zip(asked.pair.sides, received, strict=True)
        ]
        flat = np.concatenate(both)
        values[MOST_ATTENDED] = np.nan_to_num(flat, nan=-np.inf).tolist()
        values[LEAST_ATTENDED] = np.nan_to_num(-flat, nan=-np.inf).tolist()
    return {way: values[way] for way in ways if way in values}


def erase(
    asked: Asked, orders: Mapping[str, Sequence[int]], seed: int, progress: Callable[[int], None] = lambda rows: None
) -> dict[str, Curves]:
    """The curves of some orders of all words (numbers of :func:`core.effects.words.places`), first-ranked first, and
    the mean of :data:`ORDERS` random ones."""
    drawn = np.random.default_rng(seed)
    count = len(places(asked.pair.sides))
    asked_for = [*orders.values(), *(drawn.permutation(count).tolist() for _ in range(ORDERS))]
    rows = [sides for order in asked_for for step in STEPS for sides in erased(asked.pair.sides, order, step)]
    logits = predict(asked.checkpoint, (asked.checkpoint.reading(sides) for sides in rows), progress=progress)
    after = torch.softmax(logits.double(), dim=1)[:, asked.target].numpy().reshape(len(asked_for), len(STEPS), 2)
    lost = asked.explanation.probabilities[asked.target] - after
    curves = {way: Curves(*map(tuple, lost[i].T.tolist())) for i, way in enumerate(orders)}
    curves[RANDOM] = Curves(*map(tuple, lost[len(orders) :].mean(0).T.tolist()))
    return curves


def erased(sides: Sides, order: Sequence[int], step: str) -> tuple[Sides, Sides]:
    """The first-ranked words alone, and the rest without them; each text keeps at least its first-ranked word."""
    at = places(sides)
    ranked = [at[number] for number in order]
    count = math.ceil(len(at) * int(step.split()[0]) / 100) if "%" in step else min(int(step), len(at))
    first_of = [next(place for place in ranked if place.side == side) for side in range(len(sides))]
    named = set(ranked[:count])
    rest = set(at) - named
    return _only(sides, named | _missing(first_of, named)), _only(sides, rest | _missing(first_of, rest))


def _missing(first_of: Sequence[Place], chosen: set[Place]) -> set[Place]:
    """The first-ranked words of the texts that have none among the chosen."""
    return {place for place in first_of if not any(other.side == place.side for other in chosen)}


def _only(sides: Sides, chosen: set[Place]) -> Sides:
    return tuple(
        replace(side, tokens=tuple(token for i, token in enumerate(side.tokens) if Place(number, i) in chosen))
        for number, side in enumerate(sides)
    )


@torch.inference_mode()
def own_maps(asked: Asked) -> tuple[AttentionLinks, ...]:
    """The attention maps of the model's answer."""
    model = asked.checkpoint.model
    return model.links(asked.reading, model(asked.reading.batch(asked.checkpoint.reader)))


@torch.inference_mode()
def moved(asked: Asked, maps: Sequence[AttentionLinks], seed: int) -> Moved:
    """All maps permuted at once, row by row over the cells that the model could use, and made uniform."""
    drawn = torch.Generator().manual_seed(seed)
    permuted = [[_permuted(links, drawn) for links in maps] for _ in range(PERMUTATIONS)]
    rows = [*permuted, [uniform(links) for links in maps]]
    probabilities = torch.softmax(logits_under(asked, rows).double(), dim=1)
    own = torch.tensor(asked.explanation.probabilities, dtype=torch.float64)
    of_permuted = probabilities[:-1]
    return Moved(
        PERMUTATIONS,
        int((of_permuted.argmax(1) != own.argmax()).sum()),
        float((of_permuted - own).abs().sum(1).mean() / 2),
        tuple(probabilities[-1].tolist()),
    )


def logits_under(asked: Asked, rows: Sequence[Sequence[Tensor]]) -> Tensor:
    """Logits ``[B, C]`` of the pair with other attention, each row all maps."""
    model = asked.checkpoint.model
    overrides: list[Override] = [
        model.lay_out(maps[0] if len(maps) == 1 else tuple(maps), asked.reading) for maps in rows
    ]
    logits: Tensor = model.under(asked.reading.batch(asked.checkpoint.reader), Intervention(stacked(overrides))).logits
    return logits


def uniform(links: AttentionLinks) -> Tensor:
    """The same weight on every cell that the model could use, each softmax with its own sum."""
    out = torch.zeros_like(links.values)
    for number, (row, own) in enumerate(zip(_rows(out), _rows(links.values), strict=True)):
        for columns in links.softmaxes(number):
            row[columns] = own[columns].mean()
    return out


def _permuted(links: AttentionLinks, drawn: torch.Generator) -> Tensor:
    out = links.values.clone()
    for number, row in enumerate(_rows(out)):
        for columns in links.softmaxes(number):
            row[columns] = row[columns][torch.randperm(len(row[columns]), generator=drawn)]
    return out


def _rows(values: Tensor) -> Tensor:
    return values.view(-1, values.shape[-1])


def _named(by_effect: Sequence[int] | None, by_attention: Sequence[int] | None) -> tuple[int, int] | None:
    if by_effect is None or by_attention is None:
        return None
    count = min(3, len(by_effect))
    return len({*by_effect[:count]} & {*by_attention[:count]}), count


def _or_least(value: float | None) -> float:
    return float("-inf") if value is None else value
