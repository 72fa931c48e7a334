"""A word nudged: its vector moved a little, the way that costs the verdict most.

The step follows the gradient of log p of the verdict (the fast gradient method of Goodfellow et al. 2015 and Miyato et
al. 2017, on one word); its length is :data:`STEP` times the mean length of its text's vectors. The model then reads the
moved vector. This ranks words even where replacing any of them changes the verdict, as in most entailed pairs.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.external.checkpoint import ExternalCheckpoint
from core.reading.batch import Batch, Side
from core.reading.reader import Reading

STEP = 0.35
"""Chosen with the weights of the ways, by `python -m trainers point … --choose`."""
ROWS = 64
"""Texts of one call."""


def can_nudge(checkpoint: Checkpoint) -> bool:
    """Whether a model reads words by vectors that can be moved: an external model reads pieces of them."""
    return checkpoint.model.differentiable and not isinstance(checkpoint, ExternalCheckpoint)


def nudged(
    checkpoint: Checkpoint, reading: Reading, target: int, words: Sequence[Sequence[int]], step: float = STEP
) -> Tensor:
    """log p of every class, float64 ``[N, C]``, after nudging each list of words together, with a separate step for
    each word and none where the gradient is 0. Words are numbered as in :func:`core.effects.words.places`; ``target``:
    the class whose log p the steps lower. Linguistic features are held fixed. The model must satisfy
    :func:`can_nudge`."""
    vectors, owners = _vectors(checkpoint, reading)
    log_p = functools.partial(_log_p, checkpoint, reading)
    with torch.enable_grad():
        inputs = [of_text.requires_grad_() for of_text in vectors]
        slope = log_p(inputs)[:, target].sum()
        # A model that reads one side alone has gradients of 0 on the other.
        gradients = torch.autograd.grad(slope + sum(0 * of_text.sum() for of_text in inputs), inputs)
    with torch.inference_mode():
        steps = [
            step * of_text.detach().norm(dim=2).mean() * torch.nn.functional.normalize(gradient[0], dim=1)
            for gradient, of_text in zip(gradients, inputs, strict=True)
        ]
        parts = []
        for start in range(0, len(words), ROWS):
            some = words[start : start + ROWS]
            rows = []
            for of_text, of_step, own in zip(inputs, steps, owners, strict=True):
                moves = torch.stack([torch.isin(own, torch.tensor(list(numbers))) for numbers in some])  # [B, T]
                rows.append(of_text.detach() - moves[..., None] * of_step[None])
            parts.append(log_p(rows).double())
        return torch.cat(parts)


def _vectors(checkpoint: Checkpoint, reading: Reading) -> tuple[list[Tensor], list[Tensor]]:
    """The vectors of each text ``[1, T, D]``, and the number of each one's word ``[T]``."""
    sides = (reading.first, *reading.contexts)
    # Clones: vectors made in inference mode have no gradient.
    vectors = [checkpoint.reader.vectors(side.norms).clone()[None] for side in sides]
    numbers = torch.arange(sum(len(side.tokens) for side in sides))
    return vectors, list(torch.split(numbers, [len(side.tokens) for side in sides]))


def _log_p(checkpoint: Checkpoint, reading: Reading, texts: Sequence[Tensor]) -> Tensor:
    """``[B, C]`` of vectors of each text ``[B, T, D]``."""
    rows = [Side(words, torch.ones(words.shape[:2], dtype=torch.bool)) for words in texts]
    extra = None if reading.extra is None else torch.tensor([reading.extra]).expand(len(texts[0]), -1)
    output = checkpoint.model(Batch(rows[0], tuple(rows[1:]), reading.judged, extra))
    return checkpoint.model.supports(output.logits)
