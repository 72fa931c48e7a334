"""Integrated Jacobians: the share of each pair of input words in the similarity of a bi-encoder (Möller, Nikolaev and
Padó 2023, "An Attribution Method for Siamese Encoders", equation 5; 2024 for unmodified encoders).

With encoder e, r_a the reference for the token embeddings a of a text, and J_a the Jacobian of e on the line from r_a
to a, tokens i of a and j of b share (∫ J_a,i dα (a_i - r_a,i)) · (∫ J_b,j dβ (b_j - r_b,j)). The shares add up to s(a,
b) - s(r_a, b) - s(a, r_b) + s(r_a, r_b). The reference replaces each word's tokens with padding.

Differences: e includes the normalisation of a cosine, so the equation holds for the cosine itself; and each token's
directional derivative is computed in forward mode, one row per token instead of one backward pass per output of e.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.errors import UserError
from core.evidence.matrix import matrix
from core.evidence.similarity_shares import SimilarityShares
from core.external.base import blaming
from core.external.bi_encoder import Apart, BiEncoder
from core.external.pieces import Pieces
from core.external.towers import Tower
from core.progress import Progress
from core.reading.reader import Reading

NAME = "integrated Jacobians"
STEPS, MORE_STEPS = 32, 128
"""Points on the path (Gauss-Legendre), and for a second attempt if the shares do not add up."""
AT_ONCE = 1024
"""Tokens that the model reads at once, in rows of several points on the path: for a few words, a single point's take
hardly less time; and for hundreds, all of a point's take gigabytes."""
_FORWARD = threading.Lock()
"""PyTorch's forward-mode differentiation is limited to one thread at a time."""
COMPLETE = 0.005
"""The largest residual at which shares count as complete."""


class _Attributed(NamedTuple):
    """One text: the vectors ``[E]`` of the text and of its reference, the share of each word in their difference
    ``[words + 1, E]`` (the last row, for special tokens, is 0), and the number of rows the model read."""

    vector: Tensor
    reference: Tensor
    words: Tensor
    passes: int


def has_jacobians(checkpoint: Checkpoint) -> bool:
    """Whether the verdict is a cosine, or a similarity that is linear in both text vectors."""
    model = checkpoint.model
    return isinstance(model, BiEncoder) and model.head is None and model.tower.bilinear


def integrated_jacobians(checkpoint: Checkpoint, reading: Reading, progress: Progress) -> SimilarityShares:
    """The shares of all word pairs. Raises UserError for models other than bi-encoders with a cosine or dot product,
    and PairError if the transformer does not accept token embeddings as input."""
    model = checkpoint.model
    if not isinstance(model, BiEncoder) or not has_jacobians(checkpoint):
        raise UserError(f"{checkpoint.name} has no integrated Jacobians: choose a bi-encoder with a cosine similarity")
    batch: Apart = checkpoint.reader.batch(reading)  # type: ignore[assignment]
    passes = 0
    for steps in (STEPS, MORE_STEPS):
        with blaming(checkpoint.name), torch.no_grad():
            first = _attributed(model.tower, batch.first, steps, progress, 0)
            second = _attributed(model.tower, batch.second, steps, progress, steps)
        passes += first.passes + second.passes
        reference = second.vector @ first.reference + second.reference @ (first.vector - first.reference)
        found = SimilarityShares(
            NAME,
            reading.second.role,
            reading.first.role,
            matrix(second.words @ first.words.T),
            float(first.vector @ second.vector),
            float(reference),
            passes,
        )
        if abs(found.residual) <= COMPLETE:
            break
    return found


def _attributed(tower: Tower, pieces: Pieces, steps: int, progress: Progress, before: int) -> _Attributed:
    """Each word's share in the difference between the text's vector and its reference's: ∫ J(x(α)) (a_i - r_i) dα."""
    end, start, encode = tower.by_vectors(pieces)
    moves = (end - start)[0]
    of_word = pieces.of_words.to(moves)
    moved = of_word[:-1].sum(0).nonzero()[:, 0]  # special tokens stay fixed
    by_piece = torch.zeros(len(moves), len(encode(end)[0]))
    places, shares = (torch.from_numpy(values).to(moves) for values in np.polynomial.legendre.leggauss(steps))
    every = torch.cartesian_prod(torch.arange(steps), moved)
    for rows in torch.split(every, max(1, AT_ONCE // len(moves))):
        step, piece = rows.T
        progress(before + int(step[0]), 2 * steps)
        points = start + ((places[step] + 1) / 2)[:, None, None] * (end - start)
        tangents = torch.zeros_like(points)
        tangents[torch.arange(len(rows)), piece] = moves[piece]
        with _FORWARD:
            slopes = torch.func.jvp(encode, (points,), (tangents,))[1]
        by_piece.index_add_(0, piece, (shares[step] / 2)[:, None] * slopes)
    vector, reference = (encode(given)[0].double() for given in (end, start))
    return _Attributed(vector, reference, of_word.double() @ by_piece.double(), steps * len(moved) + 2)
