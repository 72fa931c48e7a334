"""Projects frozen word vectors into a model's space."""

from __future__ import annotations

from torch import Tensor, nn

from core.reading.batch import Side


def word_projection(input_size: int, size: int) -> nn.Linear:
    """The learned map from word vectors ``[D]`` to hidden states ``[d]``, freshly initialised."""
    projection = nn.Linear(input_size, size)
    # Rows of the word table are about 1 long. At the usual gain of 1 every dot product would start near 0 and every
    # softmax near uniform; at 3 a word's match with itself starts about e^9 above that with an unrelated word.
    nn.init.orthogonal_(projection.weight, gain=3.0)
    nn.init.zeros_(projection.bias)
    return projection


def read_words(projection: nn.Linear | None, side: Side, dropout: float) -> Tensor:
    """Words of one side as a model reads them: ``[B, T, D] -> [B, T, d]`` (D without a projection), zero on pads.

    ``dropout`` is the share of hidden units that are dropped, 0 outside training.
    """
    # Pads may hold anything (another model's noise, NaN): they are zeroed before the first product and after the bias.
    real = side.mask[..., None]
    vectors = side.words.masked_fill(~real, 0.0)
    keep = real.to(vectors.dtype)
    if dropout:
        # One mask a sentence (Gal & Ghahramani 2016): drawing one a word took a fifth of a step on a CPU.
        share = 1 - dropout
        size = vectors.shape[2] if projection is None else projection.out_features
        keep = keep * vectors.new_empty(len(vectors), 1, size).bernoulli_(share).div_(share)
    return (vectors if projection is None else projection(vectors)) * keep
