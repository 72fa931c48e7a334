"""Two-sided attentive convolution: an extension of AttConv (Yin & Schütze 2018, section 3.1).

Differences from the paper, with reasons:

- Both sentences attend to each other and both reach the classifier. In the paper only t_x does, so a "not" in the
  context has no influence if no word of t_x attends to it.
- A word without a counterpart may attend to a null word, a learned vector among the other sentence's words (as words
  may be aligned to nothing in the IBM models, Brown et al. 1993). Otherwise softmax forces it to attend to some word.
- Words match by their cosine, times a learned temperature, plus the matches of their neighbours and a penalty on the
  difference of their relative positions, which decide between two equal words; a word that another word matches better
  gets less weight.
- A word is compared with its context by product and difference too (Chen et al. 2017, section 3.2), before the
  convolution and not inside it: a sum cannot show that two numbers differ. The filters read these comparisons.
- Each word also receives the share of its sentence's other words whose attention crosses its own: who does what to whom
  depends on order, and every word of "the cat chased the dog" has an equal in "the dog chased the cat".

Alignment does not depend on the loss alone: the strengths of neighbours, positions and rivals and the null word's match
are settings, chosen on the word alignments of RTE-2's development set. When trained with the other weights, they
drifted to values that aligned worse without improving verdicts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.evidence import AttentionMap, AttentiveContext, FilterProvenance
from core.evidence.matrix import matrix
from core.layers.attention import Override, attention_weights, each_map
from core.layers.convolution import windows
from core.layers.pooling import masked_max
from core.layers.projection import word_projection
from core.models.base import CentredConfig, Evidence, Output, Reads, Settings, Wanted, WordModel, register, setting
from core.models.filters import filter_records
from core.models.intervention import Intervention
from core.models.routes import ATTENDED, ATTENTION, OWN, UNPATCHED, WEIGHTS, Patching, Route
from core.reading.batch import Batch, Side
from core.reading.reader import Reading, ReadText

CROSSINGS = 5.0
"""The factor that scales the share of crossing words to the range of the other inputs of a comparison."""


@dataclass(frozen=True)
class TwoSidedConfig(CentredConfig):
    """Sizes. ``hidden``: d of a word, ``compared``: of a compared word, ``filters``: K of each sentence, with the same
    weights for both; ``layer``: units of a hidden layer before the classes, 0 for a linear classifier of the pooled
    filters. Dropout applies to the projected words (one mask per sentence), the compared words, the pooled filters and
    the hidden layer.

    Alignment: ``neighbours`` b, the influence of the nearest words' matches on a word's own (halved for those one
    further); ``place`` λ, the penalty on the difference of relative positions; ``rivalry`` γ, the penalty on a word
    that others match; ``null_match`` β, the null word's cosine to every word."""

    hidden: int = setting(200, least=1)
    compared: int = setting(200, least=1)
    filters: int = setting(200, least=1)
    layer: int = setting(0, least=0)
    neighbours: float = setting(0.2, least=0)
    place: float = setting(0.3, least=0)
    rivalry: float = setting(0.5, least=0)
    null_match: float = setting(0.4, least=-1)
    embedding_dropout: float = setting(0.1, least=0, below=1)
    dropout: float = setting(0.2, least=0, below=1)


@dataclass(frozen=True)
class Direction:
    """Attention of one sentence's T_x words to the other's T_y words."""

    scores: Tensor
    """e_ij, [B, T_x, T_y]; undefined on padding."""
    weights: Tensor
    """The weights used, [B, T_x, T_y]; each row adds up to 1 with ``null`` (unless the caller replaced it)."""
    null: Tensor
    """Weight on the null word, [B, T_x]."""
    across: Tensor
    """r_ik σ(…), how far word k's attention crosses word i's, [B, T_x, T_x]: symmetric, zero diagonal and padding."""
    crossings: Tensor
    """q, [B, T_x]: the share of other words whose attention crosses the word's; 0 in a call without crossings."""
    mask: Tensor
    """[B, T_x], true on words."""
    overridden: bool
    joined: Tensor
    """[x_i; c_i; x_i ∘ c_i; |x_i - c_i|; 5 q_i], [B, T_x, 4d + 1]."""
    compared: Tensor
    """g, each word compared with its context, [B, T_x, compared], zero on padding."""
    preactivations: Tensor
    """[B, T_x, K] before the tanh; undefined on padding."""
    winners: Tensor
    """Winning position of each filter, [B, K]."""


@dataclass(frozen=True)
class TwoSidedTrace:
    """Trace of a forward pass."""

    second: Direction
    """Attention of the second sentence's words to the first's: the map that other models have too."""
    first: Direction
    pooled: Tensor
    """Filters of the first sentence, then of the second, [B, 2K]."""

    @property
    def maps(self) -> tuple[Tensor, Tensor]:
        """The weights in both directions, with the null word in the last column, in the order of the records."""
        second, first = (torch.cat([way.weights, way.null[..., None]], dim=-1) for way in (self.second, self.first))
        return second, first


@register("two-sided", title="Two-sided AttConv", paper="Extends Yin & Schütze 2018", section="3.1")
class TwoSided(WordModel):
    r"""Light attentive convolution of both sentences: each word is compared with its context in the other.

    For words x_i, y_j of the two sentences (projected, R^d) and their unit directions m = [w / ‖w‖; W_m w / ‖W_m w‖] /
    √2, with w the word vector, so that m_i·m_j is the mean of two cosines, one of them learned:

    - s_ij = τ (m_i·m_j + Σ_{k = ±1, ±2} b / |k| m_{i+k}·m_{j+k} - λ |p_i - p_j|), positions p_i = (i + ½) / T;
    - e_ij = s_ij - γ (log (e^{τβ} + Σ_i' e^{s_i'j}) - τβ): lower for a word that others match;
    - weights (w_i, w_i0) = softmax (e_i, τβ), c_i = Σ_j w_ij y_j + w_i0 v;
    - o_i = Σ_j w_ij j / (1 - w_i0), the mean position word i attends to, and r_ik = (1 - w_i0) (1 - w_k0);
    - q_i = (Σ_{k < i} r_ik σ(4 (o_k - o_i) - 2) + Σ_{k > i} r_ik σ(4 (o_i - o_k) - 2)) / (T - 1), the share of words
      whose attention crosses word i's;
    - g_i = ReLU (V [x_i; c_i; x_i ∘ c_i; |x_i - c_i|; 5 q_i] + a);
    - z_i = W [g_{i-1}; g_i; g_{i+1}] + b, and h_k = max_i tanh z_ik.

    Features are h of the first sentence and h of the second (2K values) or, with a hidden layer, ReLU (U h + b_u).

    | here | above | space |
    |---|---|---|
    | match | W_m | R^{D×D} |
    | temperature | log τ | R |
    | null_word | v | R^d |
    | compare | V, a | R^{G×(4d + 1)}, R^G |
    | convolution | W, b | R^{K×width·G}, R^K |
    | layer | U, b_u | R^{H×2K}, R^H |
    """

    records = (AttentionMap, AttentiveContext, FilterProvenance)
    config: TwoSidedConfig

    def __init__(self, config: TwoSidedConfig) -> None:
        super().__init__(config)
        self.projection = word_projection(config.input_size, config.hidden)
        self.match = nn.Linear(config.input_size, config.input_size, bias=False)
        nn.init.orthogonal_(self.match.weight)
        self.temperature = nn.Parameter(torch.tensor(2.0))
        self.null_word = nn.Parameter(torch.zeros(config.hidden))
        self.compare = nn.Linear(4 * config.hidden + 1, config.compared)
        self.convolution = nn.Linear(config.width * config.compared, config.filters)
        self.layer = nn.Linear(2 * config.filters, config.layer) if config.layer else None
        self.classifier = nn.Linear(config.layer or 2 * config.filters, config.classes)

    def forward(
        self,
        batch: Batch,
        override: Override | None = None,
        crossings: bool = True,
        patching: Patching = UNPATCHED,
    ) -> Output:
        """``override``: one matrix per attention map, ``[B, T_2, T_1 + 1]`` for the second sentence's words and ``[B,
        T_1, T_2 + 1]`` for the first's, with the null word last; None keeps the model's map, and a single tensor
        replaces the first map. Without ``crossings`` every q is 0. Raises ValueError for other shapes."""
        sides = batch.first, batch.second
        first, second = (self.words(side) for side in sides)
        of_second, of_first = each_map(override, 2)
        matches = self._matches(*sides)
        first_direction, first_pooled = self._compare(first, second, *sides, matches, of_first, crossings, patching)
        second_direction, second_pooled = self._compare(
            second, first, *sides[::-1], matches.transpose(1, 2), of_second, crossings, patching
        )
        rows = max(len(first_pooled), len(second_pooled))  # either may have several overrides
        pooled = torch.cat([first_pooled.expand(rows, -1), second_pooled.expand(rows, -1)], dim=1)
        features = pooled if self.layer is None else torch.relu(self.layer(self.dropped(pooled)))
        logits = self.classifier(self.dropped(features))
        return Output(logits, features, TwoSidedTrace(second_direction, first_direction, pooled))

    def under(self, batch: Batch, intervention: Intervention) -> Output:
        """Words, their matches and the direction without an override are computed once for all overrides."""
        if intervention.patching is not None:
            return super().under(batch, intervention)
        return self.forward(batch, intervention.attention, intervention.crossings)

    def _matches(self, x: Side, y: Side) -> Tensor:
        """s ``[B, T_x, T_y]``; undefined on padding."""
        cosines = self._directions(x) @ self._directions(y).transpose(1, 2)
        matches = cosines
        for near in (1, 2):
            framed = F.pad(cosines, (near,) * 4)
            matches = matches + self.config.neighbours / near * (
                framed[:, : -2 * near, : -2 * near] + framed[:, 2 * near :, 2 * near :]
            )
        apart = (self._places(x.mask)[:, :, None] - self._places(y.mask)[:, None]).abs()
        return self.temperature.exp() * (matches - self.config.place * apart)

    @property
    def null_score(self) -> Tensor:
        """τβ, the null word's match with every word."""
        return self.temperature.exp() * self.config.null_match

    def _directions(self, side: Side) -> Tensor:
        """m ``[B, T, 2D]``, zero on padding."""
        words = side.words.masked_fill(~side.mask[..., None], 0.0)
        both = F.normalize(words, dim=-1, eps=1e-6), F.normalize(self.match(words), dim=-1, eps=1e-6)
        return torch.cat(both, dim=-1) * math.sqrt(0.5)

    @staticmethod
    def _across(weights: Tensor, alone: Tensor, mask: Tensor) -> Tensor:
        """r_ik σ(…) ``[B, T_x, T_x]``, of word k (column) across word i (row), from the weights ``[B, T_x, T_y]`` and
        the weights on the null word ``[B, T_x]``."""
        places = torch.arange(weights.shape[2], device=weights.device, dtype=weights.dtype)
        aligned = (1 - alone) * mask
        looked_at = (weights * places).sum(-1) / (1 - alone).clamp_min(1e-3)
        order = torch.arange(weights.shape[1], device=weights.device)
        behind = (order[None] - order[:, None]).sign()  # 1 if word k comes after word i
        across = torch.sigmoid(4 * behind * (looked_at[:, :, None] - looked_at[:, None]) - 2) * behind.abs()
        return aligned[:, :, None] * across * aligned[:, None]

    def _places(self, mask: Tensor) -> Tensor:
        """p ``[B, T]``."""
        positions = torch.arange(mask.shape[1], device=mask.device, dtype=self.temperature.dtype)
        return (positions + 0.5) / mask.sum(1, keepdim=True).clamp_min(1)

    def _compare(
        self,
        x: Tensor,
        y: Tensor,
        x_side: Side,
        y_side: Side,
        matches: Tensor,
        override: Tensor | None,
        crossings: bool,
        patching: Patching,
    ) -> tuple[Direction, Tensor]:
        """The words of x compared with their contexts in y, and the pooled filters ``[B, K]``."""
        null = self.null_score
        own = matches.masked_fill(~x_side.mask[..., None], torch.finfo(matches.dtype).min)
        taken = torch.logsumexp(torch.cat([own, null.expand(len(own), 1, own.shape[2])], dim=1), dim=1) - null
        scores = matches - self.config.rivalry * taken[:, None]
        mask = F.pad(y_side.mask, (0, 1), value=True)
        weights = attention_weights(torch.cat([scores, null.expand(*scores.shape[:2], 1)], dim=-1), mask, override)
        weights = patching(WEIGHTS, weights)  # the crossings follow them
        context = weights @ torch.cat([patching(ATTENDED, y), self.null_word.to(y.dtype).expand(len(y), 1, -1)], dim=1)
        weights, alone = weights[..., :-1], weights[..., -1]
        across = self._across(weights, alone, x_side.mask)
        share = across.sum(-1) / (x_side.mask.sum(1, keepdim=True) - 1).clamp_min(1)
        share = share if crossings else torch.zeros_like(share)
        x = patching(OWN, x).expand(len(context), -1, -1)
        joined = torch.cat([x, context, x * context, (x - context).abs(), CROSSINGS * share[..., None]], dim=-1)
        compared = self._kept(torch.relu(self.compare(joined)), x_side.mask)
        preactivations = self.convolution(windows(compared, self.config.width))
        pooled, winners = self._largest(preactivations, x_side.mask.expand(len(x), -1))
        given = override is not None
        return Direction(
            scores, weights, alone, across, share, x_side.mask, given, joined, compared, preactivations, winners
        ), pooled

    def _kept(self, compared: Tensor, mask: Tensor) -> Tensor:
        """Compared words ``[B, T, G]``, zero on padding and where dropped: one product for padding and dropout."""
        share = 1 - self.config.dropout if self.training else 1.0
        kept = mask[..., None] / share
        return compared * (kept if share == 1 else torch.empty_like(compared).bernoulli_(share).mul_(kept))

    def _largest(self, preactivations: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """h ``[B, K]`` and the winning words ``[B, K]``. In training the max comes before the tanh, which then has one
        value per filter; otherwise, if tanh saturates at 1, the first such word wins, as the evidence reports."""
        if not self.training:
            return masked_max(torch.tanh(preactivations), mask)
        largest, winners = masked_max(preactivations, mask)
        return torch.tanh(largest), winners

    @classmethod
    def reads(cls, config: Settings) -> Reads:
        return Reads(crossings=True)

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        return ATTENTION

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        trace: TwoSidedTrace = output.trace
        first, second = reading.first, reading.second
        for own, other, direction in ((second, first, trace.second), (first, second, trace.first)):
            weights = matrix(direction.weights[0])
            if AttentionMap in wanted:
                yield AttentionMap(
                    "attention",
                    own.role,
                    other.role,
                    matrix(direction.scores[0]),
                    weights,
                    direction.overridden,
                    null=tuple(direction.null[0].tolist()),
                    null_score=self.null_score.item(),
                    crossings=tuple(direction.crossings[0].tolist()),
                    crossed_by=matrix(direction.across[0]),
                )
            if AttentiveContext in wanted:
                nearest = (None,) * len(weights)
                yield AttentiveContext("attentive context", own.role, other.role, weights, nearest)
        if FilterProvenance in wanted:
            of_first, of_second = torch.split(self.shares(trace.pooled[0]).T, self.config.filters)
            yield self._provenance(second, trace.second, of_second)
            yield self._provenance(first, trace.first, of_first)

    def shares(self, pooled: Tensor) -> Tensor:
        """Each pooled filter's share in each logit, ``[2K] -> [C, 2K]``: together with :meth:`bias` they add up to it.

        With a hidden layer these are integrated gradients from a baseline of all-zero filters (Sundararajan et al.
        2017, section 3). The part of the straight path along which a unit's ReLU is active is known exactly, so nothing
        is approximated.
        """
        if self.layer is None:
            return self.classifier.weight * pooled
        slope, start = self.layer.weight @ pooled, self.layer.bias
        end = start + slope
        # The fraction of the path on which start + α · slope > 0.
        on = torch.where(slope.abs() > 1e-12, (end.relu() - start.relu()) / slope, (start > 0).to(slope))
        return (self.classifier.weight * on) @ self.layer.weight * pooled

    def bias(self) -> Tensor:
        """The logits for all-zero filters, ``[C]``."""
        if self.layer is None:
            return self.classifier.bias
        bias: Tensor = self.classifier(torch.relu(self.layer.bias))
        return bias

    def _provenance(self, own: ReadText, direction: Direction, shares: Tensor) -> FilterProvenance:
        """The winning n-gram of each filter. Its parts are compared words: a word's part includes its context from the
        other sentence, so the context has no separate part. The central word's part is split further: where a ReLU is
        on, its unit is a sum over what is compared."""
        width, winners = self.config.width, direction.winners[0]
        seen = windows(direction.compared, width)[0, winners]
        parts = (seen * self.convolution.weight).view(len(winners), width, -1).sum(-1)
        preactivations = direction.preactivations[0].gather(0, winners[None])[0]
        sizes = [*[self.config.hidden] * 4, 1]
        inputs = zip(*(torch.split(of, sizes, dim=1) for of in (direction.joined[0], self.compare.weight)), strict=True)
        bias = self.compare.bias.expand_as(direction.compared[0])
        units = torch.stack([*(value @ weight.T for value, weight in inputs), bias], dim=-1)  # [T, compared, 6]
        units = units * (direction.compared[0, :, :, None] > 0)
        centre = self.convolution.weight.view(len(winners), width, -1)[:, width // 2]
        central = torch.einsum("kg,tgp->ktp", centre, units)[torch.arange(len(winners)), winners]
        records = filter_records(
            len(direction.preactivations[0]),
            winners - width // 2,
            parts,
            self.convolution.bias,
            preactivations,
            torch.tanh(preactivations),
            shares=shares,
        )
        return FilterProvenance(
            f"{own.role} filters",
            own.role,
            width,
            records,
            tuple(self.bias().tolist()),
            compared=matrix(central),
        )
