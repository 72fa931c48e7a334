"""Attention over the states of a recurrent reader, and the Transformer's beside it (Potts, CS224u slides)."""

from core.models.rnn.chained import ChainedRNN
from core.models.rnn.transformer import TransformerReader

__all__ = ["ChainedRNN", "TransformerReader"]
