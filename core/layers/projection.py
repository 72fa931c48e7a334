"""Projects frozen word vectors into a model's space."""

from __future__ import annotations

from torch import Tensor, nn

from core.reading.batch import Side


def word_projection(input_size: int, size: int) -> nn.Linear:
    """The learned map from word vectors ``[D]`` to hidden states ``[d]``, newly initialised."""
    projection = nn.Linear(input_size, size)
    # Word vectors have norms of about 1. With the usual gain of 1 every dot product would start near 0 and every
    # softmax near uniform; with 3, a word's match with itself starts about e^9 times as high as with an unrelated word.
    nn.init.orthogonal_(projection.weight, gain=3.0)
    nn.init.zeros_(projection.bias)
    return projection


def read_words(projection: nn.Linear | None, side: Side, dropout: float) -> Tensor:
    """Projected words of one side: ``[B, T, D] -> [B, T, d]`` (D without a projection), zero on padding.

    ``dropout`` is the share of hidden units to drop, 0 outside training.
    """
    # Padding may hold anything (another model's noise, NaN): it is zeroed before the first product and after the bias.
    real = side.mask[..., None]
    vectors = side.words.masked_fill(~real, 0.0)
    keep = real.to(vectors.dtype)
    if dropout:
        # One mask per sentence (Gal & Ghahramani 2016): sampling one per word took a fifth of a training step on a CPU.
        share = 1 - dropout
        size = vectors.shape[2] if projection is None else projection.out_features
        keep = keep * vectors.new_empty(len(vectors), 1, size).bernoulli_(share).div_(share)
    return (vectors if projection is None else projection(vectors)) * keep
