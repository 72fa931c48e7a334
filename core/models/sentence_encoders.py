"""Models that encode each sentence separately and combine the two only in the classifier (AttConv, sections 2 and 4).

| registered as | class | what makes the vector of a sentence |
|---|---|---|
| bi-cnn | :class:`BiCNN` | convolution, max |
| multichannel-cnn | :class:`MultichannelCNN` | convolutions of three widths over two channels, max |
| internal-attention-cnn | :class:`InternalAttentionCNN` | convolution, max and a weighted mean |
| bi-lstm | :class:`BiLSTMEncoder` | LSTM in both directions, its two last states |
| self-attention | :class:`SelfAttention` | the same, several weighted means |

The classifier reads the vectors of both texts, with ``compare`` also their difference and product, with
``context="none"`` only the judged text's: a classifier of single texts, or of pairs "w/o context".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from core.evidence import PooledAttention
from core.layers.attention import Override, attention_weights, each_map, refuse
from core.layers.convolution import windows
from core.layers.pooling import masked_max
from core.layers.recurrent import BiLSTM
from core.models.base import CentredConfig, Evidence, Output, Reads, Settings, Wanted, register, setting
from core.models.baselines import Baseline, ComparingConfig
from core.models.features import extra_route
from core.models.intervention import AttentionLinks
from core.models.routes import TEXT_BY_TEXT, UNPATCHED, Patching, Route
from core.reading.batch import Batch, Side
from core.reading.reader import Reading


@dataclass(frozen=True)
class EncoderConfig(ComparingConfig):
    """``context``: extra (both sentences are encoded, with the same weights), none (the judged text alone)."""

    context: str = setting("extra", one_of=("extra", "none"))

    def __post_init__(self) -> None:
        if self.compare and self.context == "none":
            raise ValueError("compare needs both sentences, and context none reads one")


class EncodedSentence(NamedTuple):
    """One side: its vector ``[B, E]`` and the hops' weights ``[B, R, T]`` (None without attention)."""

    vector: Tensor
    weights: Tensor | None = None


@dataclass(frozen=True)
class EncoderTrace:
    """Trace of a forward pass."""

    maps: tuple[Tensor, ...] | None
    """Each side's attention ``[B, R, T]``, or the caller's, R hops over T words; the first sentence's comes first. None
    without attention."""


class SentenceEncoder(Baseline):
    """features = [vector of the first; vector of the second], optionally compared, or only the judged text's vector."""

    config: EncoderConfig

    def __init__(self, config: EncoderConfig, encoded: int, projected: bool = True) -> None:
        """``encoded``: E, the size of a sentence vector."""
        own = encoded if config.context == "none" else config.joined_size(encoded)
        super().__init__(config, own, projected)

    def encode(self, side: Side, override: Tensor | None) -> EncodedSentence:
        """A sentence's vector; ``override [B, R, T]`` replaces its attention. Raises ValueError for another shape, and
        for any override if the model has no attention."""
        raise NotImplementedError

    def forward(self, batch: Batch, override: Override | None = None, patching: Patching = UNPATCHED) -> Output:
        """``override``: ``[B, R, T]`` for each sentence read, R hops over its T words, None to keep the model's own; a
        single tensor is for the first.

        Raises ValueError for another shape, without attention, and if linguistic features do not fit.
        """
        sides = (batch.x,) if self.config.context == "none" else (batch.first, batch.second)
        own = each_map(override, len(sides))
        encoded = [self.encode(side, given) for side, given in zip(sides, own, strict=True)]
        vectors = [patching(route, side.vector) for route, side in zip(TEXT_BY_TEXT, encoded, strict=False)]
        features = vectors[0] if len(vectors) == 1 else self.config.joined(*vectors)
        weights = tuple(side.weights for side in encoded if side.weights is not None)
        return self.classify(features, features.shape[1], batch, EncoderTrace(weights or None), patching)

    @classmethod
    def reads(cls, config: Settings) -> Reads:
        """The judged text alone suffices if the other one is not read."""
        return Reads((1,) if config.get("context", "extra") == "extra" else (0, 1))

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        """A text read alone has only one route."""
        return () if config.get("context") == "none" else (*TEXT_BY_TEXT, *extra_route(config))

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        """Each word's weight: the mean over all hops."""
        sides = (reading.x,) if self.config.context == "none" else (reading.first, reading.second)
        maps = output.trace.maps if PooledAttention in wanted else None
        for side, weights in zip(sides, maps or (), strict=False):
            yield PooledAttention("attention over states", side.role, tuple(weights[0].mean(0).tolist()))

    def links(self, reading: Reading, output: Output) -> tuple[AttentionLinks, ...]:
        """Rows are the hops over one sentence."""
        sides = (reading.x,) if self.config.context == "none" else (reading.first, reading.second)
        maps = zip(sides, output.trace.maps or (), strict=False)
        return tuple(AttentionLinks(side.role, side.role, weights[0], "hops") for side, weights in maps)


@dataclass(frozen=True)
class CNNConfig(CentredConfig, EncoderConfig):
    """Settings of the encoders with convolutions of a single width."""


class ConvolvedEncoder(SentenceEncoder):
    """The states shared by both encoders with convolutions of a single width."""

    config: CNNConfig

    def __init__(self, config: CNNConfig, encoded: int) -> None:
        super().__init__(config, encoded)
        self.convolution = nn.Linear(config.width * config.hidden, config.hidden)

    def states(self, side: Side) -> Tensor:
        """``[B, T, d]``; undefined on padding."""
        return torch.tanh(self.convolution(windows(self.words(side), self.config.width)))


@register("bi-cnn", title="Bi-CNN", paper="Yin & Schütze 2018", section="4")
class BiCNN(ConvolvedEncoder):
    r"""AttConv without attention: one convolution over both sentences, each max-pooled.

    h_i = tanh(W [w_{i-1}; w_i; w_{i+1}] + b), vector = max_i h_i. ``convolution`` is W ∈ R^{d×3d} (270k at d = 300) and
    b.
    """

    def __init__(self, config: CNNConfig) -> None:
        super().__init__(config, config.hidden)

    def encode(self, side: Side, override: Tensor | None) -> EncodedSentence:
        refuse(override)
        return EncodedSentence(masked_max(self.states(side), side.mask)[0])


@register("internal-attention-cnn", title="CNN + internal attention", paper="Adel & Schütze 2017", section="3")
class InternalAttentionCNN(ConvolvedEncoder):
    r"""A convolution whose pooling also weights its states by their content: attention within one sentence.

    h_i as in Bi-CNN, α = softmax_i(v^T tanh(W h_i)), vector = [max_i h_i; Σ_i α_i h_i].

    | here | paper | space |
    |---|---|---|
    | hidden_layer, score | W, V | R^{d×d}, R^d |

    Where we differ: of the paper's variants, this is attention on the convolution's output, before pooling. The paper
    pools the k largest values, we only the largest, as Bi-CNN does.
    """

    records = (PooledAttention,)

    def __init__(self, config: CNNConfig) -> None:
        super().__init__(config, 2 * config.hidden)
        self.hidden_layer = nn.Linear(config.hidden, config.hidden, bias=False)
        self.score = nn.Linear(config.hidden, 1, bias=False)

    def encode(self, side: Side, override: Tensor | None) -> EncodedSentence:
        states = self.states(side)
        scores = self.score(torch.tanh(self.hidden_layer(states))).mT
        weights = attention_weights(scores, side.mask, override)  # [Adel17 internal]
        return EncodedSentence(torch.cat([masked_max(states, side.mask)[0], (weights @ states)[:, 0]], dim=1), weights)


@register("multichannel-cnn", title="MultichannelCNN", paper="Kim 2014", section="2.1")
class MultichannelCNN(SentenceEncoder):
    r"""Filters of three, four and five words over two channels of word vectors, max-pooled.

    c_i = ReLU(W (s_{i:i+h-1} + t_{i:i+h-1}) + b), with s the words of the frozen table and t = M s, which stands in for
    the channel of fine-tuned vectors. As in the paper, each filter is applied to both channels and the results are
    added, so one product over the sum of the channels suffices; vector = [max_i c_i] of the three widths, d dimensions
    each.

    | here | paper | space |
    |---|---|---|
    | tuned | the second channel, M | R^{D×D}, starts as the identity |
    | filters | w, b of section 2 | R^{d×hD}, R^d, h = 3, 4, 5 |

    Where we differ: windows keep the sentence length and pad with zeros.
    """

    WIDTHS = (3, 4, 5)

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config, len(self.WIDTHS) * config.hidden, projected=False)
        self.tuned = nn.Linear(config.input_size, config.input_size, bias=False)
        nn.init.eye_(self.tuned.weight)
        self.filters = nn.ModuleList(nn.Linear(width * config.input_size, config.hidden) for width in self.WIDTHS)

    def encode(self, side: Side, override: Tensor | None) -> EncodedSentence:
        refuse(override)
        words = self.words(side)
        summed = words + self.tuned(words)
        states = [
            torch.relu(layer(windows(summed, width)))  # [Kim14 eq. 2]
            for width, layer in zip(self.WIDTHS, self.filters, strict=True)
        ]
        return EncodedSentence(torch.cat([masked_max(state, side.mask)[0] for state in states], dim=1))


@register("bi-lstm", title="Bi-LSTM", paper="Lin et al. 2017", section="4")
class BiLSTMEncoder(SentenceEncoder):
    """A bidirectional LSTM: a sentence is represented by the final states of both directions.

    vector = [forward state of the last word; backward state of the first word], 2d dimensions.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config, 2 * config.hidden)
        self.encoder = BiLSTM(config.hidden, config.hidden)

    def encode(self, side: Side, override: Tensor | None) -> EncodedSentence:
        refuse(override)
        states, size = self.encoder(self.words(side), side.mask), self.config.hidden
        last = states[torch.arange(len(states), device=states.device), side.mask.sum(1) - 1]
        return EncodedSentence(torch.cat([last[:, :size], states[:, 0, size:]], dim=1))


@dataclass(frozen=True)
class SelfAttentionConfig(EncoderConfig):
    """``hops``: r, the number of attention hops per sentence; ``inner``: d_a, units of the scores' hidden layer."""

    hops: int = setting(4, least=1)
    inner: int = setting(100, least=1)


@register("self-attention", title="Structured self-attention", paper="Lin et al. 2017", section="2")
class SelfAttention(SentenceEncoder):
    r"""Several attention hops over a sentence, each a weighted mean of an LSTM's states.

    H = BiLSTM(words), A = softmax(W_s2 tanh(W_s1 H^T)) along the words, M = A H, vector = M row by row, 2rd dimensions.

    | here | paper | space |
    |---|---|---|
    | inner, score | W_s1, W_s2 | R^{d_a×2d}, R^{r×d_a} |

    Where we differ: the classifier reads M without a hidden layer; for a pair it reads both sentences' M, where the
    paper multiplies them through gates; the loss has no penalty on hops that attend to the same words (section 2.2).
    """

    records = (PooledAttention,)
    config: SelfAttentionConfig

    def __init__(self, config: SelfAttentionConfig) -> None:
        super().__init__(config, 2 * config.hops * config.hidden)
        self.encoder = BiLSTM(config.hidden, config.hidden)
        self.inner = nn.Linear(2 * config.hidden, config.inner, bias=False)
        self.score = nn.Linear(config.inner, config.hops, bias=False)

    def encode(self, side: Side, override: Tensor | None) -> EncodedSentence:
        states = self.encoder(self.words(side), side.mask)
        scores = self.score(torch.tanh(self.inner(states))).mT
        weights = attention_weights(scores, side.mask, override)  # [Lin17 eq. 6]
        return EncodedSentence((weights @ states).flatten(1), weights)  # [Lin17 eq. 7]
