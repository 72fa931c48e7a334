"""Effects by the gradient of log p(verdict) in the word vectors: what other tools show by default, for comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.evidence.effects import WordEffect, complete
from core.external.base import blaming
from core.external.pieces import Pieces
from core.reading.batch import Batch, Side
from core.reading.reader import Reading

NORM, INTEGRATED = "gradient-norm", "integrated-gradients"
METHODS = {
    NORM: "the length of the gradient of log p in its vector",
    INTEGRATED: "integrated gradients of log p from vectors near zero",
}
BASELINE = 1e-3
"""Length of the vectors that integrated gradients start from, as a share of the pair's own. Not 0: a model that divides
vectors by their length (two-sided) jumps there, and a jump has no gradient that could be integrated."""
STEPS, MORE_STEPS = 50, 200
"""Points of the path of integrated gradients (Gauss-Legendre), and of a second try where these do not add up."""
ROWS = 16
"""Rows of one call of a transformer."""

LogP = Callable[..., Tensor]
"""``[B]`` of each text's vectors ``[B, T, D]``."""


class Attribution(NamedTuple):
    """What a method says of each word."""

    words: tuple[WordEffect, ...]
    completeness: tuple[float, float] | None
    """:attr:`core.evidence.effects.Effects.completeness`"""
    passes: int
    """Rows that the model read, forwards and backwards."""


def word_effects(checkpoint: Checkpoint, reading: Reading, target: int, method: str) -> Attribution:
    """Effects of every word of the reading by one of :data:`METHODS`. Linguistic features are held fixed, as they have
    no gradient with respect to word vectors. In an external model a word's effect is the sum over its pieces' vectors,
    before positions are added; its norm is taken of their concatenated gradients."""
    batch = checkpoint.reader.batch(reading)
    with blaming(checkpoint.name) if isinstance(batch, Pieces) else nullcontext():
        return _word_effects(checkpoint, reading, target, method, batch)


def _word_effects(checkpoint: Checkpoint, reading: Reading, target: int, method: str, batch: Any) -> Attribution:
    sides = reading.texts() if isinstance(batch, Pieces) else (reading.first, *reading.contexts)
    tokens = [(side.role, token.text) for side in sides for token in side.tokens]
    if isinstance(batch, Pieces):
        model: Any = checkpoint.model  # which is a guest's
        piece_vectors, log_p = model.by_vectors(batch, target)
        vectors, owners = [piece_vectors], [batch.owners[0]]
    else:
        # Clones: vectors made in inference mode have no gradient.
        vectors = [checkpoint.reader.vectors(side.norms).clone()[None] for side in sides]
        owners = list(torch.split(torch.arange(len(tokens)), [len(side.tokens) for side in sides]))
        log_p = _log_p(checkpoint, reading, target, _choices(checkpoint, batch) if method == INTEGRATED else {})
    of_word = [(own[None] == torch.arange(len(tokens))[:, None]).to(vectors[0]) for own in owners]  # [words, T]
    # Of a transformer all rows at once would take gigabytes.
    rows = ROWS if isinstance(batch, Pieces) else STEPS
    completeness, count = None, passes(method)
    if method == INTEGRATED:
        values, completeness, count = _integrated(log_p, vectors, of_word, rows)
    else:
        slopes = _gradients(log_p, vectors)
        values = _added_up(of_word, [slope[0].square().sum(1) for slope in slopes]).sqrt()
    numbers = dict.fromkeys((role for role, _ in tokens), 0)
    effects = []
    for (role, text), value in zip(tokens, values.tolist(), strict=True):
        effects.append(WordEffect(role, numbers[role], text, value))
        numbers[role] += 1
    return Attribution(tuple(effects), completeness, count)


def passes(method: str) -> int:
    """Passes through the model that one of :data:`METHODS` takes, where it needs no second try."""
    return STEPS + 2 if method == INTEGRATED else 1


def _choices(checkpoint: Checkpoint, batch: Batch) -> dict[str, Tensor]:
    """What the model chooses for this pair (:meth:`core.models.base.PairModel.choices`): kept all along the path of
    integrated gradients, because log p jumps where a choice changes."""
    with torch.inference_mode():
        chosen = checkpoint.model.choices(checkpoint.model(batch))
    return {name: values.clone() for name, values in chosen.items()}


def _log_p(checkpoint: Checkpoint, reading: Reading, target: int, choices: Mapping[str, Tensor]) -> LogP:
    def log_p(*given: Tensor) -> Tensor:
        count = len(given[0])
        rows = [Side(words, torch.ones(words.shape[:2], dtype=torch.bool)) for words in given]
        extra = None if reading.extra is None else torch.tensor([reading.extra]).expand(count, -1)
        held = {name: values.expand(count, *values.shape[1:]) for name, values in choices.items()}
        output = checkpoint.model(Batch(rows[0], tuple(rows[1:]), reading.judged, extra), **held)
        # A model that reads one side alone has gradients of 0 on the other.
        unused = sum(0 * words.sum((1, 2)) for words in given)
        return checkpoint.model.supports(output.logits)[:, target] + unused

    return log_p


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
    """Effects of each word, their completeness and the passes taken: Sundararajan et al. 2017, equation 1, by
    Gauss-Legendre quadrature as Captum has it, along the straight line from :data:`BASELINE` times the vectors.
    Pieces of no word ([CLS]) stay as they are. Captum itself brings matplotlib, which takes a server's first visitor
    half a minute to load."""
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
