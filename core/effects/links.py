"""The effect of each link: what the verdict loses when a word may no longer look at another.

In a map of weights the cell becomes 0, and the rest of its row stays as it is or is divided by its sum; a row whose
whole weight was in that cell keeps 0. In a map of scores, where a choice or a pooling follows (phrases, ABCNN, AP-CNN),
the cell gets the least score that a match of this model can have. A transformer's link is cut before the softmax, in
all heads and layers at once, so that the rest of its row adds up to 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

import scipy.stats
import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.effects.words import Progress, unheard
from core.errors import UserError
from core.evidence.effects import HEADS, LinkEffects
from core.evidence.record import matrix
from core.external.attention import Knockout
from core.layers.attention import Override, as_override
from core.models.base import AttentionLinks, Intervention
from core.reading.reader import Reading
from core.wording import counted

MOST_LINKS = 12_000
"""Links of one map that are computed: more would take minutes."""
ROWS = 128
"""Links of one forward call."""
ROWS_KNOCKED_OUT = 16
"""The same of a transformer."""
STRONGEST = 20
"""Links of largest weight in a transformer's map, the only ones cut by default: each costs a pass."""


class LinksError(UserError):
    """A model without links, or a map with too many; the message is one sentence with the remedy."""


class Taken(StrEnum):
    """What becomes of the rest of a row of weights when one of its cells becomes 0."""

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
    layer: int = 0,
) -> tuple[LinkEffects, ...]:
    """What every link of every attention map does, one map at a time; of a transformer the :data:`STRONGEST` of each
    map, unless ``every`` link is asked for, cut from a ``layer`` (from 0) on.

    ``target``: the class that is followed; ``progress`` is called with the links done so far, of all maps. Raises
    LinksError for a model without attention, for a map of more than :data:`MOST_LINKS` cells and for a layer that does
    not exist.
    """
    model, knockouts = checkpoint.model, checkpoint.model.knockouts
    batch = checkpoint.reader.batch(reading)
    before = model.supports(model(batch).logits.double())[0, target]
    maps, layers = removable_links(checkpoint, reading), knockouts.layers if knockouts else 1
    if not maps:
        raise LinksError(f"{checkpoint.name} has no attention whose links could be taken away; choose another model")
    if not 0 <= layer < layers:
        raise LinksError(f"{checkpoint.name} has {counted(layers, 'layer')}: choose one of them to cut from")
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
                intervention = knockouts.knocked_out(reading, batch, number, places, layer)
            else:
                cuts = without(links, some, taken)
                others = [[cut if i == number else None for i in range(len(maps))] for cut in cuts]
                overrides = [model.lay_out(as_override(one), reading) for one in others]
                intervention = Intervention(stacked(overrides))
            logits = model.under(batch, intervention).logits
            of_map[some] = before - model.supports(logits.double())[:, target]
            done += len(some)
            progress(done, whole)
        record = _record(links, of_map.view(-1, links.values.shape[-1]), taken)
        effects.append(replace(record, layer=layer, passes=len(cells)))
    return tuple(effects)


@torch.inference_mode()
def head_effects(checkpoint: Checkpoint, reading: Reading, target: int, progress: Progress = unheard) -> LinkEffects:
    """What each head of a transformer does, cut out whole: its output is 0. A pass a head; ``target`` and ``progress``
    as in :func:`link_effects`. Raises LinksError for a model without heads."""
    model = checkpoint.model
    if model.knockouts is None:
        raise LinksError(f"{checkpoint.name} has no heads that could be cut out; choose another model")
    batch = checkpoint.reader.batch(reading)
    shares = model.knockouts.heads_across(reading, batch)
    before = model.supports(model(batch).logits.double())[0, target]
    effects = torch.zeros_like(shares)
    for done, (layer, head) in enumerate(itertools.product(*map(range, shares.shape)), start=1):
        logits = model.under(batch, Intervention(knockout=Knockout(heads=((layer, head),)))).logits
        effects[layer, head] = before - model.supports(logits.double())[0, target]
        progress(done, shares.numel())
    links = AttentionLinks("layer", "head", shares, HEADS, knocked_out=True)
    return replace(_record(links, effects, Taken.KEPT), renormalised=False, passes=shares.numel())


def removable_links(checkpoint: Checkpoint, reading: Reading) -> tuple[AttentionLinks, ...]:
    """The attention maps of a pair whose links can be taken away, or cut of a transformer; none without attention."""
    model, batch = checkpoint.model, checkpoint.reader.batch(reading)
    return model.knockouts.cuttable(reading, batch) if model.knockouts else model.links(reading, model(batch))


def asked_for(links: AttentionLinks, every: bool) -> Tensor:
    """The numbers of the cells, of the flattened map, that are cut."""
    count = links.values.numel()
    if every or not links.knocked_out or count <= STRONGEST:
        return torch.arange(count)
    return links.values.flatten().topk(STRONGEST).indices


def without(links: AttentionLinks, cells: Tensor, taken: Taken) -> Tensor:
    """The map without each of some cells (numbers of the flattened map): ``[len(cells), *values.shape]``."""
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
    """Overrides of a batch of 1 as one of a batch of many."""
    if isinstance(overrides[0], Tensor):
        return torch.cat([one for one in overrides if isinstance(one, Tensor)])
    return tuple(None if maps[0] is None else torch.cat(maps) for maps in zip(*overrides, strict=True))


def _record(links: AttentionLinks, effects: Tensor, taken: Taken) -> LinkEffects:
    before = links.values.view(effects.shape)
    known = ~effects.isnan()
    tau = scipy.stats.kendalltau(before[known].numpy(), effects[known].abs().numpy()).statistic
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
