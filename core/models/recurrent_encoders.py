"""Models that read each sentence by itself, with LSTMs (see :mod:`core.models.sentence_encoders`)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.evidence import PooledAttention, Record
from core.layers.attention import attention_weights, refuse
from core.layers.lstm import BiLSTM
from core.models.base import Output, Settings, register, setting
from core.models.sentence_encoders import ENCODER, Encoded, EncoderConfig, SentenceEncoder
from core.reading.batch import Side


@register("bi-lstm", config=EncoderConfig, title="Bi-LSTM", paper="Lin et al. 2017", section="4", **ENCODER)
class BiLSTMEncoder(SentenceEncoder):
    """An LSTM in both directions: a sentence is its state after the last word and that before the first one.

    vector = [forward state of the last word; backward state of the first word], 2d numbers.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config, 2 * config.hidden)
        self.encoder = BiLSTM(config.hidden, config.hidden)

    def encode(self, side: Side, override: Tensor | None) -> Encoded:
        refuse(override)
        states, size = self.encoder(self.words(side), side.mask), self.config.hidden
        last = states[torch.arange(len(states), device=states.device), side.mask.sum(1) - 1]
        return Encoded(torch.cat([last[:, :size], states[:, 0, size:]], dim=1))


@dataclass(frozen=True)
class SelfAttentionConfig(EncoderConfig):
    """``hops``: r, how often a sentence is looked at; ``inner``: d_a, units of the scores' hidden layer; ``penalty``:
    the coefficient of P in the loss."""

    hops: int = setting(4, least=1)
    inner: int = setting(100, least=1)
    penalty: float = setting(0.0, least=0)


@register(
    "self-attention",
    config=SelfAttentionConfig,
    title="Structured self-attention",
    paper="Lin et al. 2017",
    section="2",
    **ENCODER,
)
class SelfAttention(SentenceEncoder):
    r"""A sentence looked at several times: each hop is a weighted mean of an LSTM's states.

    H = BiLSTM(words), A = softmax(W_s2 tanh(W_s1 H^T)) along the words, M = A H, vector = M row by row, 2rd numbers;
    P = ‖A A^T - I‖²_F, which keeps hops from looking at the same words, is part of the loss.

    | here | paper | space |
    |---|---|---|
    | inner, score | W_s1, W_s2 | R^{d_a×2d}, R^{r×d_a} |

    Where we differ: the classifier reads M without a hidden layer; of a
    pair it reads both sentences' M, where the paper multiplies them through gates.
    """

    config: SelfAttentionConfig

    def __init__(self, config: SelfAttentionConfig) -> None:
        super().__init__(config, 2 * config.hops * config.hidden)
        self.encoder = BiLSTM(config.hidden, config.hidden)
        self.inner = nn.Linear(2 * config.hidden, config.inner, bias=False)
        self.score = nn.Linear(config.inner, config.hops, bias=False)

    @classmethod
    def shows(cls, config: Settings) -> tuple[type[Record], ...]:
        return (PooledAttention,)

    def encode(self, side: Side, override: Tensor | None) -> Encoded:
        states = self.encoder(self.words(side), side.mask)
        scores = self.score(torch.tanh(self.inner(states))).mT
        weights = attention_weights(scores, side.mask, override)  # [Lin17 eq. 6]
        return Encoded((weights @ states).flatten(1), weights)  # [Lin17 eq. 7]

    def penalty(self, output: Output) -> Tensor | None:
        """The coefficient times P, the mean over rows, summed over sides."""
        if not self.config.penalty:
            return None
        squares = [(a @ a.mT - torch.eye(a.shape[1]).to(a)).square().sum((1, 2)).mean() for a in output.trace.maps]
        return self.config.penalty * torch.stack(squares).sum()  # [Lin17 eq. 8]
