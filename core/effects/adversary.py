"""Attention as far as possible from the model's with nearly the same answer (Jain & Wallace 2019, section 4.2.2).

Where we differ: their constraint is a penalty in the loss; here the returned matrix satisfies it, as checked by a
separate forward pass, and several starting points are optimised at once.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence

import torch
from torch import Tensor

from core.effects.asked_pair import AskedPair
from core.effects.faithfulness import logits_under, own_maps
from core.effects.links import stacked
from core.effects.words import Progress, unheard
from core.evidence.faithfulness import LARGEST_CHANGE, Faithfulness
from core.evidence.faithfulness_numbers import Adversary, ShownMap
from core.evidence.matrix import matrix
from core.layers.attention import as_override
from core.models.intervention import AttentionLinks, Intervention

STARTS = 5
ITERATIONS = 100
SECONDS = 3.0
"""Limit on this thread's CPU time, unaffected by other processes."""
RATE = 0.3
PENALTY = 50.0
"""Weight in the loss of a change beyond :data:`LARGEST_CHANGE`."""
_LEAST = -30.0
"""A logit whose softmax weight is practically 0."""


def adversary(
    asked: AskedPair, *, seed: int = 0, seconds: float = SECONDS, progress: Progress = unheard
) -> Adversary | None:
    """Attention rows, a softmax of free logits over the cells the model can use, with the largest mean Jensen-Shannon
    divergence from the model's under a total variation of the class probabilities of at most :data:`LARGEST_CHANGE`;
    optimised by Adam from :data:`STARTS` starting points. None for models without maps of weights."""
    start = time.perf_counter()
    busy = time.thread_time()
    maps = own_maps(asked)
    if not maps or any(links.least is not None for links in maps):
        return None
    own = [links.values.clone() for links in maps]  # [R, C]
    usable = [_usable(links) for links in maps]
    target = torch.tensor(asked.explanation.probabilities)
    model, batch = asked.checkpoint.model, asked.checkpoint.reader.batch(asked.reading)
    batch = batch.cloned()
    logits = [one.requires_grad_() for one in _starts(own, usable, seed)]  # [STARTS, R, C] each
    optimizer = torch.optim.Adam(logits, lr=RATE)
    best, best_divergence = None, 0.0
    with torch.enable_grad():
        for step in range(ITERATIONS):
            weights = [_rows(*one) for one in zip(logits, maps, usable, strict=True)]
            rows = [as_override(start) for start in zip(*weights, strict=True)]
            override = stacked([model.lay_out(own_rows, asked.reading) for own_rows in rows])
            answers = torch.softmax(model.under(batch, Intervention(override)).logits, dim=1)  # [STARTS, C]
            changed = (answers - target).abs().sum(1) / 2
            apart = _divergence(weights, own)
            for number in range(STARTS):
                if changed[number] < 0.95 * LARGEST_CHANGE and apart[number] > best_divergence:
                    best_divergence = float(apart[number].detach())
                    best = [rows[number].detach().clone() for rows in weights]
            progress(step, ITERATIONS)
            if time.thread_time() - busy > seconds:
                break
            loss = (-apart + PENALTY * torch.relu(changed - 0.8 * LARGEST_CHANGE)).sum()
            for one, gradient in zip(logits, torch.autograd.grad(loss, logits), strict=True):
                one.grad = gradient
            optimizer.step()
    return _checked(asked, best, own, start)


def with_adversary(asked: AskedPair, measured: Faithfulness, seed: int, progress: Progress) -> Faithfulness:
    """``measured`` with the adversary's maps added, and the model's own for comparison."""
    own = [
        ShownMap(links.rows, links.columns, links.units, links.null, matrix(_flat(links.values)))
        for links in own_maps(asked)
    ]
    return measured.with_adversary(own, adversary(asked, seed=seed, progress=progress))


def _checked(asked: AskedPair, best: Sequence[Tensor] | None, own: Sequence[Tensor], start: float) -> Adversary:
    """The model's answer under the returned matrices alone."""
    probabilities = asked.explanation.probabilities
    none = Adversary((), 0.0, 0.0, probabilities, time.perf_counter() - start)
    if best is None:
        return none
    with torch.inference_mode():
        answer = torch.softmax(logits_under(asked, [best]).double(), dim=1)[0]
    changed = float((answer - torch.tensor(probabilities, dtype=torch.float64)).abs().sum() / 2)
    if changed > LARGEST_CHANGE:
        return none
    return Adversary(
        tuple(matrix(_flat(rows)) for rows in best),
        float(_divergence([rows[None] for rows in best], own)[0]),
        changed,
        tuple(answer.tolist()),
        time.perf_counter() - start,
    )


def _flat(values: Tensor) -> Tensor:
    """The map as a matrix; a single row becomes one."""
    return values.view(-1, values.shape[-1])


def _usable(links: AttentionLinks) -> Tensor:
    """Boolean mask of the cells the model can use, shaped like the map."""
    cells = torch.zeros(links.values.shape, dtype=torch.bool)
    for number, row in enumerate(cells.view(-1, cells.shape[-1])):
        for columns in links.softmaxes(number):
            row[columns] = True
    return cells


def _starts(own: Sequence[Tensor], usable: Sequence[Tensor], seed: int) -> list[Tensor]:
    """Initial logits: the model's own, uniform, the model's reversed, and random ones."""
    drawn = torch.Generator().manual_seed(seed)
    starts = []
    for weights, cells in zip(own, usable, strict=True):
        near = weights.clamp_min(1e-3).log() + 0.1 * torch.randn(weights.shape, generator=drawn)
        random = 3 * torch.randn(STARTS - 3, *weights.shape, generator=drawn)
        one = torch.cat([torch.stack([near, torch.zeros_like(weights), -4 * weights]), random])
        starts.append(one.masked_fill(~cells, _LEAST))
    return starts


def _rows(logits: Tensor, links: AttentionLinks, usable: Tensor) -> Tensor:
    """Weights ``[STARTS, *shape]``: one softmax over each set of columns that adds up to 1 in the model's own rows."""
    if links.reach:
        return torch.softmax(logits.masked_fill(~usable, _LEAST), dim=-1) * usable
    columns = itertools.pairwise([*links.blocks, logits.shape[-1]])
    return torch.cat([torch.softmax(logits[..., start:end], dim=-1) for start, end in columns], dim=-1)


def _divergence(weights: Sequence[Tensor], own: Sequence[Tensor]) -> Tensor:
    """Mean Jensen-Shannon divergence over all rows of all maps, ``[STARTS]``, in nats."""
    rows = []
    for ours, theirs in zip(weights, own, strict=True):
        middle = (ours + theirs) / 2
        apart = (_times_log(ours, middle) + _times_log(theirs.expand_as(ours), middle)) / 2
        rows.append(apart.sum(-1).view(len(ours), -1))
    return torch.cat(rows, dim=1).mean(1)


def _times_log(weights: Tensor, middle: Tensor) -> Tensor:
    """w log (w / m), defined as 0 where w is 0."""
    return weights * (weights.clamp_min(1e-12).log() - middle.clamp_min(1e-12).log())
