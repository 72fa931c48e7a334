"""How faithful the explanations of a verdict are: erasing the words a method names, and changing attention.

- Sufficiency and comprehensiveness (DeYoung et al. 2020, ERASER, section 4): the drop in the verdict's probability when
  only a method's top-ranked words are kept, and when just these are removed.
- Permuted and uniform attention (Jain & Wallace 2019, section 4.2.1), changing all maps at once.
- The adversary (section 4.2.2 of the same paper): attention far from the model's with nearly the same answer.

Where we differ from ERASER: words of both texts are ranked together, and each text keeps at least its top-ranked word,
because a pair model cannot read half a pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from core.effects.asked_pair import AskedPair
from core.effects.links import Taken, link_effects, stacked
from core.effects.methods import MEASURED
from core.effects.methods.method import word_values
from core.effects.words import MOST_ATTENDED, TAKEN_AWAY, Place, Progress, Sides, part, places, unheard
from core.evaluation.faithfulness_table import moved_elsewhere
from core.evaluation.predict import predict
from core.evidence.faithfulness import RANDOM, STEPS, Faithfulness
from core.evidence.faithfulness_numbers import Curves, Moved
from core.layers.attention import as_override
from core.models.intervention import AttentionLinks, Intervention
from core.reading.reader import Reading

ORDERS = 20
"""Number of random orders; their mean is the baseline of every method."""
PERMUTATIONS = 100


def faithfulness(
    asked: AskedPair, methods: Iterable[str] = MEASURED, *, seed: int = 0, progress: Progress = unheard
) -> Faithfulness:
    """Faithfulness of each method on one pair. Exceptions raised by ``progress`` cancel the work."""
    checkpoint = asked.checkpoint
    values, passes = word_values(asked, [MEASURED[method] for method in methods], progress=part(progress, 0, 3))
    orders = {method: np.argsort(-np.array(numbers), kind="stable").tolist() for method, numbers in values.items()}
    maps = own_maps(asked)
    cutting = part(progress, 1, 3)
    effects = link_effects(checkpoint, asked.reading, asked.target, Taken.RENORMALISED, cutting) if maps else ()
    shaken = moved(asked, maps, seed) if maps and all(links.least is None for links in maps) else None
    curves, read = erase(asked, orders, seed, part(progress, 2, 3))
    passes += read + sum(links.passes for links in effects)
    return Faithfulness(
        model=checkpoint.name,
        labels=checkpoint.labels,
        verdict=checkpoint.labels[asked.target],
        names=asked.explanation.class_names,
        probabilities=asked.explanation.probabilities,
        curves=curves,
        titles={
            method: MEASURED[method].ranking or MEASURED[method].title for method in values if MEASURED[method].title
        },
        moved=shaken,
        tau_b=tuple(links.tau_b for links in effects),
        named=_named(orders.get(TAKEN_AWAY), orders.get(MOST_ATTENDED)),
        elsewhere=moved_elsewhere(checkpoint.card.get("faithfulness", {}), checkpoint.labels[asked.target]),
        passes=1 + passes + (PERMUTATIONS + 1) * (shaken is not None),
    )


def erase(
    asked: AskedPair, orders: Mapping[str, Sequence[int]], seed: int, progress: Progress = unheard
) -> tuple[dict[str, Curves], int]:
    """The curves of the given orders of all words (indices into :func:`core.effects.words.places`, top-ranked first),
    the mean curve of :data:`ORDERS` random orders, and the number of texts read."""
    drawn = np.random.default_rng(seed)
    count = len(places(asked.sides))
    asked_for = [*orders.values(), *(drawn.permutation(count).tolist() for _ in range(ORDERS))]
    left = [sides for order in asked_for for step in STEPS for sides in erased(asked.sides, order, step)]
    # Orders often begin with the same words: each remaining text is read only once.
    rows = {sides: number for number, sides in enumerate(dict.fromkeys(left))}

    def readings() -> Iterator[Reading]:
        # With linguistic features, this loop takes most of the time.
        for number, sides in enumerate(rows, start=1):
            yield asked.checkpoint.reading(sides)
            progress(number, 2 * len(rows))

    logits = predict(asked.checkpoint, readings(), progress=lambda done: progress(len(rows) + done, 2 * len(rows)))
    chances = asked.checkpoint.model.answers.chances(logits)[:, asked.target].numpy()
    after = chances[[rows[sides] for sides in left]].reshape(len(asked_for), len(STEPS), 2)
    lost = asked.explanation.probabilities[asked.target] - after
    curves = {method: Curves(*map(tuple, lost[i].T.tolist())) for i, method in enumerate(orders)}
    curves[RANDOM] = Curves(*map(tuple, lost[len(orders) :].mean(0).T.tolist()))
    return curves, len(rows)


def erased(sides: Sides, order: Sequence[int], step: str) -> tuple[Sides, Sides]:
    """The top-ranked words alone, and the remaining words; each text keeps at least its top-ranked word."""
    at = places(sides)
    ranked = [at[number] for number in order]
    count = math.ceil(len(at) * int(step.split()[0]) / 100) if "%" in step else min(int(step), len(at))
    first_of = [next(place for place in ranked if place.side == side) for side in range(len(sides))]
    named = set(ranked[:count])
    rest = set(at) - named
    return _only(sides, named | _missing(first_of, named)), _only(sides, rest | _missing(first_of, rest))


def _missing(first_of: Sequence[Place], chosen: set[Place]) -> set[Place]:
    """The top-ranked words of the texts that have none among the chosen."""
    return {place for place in first_of if not any(other.side == place.side for other in chosen)}


def _only(sides: Sides, chosen: set[Place]) -> Sides:
    return tuple(
        replace(side, tokens=tuple(token for i, token in enumerate(side.tokens) if Place(number, i) in chosen))
        for number, side in enumerate(sides)
    )


@torch.inference_mode()
def own_maps(asked: AskedPair) -> tuple[AttentionLinks, ...]:
    """The attention maps behind the model's answer."""
    model = asked.checkpoint.model
    return model.links(asked.reading, model(asked.checkpoint.reader.batch(asked.reading)))


@torch.inference_mode()
def moved(asked: AskedPair, maps: Sequence[AttentionLinks], seed: int) -> Moved:
    """Permutes all maps at once, row by row over the cells the model can use, and makes them uniform."""
    permuted = permutations(maps, seed)
    rows = [*permuted, [uniform(links) for links in maps]]
    probabilities = asked.checkpoint.model.answers.chances(logits_under(asked, rows))
    own = torch.tensor(asked.explanation.probabilities, dtype=torch.float64)
    of_permuted = probabilities[:-1]
    return Moved(
        PERMUTATIONS,
        int((of_permuted.argmax(1) != own.argmax()).sum()),
        float((of_permuted - own).abs().sum(1).mean() / 2),
        tuple(probabilities[-1].tolist()),
        tuple(of_permuted.mean(0).tolist()),
    )


def permutations(maps: Sequence[AttentionLinks], seed: int) -> list[list[Tensor]]:
    """:data:`PERMUTATIONS` random permutations of all maps: each shuffles a row's weights among the cells the model can
    use."""
    drawn = torch.Generator().manual_seed(seed)
    return [[_permuted(links, drawn) for links in maps] for _ in range(PERMUTATIONS)]


def logits_under(asked: AskedPair, rows: Sequence[Sequence[Tensor]]) -> Tensor:
    """Logits ``[B, C]`` of the pair under other attention; each row holds all maps."""
    model = asked.checkpoint.model
    override = stacked([model.lay_out(as_override(maps), asked.reading) for maps in rows])
    return model.under(asked.checkpoint.reader.batch(asked.reading), Intervention(override)).logits


def uniform(links: AttentionLinks) -> Tensor:
    """Equal weights on all cells the model can use; each softmax keeps its own sum."""
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
