"""The Transformer step from the slides, as a one-layer reader (Vaswani et al. 2017, sections 3.1 to 3.5)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.evidence import AttentionMap
from core.evidence.matrix import matrix
from core.layers.attention import attention_weights
from core.layers.pooling import masked_max
from core.layers.projection import word_projection
from core.layers.recurrent import single
from core.models.base import Evidence, ModelConfig, Output, Settings, Wanted, WordModel, register, setting
from core.models.routes import ATTENDED, ATTENTION, OWN, UNPATCHED, WEIGHTS, Patching, Route
from core.reading.batch import Batch, Side
from core.reading.reader import Reading


@dataclass(frozen=True)
class TransformerConfig(ModelConfig):
    """Sizes. ``inner``: units of the feed-forward layer, as a multiple of ``hidden``. Dropout applies to the projected
    words (one mask per sentence) and to the classifier's input."""

    hidden: int = setting(150, least=1)
    inner: int = setting(2, least=1)
    embedding_dropout: float = setting(0.1, least=0, below=1)
    dropout: float = setting(0.2, least=0, below=1)


@dataclass(frozen=True)
class TransformerTrace:
    """Trace of a forward pass."""

    scores: Tensor
    """[B, T_h, T_p]; undefined on padding."""
    weights: Tensor
    """[B, T_h, T_p]; each row adds up to 1 over real words, unless the caller replaced it."""
    contexts: Tensor
    """c_attn, [B, T_h, d]."""
    states: Tensor
    """The layer's output for the hypothesis' words, [B, T_h, d]; undefined on padding."""


@register(
    "transformer-reader",
    title="Transformer reader",
    paper="Potts, CS224u slides",
    section="Connection with the Transformer",
)
class TransformerReader(WordModel):
    r"""One Transformer layer without a recurrent network: the hypothesis' words attend to the premise's by position and
    content.

    For words x of both sentences (projected, R^d) and Vaswani's sinusoidal position encodings p:

    - input = x + s p, q = W_q input (hypothesis), k = W_k input (premise);
    - α = softmax(q·k / √d), c_attn = Σ α input over the premise, as in the slides;
    - o = norm(input + W_o c_attn), state = norm(o + W_2 ReLU(W_1 o + b_1) + b_2) (section 3.3);
    - features = the maximum over the hypothesis' states in each dimension, y = softmax(features W + b).

    | here | above | space |
    |---|---|---|
    | place_scale | s | R |
    | query, key | W_q, W_k | R^{d×d} |
    | out | W_o; with one head, Vaswani's W^V and W^O in one | R^{d×d} |
    | inner, outer | (W_1, b_1), (W_2, b_2) | R^{m·d×d}, R^{d×m·d} |

    *Choices*: s is learned and starts at 0.1, because words have norms of about 3 and the encodings √(d / 2); W_q and
    W_k start as 2 I, so that equal words match from the start.
    """

    records = (AttentionMap,)

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        size = config.hidden
        self.projection = word_projection(config.input_size, size)
        self.place_scale = nn.Parameter(torch.tensor(0.1))
        self.query = nn.Linear(size, size, bias=False)
        self.key = nn.Linear(size, size, bias=False)
        for map_ in (self.query, self.key):
            map_.weight.data.copy_(2 * torch.eye(size))
        self.out = nn.Linear(size, size, bias=False)
        self.attended = nn.LayerNorm(size)
        self.inner = nn.Linear(size, config.inner * size)
        self.outer = nn.Linear(config.inner * size, size)
        self.finished = nn.LayerNorm(size)
        self.classifier = nn.Linear(size, config.classes)

    def forward(self, batch: Batch, override: Tensor | None = None, patching: Patching = UNPATCHED) -> Output:
        """``override [B, T_h, T_p]`` replaces α. Raises ValueError if its shape differs."""
        first, second = batch.first, batch.second
        premise, hypothesis = self._inputs(first), self._inputs(second)
        scores = self.query(hypothesis) @ self.key(premise).mT / math.sqrt(self.config.hidden)  # [Potts scaled-dot]
        weights = attention_weights(single(scores), first.mask, override)  # [Potts scaled-weights]
        weights = patching(WEIGHTS, weights)
        contexts = weights @ patching(ATTENDED, premise)  # [Potts scaled-context]
        attended = self.attended(patching(OWN, hypothesis) + self.out(contexts))
        states = self.finished(attended + self.outer(torch.relu(self.inner(attended))))
        features, _ = masked_max(states, second.mask)
        trace = TransformerTrace(scores, weights, contexts, states)
        return Output(self.classifier(self.dropped(features)), features, trace)

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        return ATTENTION

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        if AttentionMap in wanted:
            scores, weights = (matrix(values[0]) for values in (output.trace.scores, output.trace.weights))
            yield AttentionMap("attention", reading.second.role, reading.first.role, scores, weights, overridden)

    def _inputs(self, side: Side) -> Tensor:
        """x + s p, ``[B, T, d]``, zero on padding."""
        words = self.words(side)
        return words + self.place_scale * places(side.mask.shape[1], words) * side.mask[..., None]


def places(count: int, like: Tensor) -> Tensor:
    """p for the first positions, ``[T, d]`` (Vaswani et al. 2017, section 3.5): sine in even dimensions, cosine in odd
    ones."""
    size = like.shape[-1]
    dimensions = torch.arange(size, device=like.device)
    rates = torch.pow(10_000.0, -(dimensions - dimensions % 2).to(like.dtype) / size)
    angles = torch.arange(count, device=like.device, dtype=like.dtype)[:, None] * rates
    return torch.where(dimensions % 2 == 0, angles.sin(), angles.cos())
