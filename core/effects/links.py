"""The effect of each link: what the verdict loses when a word may no longer look at another.

In a map of weights the cell becomes 0, and the rest of its row stays as it is or is divided by its sum; a row whose
whole weight was in that cell keeps 0. In a map of scores, where a choice or a pooling follows (phrases, ABCNN, AP-CNN),
the cell gets the least score that a match of this model can have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

import scipy.stats
import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.effects.words import Progress, unheard
from core.errors import MendableError
from core.evidence.effects import LinkEffects
from core.evidence.record import matrix
from core.layers.attention import Override
from core.models.base import AttentionLinks, Intervention
from core.reading.reader import Reading

MOST_LINKS = 12_000
"""Links of one map that are computed: more would take minutes."""
ROWS = 128
"""Links of one forward call."""


class LinksError(MendableError):
    """A model without links, or a map with too many; the message is one sentence with the remedy."""


class Taken(StrEnum):
    """What becomes of the rest of a row of weights when one of its cells becomes 0."""

    KEPT = "kept"
    RENORMALISED = "renormalised"


@torch.inference_mode()
def link_effects(
    checkpoint: Checkpoint, reading: Reading, target: int, taken: Taken, progress: Progress = unheard
) -> tuple[LinkEffects, ...]:
    """What every link of every attention map does, one map at a time.

    ``target``: the class that is followed; ``progress`` is called with the links done so far, of all maps. Raises
    LinksError for a model without attention and for a map of more than :data:`MOST_LINKS` cells.
    """
    model = checkpoint.model
    batch = reading.batch(checkpoint.reader)
    output = model(batch)
    before = torch.log_softmax(output.logits.double(), dim=1)[0, target]
    maps = model.links(reading, output)
    if not maps:
        raise LinksError(f"{checkpoint.name} has no attention whose links could be taken away; choose another model")
    done, whole, effects = 0, sum(links.values.numel() for links in maps), []
    for number, links in enumerate(maps):
        cells = links.values.numel()
        if cells > MOST_LINKS:
            raise LinksError(f"this map has {cells:,} links, more than {MOST_LINKS:,}: shorten the sentences")
        parts = []
        for rows in torch.split(torch.arange(cells), ROWS):
            overrides = [
                model.lay_out(_in_place(cut, number, len(maps)), reading) for cut in without(links, rows, taken)
            ]
            logits = model.under(batch, Intervention(stacked(overrides))).logits
            parts.append(before - torch.log_softmax(logits.double(), dim=1)[:, target])
            progress(done + int(rows[-1]) + 1, whole)
        done += cells
        of_map = torch.cat(parts).view(-1, links.values.shape[-1])
        effects.append(_record(links, of_map, taken))
    return tuple(effects)


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


def _in_place(cut: Tensor, number: int, maps: int) -> Override:
    """An override of one of several maps, which leaves the others as they are."""
    return cut if maps == 1 else tuple(cut if i == number else None for i in range(maps))


def stacked(overrides: Sequence[Override]) -> Override:
    """Overrides of a batch of 1 as one of a batch of many."""
    if isinstance(overrides[0], Tensor):
        return torch.cat([one for one in overrides if isinstance(one, Tensor)])
    return tuple(None if maps[0] is None else torch.cat(maps) for maps in zip(*overrides, strict=True))


def _record(links: AttentionLinks, effects: Tensor, taken: Taken) -> LinkEffects:
    before = links.values.view(effects.shape)
    tau = scipy.stats.kendalltau(before.flatten().numpy(), effects.abs().flatten().numpy()).statistic
    return LinkEffects(
        rows=links.rows,
        columns=links.columns,
        units=links.units,
        null=links.null,
        renormalised=links.least is None and taken is Taken.RENORMALISED,
        least=links.least,
        before=matrix(before),
        effects=matrix(effects),
        tau_b=None if math.isnan(tau) else float(tau),
    )
