"""Effects by the gradient of log p(verdict) in the word vectors: what other tools show by default, for comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.evidence.effects import WordEffect
from core.guests.base import blaming
from core.guests.pieces import Pieces
from core.reading.batch import Batch, Side
from core.reading.reader import Reading

NORM, TIMES_INPUT, INTEGRATED, ZEROED = "gradient-norm", "gradient-times-input", "integrated-gradients", "zeroed"
METHODS = {
    ZEROED: "its vector set to zero, the place kept",
    NORM: "the length of the gradient of log p in its vector",
    TIMES_INPUT: "the gradient of log p in its vector, times the vector",
    INTEGRATED: "integrated gradients of log p from vectors of zeros",
}
ROWS = 16
"""Rows of one call of a transformer."""
STEPS = 50
"""Points of the path of integrated gradients (Gauss-Legendre)."""

Values = tuple[list[Tensor], tuple[float, float] | None]
"""One number for each word of each text, and of integrated gradients their sum and what it should be."""


def word_effects(
    checkpoint: Checkpoint, reading: Reading, target: int, method: str
) -> tuple[tuple[WordEffect, ...], tuple[float, float] | None]:
    """Of every word of the reading, by one of :data:`METHODS`, and the completeness of integrated gradients
    (:attr:`core.evidence.effects.Effects.completeness`). Linguistic features stay as they are: they have no gradient in
    the word vectors. Of a model from elsewhere they are those in the vectors of its pieces (:func:`_of_pieces`)."""
    batch = checkpoint.reader.batch(reading)
    if isinstance(batch, Pieces):
        with blaming(checkpoint.name):
            values, completeness = _of_pieces(checkpoint.model, batch, target, method)
        texts = reading.texts()
        found = iter(values.tolist())
        words = [(side.role, index, token.text) for side in texts for index, token in enumerate(side.tokens)]
        return tuple(WordEffect(*word, next(found)) for word in words), completeness
    sides = (reading.first, *reading.contexts)
    # Clones: vectors made in inference mode have no gradient.
    vectors = tuple(checkpoint.reader.vectors(side.norms).clone()[None] for side in sides)

    def log_p(*given: Tensor) -> Tensor:
        """``[B]`` of texts ``[B, T, D]``."""
        rows = [Side(words, torch.ones(words.shape[:2], dtype=torch.bool)) for words in given]
        extra = None if reading.extra is None else torch.tensor([reading.extra]).expand(len(given[0]), -1)
        output = checkpoint.model(Batch(rows[0], tuple(rows[1:]), reading.judged, extra))
        # A model that reads one side alone has gradients of 0 on the other.
        unused = sum(0 * words.sum((1, 2)) for words in given)
        return checkpoint.model.supports(output.logits)[:, target] + unused

    by_side, completeness = _MEASURES[method](log_p, vectors)
    numbers = dict.fromkeys(dict.fromkeys(side.role for side in sides), 0)
    effects = []
    for side, of_side in zip(sides, by_side, strict=True):
        for token, value in zip(side.tokens, of_side.tolist(), strict=True):
            effects.append(WordEffect(side.role, numbers[side.role], token.text, value))
            numbers[side.role] += 1
    return tuple(effects), completeness


def _of_pieces(model: Any, pieces: Pieces, target: int, method: str) -> tuple[Tensor, tuple[float, float] | None]:
    """A number for each word of both texts of one pair: what its pieces' vectors add up to, of norms as one long
    vector's; zeroed all at once. The vectors are those before places are added to them."""
    vectors, log_p = model.by_vectors(pieces, target)
    owners, count = pieces.owners[0], sum(pieces.words[0])
    of_word = (owners[None] == torch.arange(count)[:, None]).to(vectors.dtype)  # [words, P]
    if method == ZEROED:
        with torch.inference_mode():
            rows = [vectors * (1 - some[..., None]) for some in torch.split(of_word, ROWS)]
            return log_p(vectors) - torch.cat([log_p(row) for row in rows]), None
    if method == INTEGRATED:
        (values,), completeness = _integrated(log_p, [vectors], ROWS)
    else:
        (values,), completeness = _MEASURES[method](log_p, [vectors])
    if method == NORM:
        return (of_word @ values.square()).sqrt(), completeness
    return of_word @ values, completeness


def passes(method: str, words: int) -> int:
    """Passes through the model that one of :data:`METHODS` takes for so many words."""
    return {ZEROED: words + 1, INTEGRATED: STEPS + 2}.get(method, 1)


def _gradients(log_p: Callable[..., Tensor], vectors: Sequence[Tensor]) -> list[Tensor]:
    with torch.enable_grad():
        inputs = [words.requires_grad_() for words in vectors]
        return list(torch.autograd.grad(log_p(*inputs).sum(), inputs))


def _norm(log_p: Callable[..., Tensor], vectors: Sequence[Tensor]) -> Values:
    return [gradient[0].norm(dim=1) for gradient in _gradients(log_p, vectors)], None


def _times_input(log_p: Callable[..., Tensor], vectors: Sequence[Tensor]) -> Values:
    gradients = _gradients(log_p, vectors)
    return [(gradient * words.detach())[0].sum(1) for gradient, words in zip(gradients, vectors, strict=True)], None


def _integrated(log_p: Callable[..., Tensor], vectors: Sequence[Tensor], points: int = STEPS) -> Values:
    """Sundararajan et al. 2017, equation 1, from zeros, by Gauss-Legendre quadrature as Captum has it. Captum itself
    brings matplotlib, which takes a server's first visitor half a minute to load."""
    places, shares = np.polynomial.legendre.leggauss(STEPS)
    along = torch.tensor((places + 1) / 2, dtype=torch.float32)[:, None, None]
    weights = torch.tensor(shares / 2, dtype=torch.float32)[:, None, None]
    # Of a transformer all points at once would take gigabytes.
    parts = [
        _gradients(log_p, [(some * words.detach()).clone() for words in vectors]) for some in torch.split(along, points)
    ]
    slopes = [torch.cat(of_side) for of_side in zip(*parts, strict=True)]
    sums = [((weights * slope).sum(0) * words.detach()[0]).sum(1) for slope, words in zip(slopes, vectors, strict=True)]
    with torch.no_grad():
        difference = float(log_p(*vectors) - log_p(*(torch.zeros_like(words) for words in vectors)))
    return sums, (float(sum(words.sum() for words in sums)), difference)


def _zeroed(log_p: Callable[..., Tensor], vectors: Sequence[Tensor]) -> Values:
    values = []
    with torch.inference_mode():
        before = log_p(*vectors)
        for number, words in enumerate(vectors):
            count = words.shape[1]
            rows = [other.expand(count, -1, -1) for other in vectors]
            rows[number] = rows[number] * (1 - torch.eye(count))[..., None]
            values.append(before - log_p(*rows))
    return values, None


_MEASURES: dict[str, Callable[[Callable[..., Tensor], Sequence[Tensor]], Values]] = {
    NORM: _norm,
    TIMES_INPUT: _times_input,
    INTEGRATED: _integrated,
    ZEROED: _zeroed,
}
