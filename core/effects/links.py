"""The effect of each link: the drop in the verdict when a word can no longer attend to another.

In a map of weights the cell is set to 0, and the rest of the row is unchanged or renormalised; a row whose only weight
was in that cell becomes 0. In a map of scores, followed by a selection or pooling (phrases, ABCNN, AP-CNN), the cell
gets the model's lowest possible match score. A transformer's link is ablated before the softmax, in all heads and
layers at once, so the rest of the row still adds up to 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.effects.words import Progress, unheard
from core.errors import UserError
from core.evidence.effects import HEADS, LinkEffects
from core.evidence.matrix import matrix
from core.layers.attention import Knockout, Override, as_override
from core.models.intervention import AttentionLinks, Intervention
from core.reading.reader import Reading

MOST_LINKS = 12_000
"""Largest map whose links are computed: more cells would take minutes."""
ROWS = 128
"""Links per forward call."""
ROWS_KNOCKED_OUT = 16
"""Links per forward call of a transformer."""
STRONGEST = 20
"""Number of links ablated by default in a transformer's map, those with the largest weights: each costs one pass."""


class LinksError(UserError):
    """The model has no links, or a map has too many; the message is one sentence with the remedy."""


class Taken(StrEnum):
    """How the rest of a row changes when one of its weights is set to 0."""

    KEPT = "kept"
    RENORMALISED = "renormalised"


@torch.inference_mode()
def link_effects(
    checkpoint: Checkpoint,
    reading: Reading,
    target: int,
    taken: Taken,
    progress: Progress = unheard,
    *,
    every: bool = False,
) -> tuple[LinkEffects, ...]:
    """The effect of every link of every attention map, one map at a time; for a transformer the :data:`STRONGEST` links
    per map, or ``every`` link.

    ``target``: the class whose probability is measured; ``progress`` receives the number of links done so far over all
    maps. Raises LinksError for a model without attention and for a map with more than :data:`MOST_LINKS` cells.
    """
    model, knockouts = checkpoint.model, checkpoint.model.knockouts
    batch = checkpoint.reader.batch(reading)
    before = model.answers.supports(model(batch).logits.double())[0, target]
    maps = removable_links(checkpoint, reading)
    if not maps:
        raise LinksError(f"{checkpoint.name} has no attention links to ablate; choose another model")
    asked = [asked_for(links, every) for links in maps]
    done, whole, effects = 0, sum(map(len, asked)), []
    most = checkpoint.rows_a_call(sum(len(side.text) for side in reading.texts()))
    for number, (links, cells) in enumerate(zip(maps, asked, strict=True)):
        if len(cells) > MOST_LINKS:
            raise LinksError(f"this map has {len(cells):,} links, more than {MOST_LINKS:,}: shorten the sentences")
        of_map = torch.full((links.values.numel(),), math.nan, dtype=torch.float64)
        for some in torch.split(cells, min(most, ROWS_KNOCKED_OUT if knockouts else ROWS)):
            if knockouts:
                width = links.values.shape[-1]
                places = [divmod(cell, width) for cell in some.tolist()]
                intervention = knockouts.knocked_out(reading, batch, number, places)
            else:
                cuts = without(links, some, taken)
                others = [[cut if i == number else None for i in range(len(maps))] for cut in cuts]
                overrides = [model.lay_out(as_override(one), reading) for one in others]
                intervention = Intervention(stacked(overrides))
            logits = model.under(batch, intervention).logits
            of_map[some] = before - model.answers.supports(logits.double())[:, target]
            done += len(some)
            progress(done, whole)
        record = _record(links, of_map.view(-1, links.values.shape[-1]), taken)
        effects.append(replace(record, passes=len(cells)))
    return tuple(effects)


@torch.inference_mode()
def head_effects(checkpoint: Checkpoint, reading: Reading, target: int, progress: Progress = unheard) -> LinkEffects:
    """The effect of each attention head of a transformer, ablated by setting its output to 0. One pass per head;
    ``target`` and ``progress`` as in :func:`link_effects`. Raises LinksError for a model without heads."""
    model = checkpoint.model
    if model.knockouts is None:
        raise LinksError(f"{checkpoint.name} has no attention heads to ablate; choose another model")
    batch = checkpoint.reader.batch(reading)
    shares = model.knockouts.heads_across(reading, batch)
    before = model.answers.supports(model(batch).logits.double())[0, target]
    effects = torch.zeros_like(shares)
    for done, (layer, head) in enumerate(itertools.product(*map(range, shares.shape)), start=1):
        logits = model.under(batch, Intervention(knockout=Knockout(heads=((layer, head),)))).logits
        effects[layer, head] = before - model.answers.supports(logits.double())[0, target]
        progress(done, shares.numel())
    links = AttentionLinks("layer", "head", shares, HEADS, knocked_out=True)
    return replace(_record(links, effects, Taken.KEPT), renormalised=False, passes=shares.numel())


def removable_links(checkpoint: Checkpoint, reading: Reading) -> tuple[AttentionLinks, ...]:
    """The attention maps of a pair whose links can be ablated; none without attention."""
    model, batch = checkpoint.model, checkpoint.reader.batch(reading)
    return model.knockouts.cuttable(reading, batch) if model.knockouts else model.links(reading, model(batch))


def asked_for(links: AttentionLinks, every: bool) -> Tensor:
    """Flat indices of the cells to ablate."""
    count = links.values.numel()
    if every or not links.knocked_out or count <= STRONGEST:
        return torch.arange(count)
    return links.values.flatten().topk(STRONGEST).indices


def without(links: AttentionLinks, cells: Tensor, taken: Taken) -> Tensor:
    """Copies of the map, each without one of the ``cells`` (flat indices): ``[len(cells), *values.shape]``."""
    width = links.values.shape[-1]
    cut = links.values.reshape(1, -1, width).repeat(len(cells), 1, 1)
    for row_number, cell in enumerate(cells.tolist()):
        row, column = divmod(cell, width)
        weights = cut[row_number, row]
        weights[column] = 0.0 if links.least is None else links.least
        if links.least is None and taken is Taken.RENORMALISED:
            for columns in links.softmaxes(row):
                left = weights[columns].sum()
                if left > 0:
                    weights[columns] *= links.values.view(-1, width)[row, columns].sum() / left
    return cut.view(len(cells), *links.values.shape)


def stacked(overrides: Sequence[Override]) -> Override:
    """Stacks overrides for a batch of 1 into one override for a larger batch."""
    if isinstance(overrides[0], Tensor):
        return torch.cat([one for one in overrides if isinstance(one, Tensor)])
    return tuple(None if maps[0] is None else torch.cat(maps) for maps in zip(*overrides, strict=True))


def _record(links: AttentionLinks, effects: Tensor, taken: Taken) -> LinkEffects:
    from scipy.stats import kendalltau  # type: ignore[import-untyped]  # here, so that Explore starts without it

    before = links.values.view(effects.shape)
    known = ~effects.isnan()
    tau = kendalltau(before[known].numpy(), effects[known].abs().numpy()).statistic
    return LinkEffects(
        rows=links.rows,
        columns=links.columns,
        units=links.units,
        null=links.null,
        renormalised=links.least is None and (links.knocked_out or taken is Taken.RENORMALISED),
        least=links.least,
        before=matrix(before),
        effects=tuple(tuple(None if math.isnan(one) else one for one in row) for row in effects.tolist()),
        tau_b=None if math.isnan(tau) else float(tau),
    )
