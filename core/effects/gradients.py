"""Effects from the gradient of log p(verdict) with respect to the word vectors: the default in other tools, for
comparison; and nudging words along it, a part of our default method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.effects.words import Attribution
from core.evidence.effects import WordEffect, complete
from core.external.base import blaming
from core.external.pieces import Pieces
from core.reading.batch import Batch, Side
from core.reading.reader import Reading, ReadText

NORM, INTEGRATED = "gradient-norm", "integrated-gradients"
BASELINE = 1e-3
"""Norm of the baseline vectors for integrated gradients, relative to the pair's own. Not 0: a model that normalises
vectors (two-sided) is discontinuous there, and a jump has no gradient to integrate."""
STEPS, MORE_STEPS = 50, 200
"""Points on the path of integrated gradients (Gauss-Legendre), and for a second attempt if effects do not add up."""
ROWS = 16
"""Rows per forward call of a transformer."""
STEP = 0.35
"""Length of a nudge, relative to the mean norm of its text's vectors."""
AT_ONCE = 1024
"""Word vectors per forward call of a model of words, on the longest side: 64 texts of 150 words took 300 MB."""

LogP = Callable[..., Tensor]
"""``[B]`` from each text's vectors ``[B, T, D]``."""


def word_effects(checkpoint: Checkpoint, reading: Reading, target: int, method: str) -> Attribution:
    """Effects of every word by :data:`NORM` or :data:`INTEGRATED`. Linguistic features are held fixed, as they have no
    gradient with respect to word vectors. In an external model a word's effect is the sum over its subword embeddings,
    before positions are added; its norm is taken over their concatenated gradients."""
    batch = checkpoint.reader.batch(reading)
    if isinstance(batch, Pieces):
        inputs = _of_pieces(checkpoint, reading, target, batch)
    else:
        inputs = _of_words(checkpoint, reading, target, batch, fixed=method == INTEGRATED)
    tokens = [(side.role, token.text) for side in inputs.sides for token in side.tokens]
    of_word = [(own[None] == torch.arange(len(tokens))[:, None]).to(inputs.vectors[0]) for own in inputs.owners]
    completeness, count = None, passes(method)
    with inputs.guard:
        if method == INTEGRATED:
            values, completeness, count = _integrated(inputs.log_p, inputs.vectors, of_word, inputs.rows)
        else:
            slopes = _gradients(inputs.log_p, inputs.vectors)
            values = _added_up(of_word, [slope[0].square().sum(1) for slope in slopes]).sqrt()
    numbers = dict.fromkeys((role for role, _ in tokens), 0)
    effects = []
    for (role, text), value in zip(tokens, values.tolist(), strict=True):
        effects.append(WordEffect(role, numbers[role], text, value))
        numbers[role] += 1
    return Attribution(tuple(effects), completeness, count)


class _Inputs(NamedTuple):
    """A pair as vectors: its ``sides`` in the order of their words, the ``vectors`` of each ``[1, T, D]``, the index of
    the word that each belongs to (``owners``, ``[T]``), log p as a function of the vectors, the number of ``rows`` per
    forward call, and a context for these calls."""

    sides: Sequence[ReadText]
    vectors: Sequence[Tensor]
    owners: Sequence[Tensor]
    log_p: LogP
    rows: int
    guard: AbstractContextManager[object] = nullcontext()


def _of_pieces(checkpoint: Checkpoint, reading: Reading, target: int, batch: Pieces) -> _Inputs:
    """For a transformer, all rows at once would take gigabytes."""
    model: Any = checkpoint.model
    with blaming(checkpoint.name):
        vectors, log_p = model.by_vectors(batch, target)
    return _Inputs(reading.texts(), [vectors], [batch.owners[0]], log_p, ROWS, blaming(checkpoint.name))


def _of_words(checkpoint: Checkpoint, reading: Reading, target: int, batch: Batch, *, fixed: bool) -> _Inputs:
    """``fixed``: hold the model's hard choices."""
    vectors, owners = _vectors(checkpoint, reading)
    choices = _choices(checkpoint, batch) if fixed else {}
    sides = reading.first, *reading.contexts

    def log_p(*given: Tensor) -> Tensor:
        return _log_p(checkpoint, reading, given, choices)[:, target]

    return _Inputs(sides, vectors, owners, log_p, _at_once(vectors))


def _at_once(vectors: Sequence[Tensor]) -> int:
    """The number of rows per forward call, from the vectors of each text ``[1, T, D]``."""
    return max(1, AT_ONCE // max(of_text.shape[1] for of_text in vectors))


def passes(method: str) -> int:
    """Forward passes taken by one of the two methods, if no second attempt is needed."""
    return STEPS + 2 if method == INTEGRATED else 1


def _choices(checkpoint: Checkpoint, batch: Batch) -> dict[str, Tensor]:
    """The model's hard choices for this pair (:meth:`core.models.base.PairModel.choices`), kept fixed along the path of
    integrated gradients because log p jumps where a choice changes."""
    with torch.inference_mode():
        chosen = checkpoint.model.choices(checkpoint.model(batch))
    return {name: values.clone() for name, values in chosen.items()}


def _vectors(checkpoint: Checkpoint, reading: Reading) -> tuple[list[Tensor], list[Tensor]]:
    """The vectors of each text ``[1, T, D]``, and the index of the word each belongs to, ``[T]``."""
    sides = (reading.first, *reading.contexts)
    # Cloned: vectors created in inference mode cannot require gradients.
    vectors = [checkpoint.reader.vectors(side.norms).clone()[None] for side in sides]
    numbers = torch.arange(sum(len(side.tokens) for side in sides))
    return vectors, list(torch.split(numbers, [len(side.tokens) for side in sides]))


def _log_p(checkpoint: Checkpoint, reading: Reading, given: Sequence[Tensor], choices: Mapping[str, Tensor]) -> Tensor:
    """log p of every class ``[B, C]``, from the vectors of each text ``[B, T, D]``."""
    count = len(given[0])
    rows = [Side(words, torch.ones(words.shape[:2], dtype=torch.bool)) for words in given]
    extra = None if reading.extra is None else torch.tensor([reading.extra]).expand(count, -1)
    held = {name: values.expand(count, *values.shape[1:]) for name, values in choices.items()}
    output = checkpoint.model(Batch(rows[0], tuple(rows[1:]), reading.judged, extra), **held)
    # Gives the side that a one-sided model does not read a gradient of 0.
    unused = sum(0 * words.sum((1, 2)) for words in given)
    return checkpoint.model.answers.supports(output.logits) + unused[:, None]  # type: ignore[index]


def _gradients(log_p: LogP, vectors: Sequence[Tensor]) -> list[Tensor]:
    with torch.enable_grad():
        inputs = [words.requires_grad_() for words in vectors]
        return list(torch.autograd.grad(log_p(*inputs).sum(), inputs))


def _added_up(of_word: Sequence[Tensor], by_place: Sequence[Tensor]) -> Tensor:
    """``[words]``"""
    return torch.stack([own @ values for own, values in zip(of_word, by_place, strict=True)]).sum(0)


def _integrated(
    log_p: LogP, vectors: Sequence[Tensor], of_word: Sequence[Tensor], rows: int
) -> tuple[Tensor, tuple[float, float], int]:
    """Effects of each word, their completeness and the number of passes: Sundararajan et al. 2017, equation 1, by
    Gauss-Legendre quadrature as in Captum, along the straight line from :data:`BASELINE` times the vectors. Special
    tokens ([CLS]) stay fixed. Captum itself would import matplotlib, which adds half a minute for a server's first
    visitor."""
    ends = [words.detach() for words in vectors]
    starts = [words * (1 - (1 - BASELINE) * own.sum(0)[:, None]) for words, own in zip(ends, of_word, strict=True)]
    with torch.no_grad():
        difference = float(log_p(*ends) - log_p(*starts))
    count = 2
    for steps in (STEPS, MORE_STEPS):
        places, shares = np.polynomial.legendre.leggauss(steps)
        along = torch.tensor((places + 1) / 2, dtype=torch.float32)[:, None, None]
        weights = torch.tensor(shares / 2, dtype=torch.float32)[:, None, None]
        parts = [
            _gradients(log_p, [start + some * (end - start) for start, end in zip(starts, ends, strict=True)])
            for some in torch.split(along, rows)
        ]
        slopes = [torch.cat(of_text) for of_text in zip(*parts, strict=True)]
        means = [(weights * slope).sum(0) for slope in slopes]
        moves = [(end - start)[0] for start, end in zip(starts, ends, strict=True)]
        values = _added_up(of_word, [(mean * move).sum(1) for mean, move in zip(means, moves, strict=True)])
        completeness = float(values.sum()), difference
        count += steps
        if complete(completeness):
            break
    return values, completeness, count


def can_nudge(checkpoint: Checkpoint) -> bool:
    """Whether a model's word vectors can be nudged."""
    return checkpoint.model.differentiable and checkpoint.of_vectors


def nudged(checkpoint: Checkpoint, reading: Reading, target: int, words: Sequence[int], step: float = STEP) -> Tensor:
    """log p of every class, float64 ``[N, C]``, after nudging each of these words (indices into
    :func:`core.effects.words.places`): a small step of its vector in the direction that lowers the class ``target``
    most (the fast gradient method of Goodfellow et al. 2015 and Miyato et al. 2017, for one word), none if the gradient
    is 0. This ranks words even if replacing any of them changes the verdict, as in most entailed pairs. Linguistic
    features are held fixed. The model must satisfy :func:`can_nudge`."""
    vectors, owners = _vectors(checkpoint, reading)
    slopes = _gradients(lambda *given: _log_p(checkpoint, reading, given, {})[:, target], vectors)
    with torch.inference_mode():
        steps = [
            step * of_text.detach().norm(dim=2).mean() * torch.nn.functional.normalize(slope[0], dim=1)
            for slope, of_text in zip(slopes, vectors, strict=True)
        ]
        parts = []
        for some in torch.split(torch.tensor(words), _at_once(vectors)):
            rows = [
                of_text.detach() - (own[None] == some[:, None])[..., None] * of_step[None]
                for of_text, of_step, own in zip(vectors, steps, owners, strict=True)
            ]
            parts.append(_log_p(checkpoint, reading, rows, {}).double())
        return torch.cat(parts)
