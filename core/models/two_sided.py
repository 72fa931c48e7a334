"""Attentive convolution looked at from both sides: AttConv (Yin & Schütze 2018, section 3.1), extended.

What is new beside the paper, and why:

- Both sentences attend to each other and both reach the classifier. In the paper t_x alone does, so a "not" of the
  context that no word of t_x looks at cannot matter.
- A word may look at a null word, a learned vector among the other sentence's words, where it has no counterpart (as a
  word may be aligned with nothing in IBM's models, Brown et al. 1993). Without one a softmax must look somewhere.
- Words match by their cosine, times a learned temperature, with the matches of their neighbours and the difference of
  their relative places beside it, which settle which of two equal words is meant; and a word that another one matches
  better is given less.
- A word is compared with what it finds by product and difference too (Chen et al. 2017, section 3.2): a sum of the two
  cannot say that two numbers differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.evidence import AttentionMap, AttentiveContext, FilterProvenance, FilterRecord
from core.evidence.record import matrix
from core.layers.attention import attention_weights, put_in_place
from core.layers.convolution import windows
from core.layers.pooling import masked_max
from core.layers.projection import read_words, word_projection
from core.models.base import Evidence, ModelConfig, Output, Override, PairModel, register, setting
from core.reading.batch import Batch, Side
from core.reading.reader import Reading, ReadText

NEIGHBOURS = (1, 2)
"""How far away the neighbours are whose match counts for a word's own."""


@dataclass(frozen=True)
class TwoSidedConfig(ModelConfig):
    """Sizes. ``filters``: K of each sentence, with the same weights for both; ``layer``: units of a hidden layer before
    the classes, 0 for a linear classifier of the pooled filters. Dropout runs on the projected words (one mask a
    sentence), on the pooled filters and on the hidden layer."""

    hidden: int = setting(200, least=1)
    filters: int = setting(300, least=1)
    width: int = setting(3, least=1)
    layer: int = setting(0, least=0)
    embedding_dropout: float = setting(0.1, least=0, below=1)
    dropout: float = setting(0.2, least=0, below=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width % 2 == 0:
            raise ValueError(f"width must be odd to have a central word, got {self.width}")


@dataclass(frozen=True)
class Direction:
    """One sentence's words looking at the other's; T_x words look at T_y."""

    scores: Tensor
    """e_ij, [B, T_x, T_y]; meaningless on pads."""
    null_scores: Tensor
    """n_i, [B, T_x]."""
    weights: Tensor
    """The weights used, [B, T_x, T_y]; with ``null`` each row adds up to 1 over real words (or is the caller's)."""
    null: Tensor
    """Weight on the null word, [B, T_x]."""
    overridden: bool
    seen: Tensor
    """What the filters read: window, context, product and difference, [B, T_x, (width + 3)·d]."""
    preactivations: Tensor
    """[B, T_x, K] before the tanh; meaningless on pads."""
    winners: Tensor
    """Winning position of each filter, [B, K]."""


@dataclass(frozen=True)
class TwoSidedTrace:
    """What a forward pass computed on the way."""

    second: Direction
    """The second sentence's words look at the first's: the map that the other models have too."""
    first: Direction
    pooled: Tensor
    """Filters of the first sentence, then of the second, [B, 2K]."""


@register(
    "two-sided", config=TwoSidedConfig, title="Two-sided AttConv", paper="extends Yin & Schütze 2018", section="3.1",
    tasks=("entailment", "paraphrase"), shows=(AttentionMap, AttentiveContext, FilterProvenance),
)  # fmt: skip
class TwoSided(PairModel):
    r"""Light attentive convolution of both sentences: each word is compared with what it finds in the other one.

    For words x_i, y_j of the two sentences (projected, R^d), and their directions m = W_m w / ‖W_m w‖ by word vector w:

    - s_ij = τ (m_i·m_j + Σ_{k = ±1, ±2} b_k m_{i+k}·m_{j+k} - λ |p_i - p_j|), relative places p_i = (i + ½) / T;
    - n_i = τ (u·m_i + β), the match with the null word;
    - e_ij = s_ij - γ (log (e^{n_j} + Σ_i' e^{s_i'j}) - n_j): less for a word that others match, 0 < γ < 1;
    - weights (w_i, w_i0) = softmax (e_i, n_i), c_i = Σ_j w_ij y_j + w_i0 v;
    - z_i = W [x_{i-1}; x_i; x_{i+1}; c_i; x_i ∘ c_i; |x_i - c_i|] + b, and h_k = max_i tanh z_ik.

    Features are h of the first sentence and h of the second (2K numbers) or, with a hidden layer, ReLU (U h + b_u).

    | here | above | space |
    |---|---|---|
    | match, null_match, null_bias | W_m, u, β | R^{D×D}, R^D, R |
    | temperature, place, rivalry | log τ, λ, γ before its sigmoid | R |
    | beside | b_-1, b_+1, b_-2, b_+2 | R^4 |
    | null_word | v | R^d |
    | convolution | W, b | R^{K×(width + 3)d}, R^K |
    | layer | U, b_u | R^{H×2K}, R^H |
    """

    config: TwoSidedConfig

    def __init__(self, config: TwoSidedConfig) -> None:
        super().__init__()
        self.config = config
        self.projection = word_projection(config.input_size, config.hidden)
        # Word vectors match by their own cosine at first: with the numbers below that aligns words about as well as
        # aligners that were made for it.
        self.match = nn.Linear(config.input_size, config.input_size, bias=False)
        nn.init.orthogonal_(self.match.weight)
        self.null_match = nn.Parameter(torch.zeros(config.input_size))
        self.null_bias = nn.Parameter(torch.tensor(0.4))
        self.temperature = nn.Parameter(torch.tensor(2.0))
        self.place = nn.Parameter(torch.tensor(0.3))
        self.rivalry = nn.Parameter(torch.tensor(0.0))
        self.beside = nn.Parameter(torch.tensor([0.2, 0.2, 0.1, 0.1]))
        self.null_word = nn.Parameter(torch.zeros(config.hidden))
        self.convolution = nn.Linear((config.width + 3) * config.hidden, config.filters)
        self.layer = nn.Linear(2 * config.filters, config.layer) if config.layer else None
        self.classifier = nn.Linear(config.layer or 2 * config.filters, config.classes)

    def forward(self, batch: Batch, override: Override | None = None) -> Output:
        """``override``: one matrix for each attention map, ``[B, T_2, T_1 + 1]`` of the second sentence's words and
        ``[B, T_1, T_2 + 1]`` of the first's, the null word last; None leaves a map as it is, and a tensor alone is the
        first one. Raises ValueError for other shapes."""
        sides = batch.first, batch.second
        first, second = (self._words(side) for side in sides)
        of_second, of_first = (override, None) if isinstance(override, Tensor) else override or (None, None)
        (x, x_nulls), (y, y_nulls) = (self._directions(side) for side in sides)
        matches, nulls = self._matches(x, y, *sides), (x_nulls, y_nulls)
        first_direction, first_pooled = self._compare(first, second, *sides, matches, nulls, of_first)
        second_direction, second_pooled = self._compare(
            second, first, *sides[::-1], matches.transpose(1, 2), nulls[::-1], of_second
        )
        pooled = torch.cat([first_pooled, second_pooled], dim=1)
        features = pooled if self.layer is None else torch.relu(self.layer(self._dropped(pooled)))
        logits = self.classifier(self._dropped(features))
        return Output(logits, features, TwoSidedTrace(second_direction, first_direction, pooled))

    def _dropped(self, values: Tensor) -> Tensor:
        return F.dropout(values, self.config.dropout, self.training)

    def _words(self, side: Side) -> Tensor:
        return read_words(self.projection, side, self.config.embedding_dropout if self.training else 0.0)

    def _directions(self, side: Side) -> tuple[Tensor, Tensor]:
        """m ``[B, T, D]``, zero on pads, and n ``[B, T]``."""
        directions = F.normalize(self.match(side.words.masked_fill(~side.mask[..., None], 0.0)), dim=-1, eps=1e-6)
        return directions, self.temperature.exp() * (directions @ self.null_match + self.null_bias)

    def _matches(self, x: Tensor, y: Tensor, x_side: Side, y_side: Side) -> Tensor:
        """s ``[B, T_x, T_y]``; meaningless on pads."""
        cosines = x @ y.transpose(1, 2)
        matches = cosines
        for near, (before, behind) in zip(NEIGHBOURS, self.beside.view(-1, 2), strict=True):
            framed = F.pad(cosines, (near,) * 4)
            matches = (
                matches + before * framed[:, : -2 * near, : -2 * near] + behind * framed[:, 2 * near :, 2 * near :]
            )
        x_places, y_places = (self._places(side.mask) for side in (x_side, y_side))
        apart = (x_places[:, :, None] - y_places[:, None]).abs()
        return self.temperature.exp() * (matches - self.place * apart)

    def _places(self, mask: Tensor) -> Tensor:
        """p ``[B, T]``."""
        positions = torch.arange(mask.shape[1], device=mask.device, dtype=self.place.dtype)
        return (positions + 0.5) / mask.sum(1, keepdim=True).clamp_min(1)

    def _compare(
        self, x: Tensor, y: Tensor, x_side: Side, y_side: Side, matches: Tensor, nulls: Sequence[Tensor],
        override: Tensor | None,
    ) -> tuple[Direction, Tensor]:  # fmt: skip
        """The words of x beside what they find in y, and the pooled filters ``[B, K]``.

        ``nulls``: n of x's words and of y's.
        """
        own = matches.masked_fill(~x_side.mask[..., None], torch.finfo(matches.dtype).min)
        taken = torch.logsumexp(torch.cat([own, nulls[1][:, None]], dim=1), dim=1) - nulls[1]
        scores = matches - torch.sigmoid(self.rivalry) * taken[:, None]
        mask = F.pad(y_side.mask, (0, 1), value=True)
        weights = attention_weights(torch.cat([scores, nulls[0][..., None]], dim=-1), mask)
        if override is not None:
            weights = put_in_place(override, weights, mask[:, None])
        weights, null = weights[..., :-1], weights[..., -1]
        context = weights @ y + null[..., None] * self.null_word
        seen = torch.cat([windows(x, self.config.width), context, x * context, (x - context).abs()], dim=-1)
        preactivations = self.convolution(seen)
        pooled, winners = masked_max(torch.tanh(preactivations), x_side.mask)
        overridden = override is not None
        return Direction(scores, nulls[0], weights, null, overridden, seen, preactivations, winners), pooled

    def evidence(self, reading: Reading, output: Output, overridden: bool = False) -> Evidence:
        trace: TwoSidedTrace = output.trace
        first, second = reading.first, reading.second
        for own, other, direction in ((second, first, trace.second), (first, second, trace.first)):
            yield AttentionMap, lambda own=own, other=other, direction=direction: _map(own, other, direction)  # type: ignore[misc]
            yield AttentiveContext, lambda own=own, other=other, direction=direction: _contexts(own, other, direction)  # type: ignore[misc]
        shares = torch.split(self.shares(trace.pooled[0]).T, self.config.filters)
        for own, direction, part in ((second, trace.second, shares[1]), (first, trace.first, shares[0])):
            yield (
                FilterProvenance,
                lambda own=own, direction=direction, part=part: self._provenance(own, direction, part),  # type: ignore[misc]
            )

    def shares(self, pooled: Tensor) -> Tensor:
        """Each pooled filter's share in each logit, ``[2K] -> [C, 2K]``: all of them and :meth:`bias` add up to it.

        With a hidden layer these are integrated gradients from filters that are all 0 (Sundararajan et al. 2017,
        section 3). A unit's ReLU is on along a part of the straight path that can be said exactly, so nothing is
        approximated.
        """
        if self.layer is None:
            return self.classifier.weight * pooled
        slope, start = self.layer.weight @ pooled, self.layer.bias
        end = start + slope
        # The part of the path where start + α · slope > 0.
        on = torch.where(slope.abs() > 1e-12, (end.relu() - start.relu()) / slope, (start > 0).to(slope))
        return (self.classifier.weight * on) @ self.layer.weight * pooled

    def bias(self) -> Tensor:
        """The logits of filters that are all 0, ``[C]``."""
        if self.layer is None:
            return self.classifier.bias
        bias: Tensor = self.classifier(torch.relu(self.layer.bias))
        return bias

    def _provenance(self, own: ReadText, direction: Direction, shares: Tensor) -> FilterProvenance:
        """The winning n-gram of each filter; the part of its context holds product and difference as well."""
        filters, width, length = self.config.filters, self.config.width, direction.preactivations.shape[1]
        half, winners = width // 2, direction.winners[0]
        parts = (direction.seen[0, winners] * self.convolution.weight).view(filters, width + 3, -1).sum(-1)
        preactivations = direction.preactivations[0].gather(0, winners[None])[0]
        columns = winners, parts, self.convolution.bias, preactivations, torch.tanh(preactivations), shares
        records = tuple(
            FilterRecord(
                k, position, (max(0, position - half), min(length, position + half + 1)), sum(values[:half]),
                values[half], sum(values[half + 1 : width]), sum(values[width:]), bias, preactivation, activation,
                tuple(share), tuple(values[:width]),
            )
            for k, (position, values, bias, preactivation, activation, share) in enumerate(
                zip(*(column.tolist() for column in columns), strict=True)
            )
        )  # fmt: skip
        return FilterProvenance(f"{own.role} filters", own.role, width, records, tuple(self.bias().tolist()))


def _map(own: ReadText, other: ReadText, direction: Direction) -> AttentionMap:
    return AttentionMap(
        "attention", own.role, other.role, matrix(direction.scores[0]), matrix(direction.weights[0]),
        direction.overridden, null=tuple(direction.null[0].tolist()),
    )  # fmt: skip


def _contexts(own: ReadText, other: ReadText, direction: Direction) -> AttentiveContext:
    weights: Any = matrix(direction.weights[0])
    return AttentiveContext("attentive context", own.role, other.role, weights, (None,) * len(weights))
