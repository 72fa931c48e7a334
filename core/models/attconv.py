"""Attentive convolution, light and advanced (Yin & Schütze 2018, TACL 6, sections 3.1 and 3.2).

Only the representation of t_x, the judged sentence, reaches the classifier.

We differ from the paper in the input: instead of 300-dimensional fine-tuned word2vec vectors, a learned map projects a
frozen shared word table [D] to the hidden size d (its weights are counted separately from the paper's), so that all
checkpoints share one table and it is in memory only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.evidence import AttentionMap, AttentiveContext, FilterProvenance, Record
from core.evidence.matrix import matrix
from core.layers.attention import MATCHES, Match, Override, attention_weights, each_map, refuse
from core.layers.convolution import AttentiveConvolution, GatedConvolution
from core.layers.pooling import masked_max
from core.layers.projection import word_projection
from core.models.base import (
    CentredConfig,
    Evidence,
    Output,
    Reads,
    Settings,
    Wanted,
    WordModel,
    register,
    setting,
)
from core.models.filters import filter_records
from core.models.routes import ATTENDED, ATTENTION, OWN, UNPATCHED, WEIGHTS, Patching, Route
from core.reading.batch import Batch, Side
from core.reading.reader import Reading

CONTEXTS = ("extra", "each", "intra", "none")


@dataclass(frozen=True)
class AttConvConfig(CentredConfig):
    """Sizes and options of both forms. ``context``: extra (t_y is the other text), each (every line of the other text
    is a separate t_y, the paper's "context-wise"), intra (t_y = t_x), none (t_x alone, the paper's "w/o context").
    Dropout applies to the projected words (one mask per sentence) and to the pooled features."""

    hidden: int = setting(300, least=1)
    match: str = setting("dot", one_of=MATCHES)
    context: str = setting("extra", one_of=CONTEXTS)
    embedding_dropout: float = setting(0.3, least=0, below=1)
    dropout: float = setting(0.2, least=0, below=1)

    @classmethod
    def about(cls, settings: Settings) -> str:
        """Without a context the model is a convolution over the judged sentence."""
        alone = "A convolution over the judged sentence alone: it shows what a data set gives away without the other."
        return alone if settings.get("context") == "none" else ""


@dataclass(frozen=True)
class AttConvTrace:
    """Trace of a forward pass; d_s is the width of source and focus (d in light, 2d in advanced).

    Without a context (``context="none"``) ``scores``, ``weights`` and ``context`` are None.
    """

    beneficiary: Tensor
    """[B, T_x, d], zero on padding."""
    scores: Tensor | None
    """e_ij, [B, T_x, T_y]; undefined on padding."""
    weights: Tensor | None
    """The weights used, [B, T_x, T_y]; each row adds up to 1 over real words (unless the caller replaced it)."""
    context: Tensor | None
    """Attentive contexts c_i, [B, T_x, d_s]."""
    preactivations: Tensor
    """[B, T_x, K] before the tanh; undefined on padding."""
    winners: Tensor
    """Winning position of each filter, [B, K]."""


@dataclass(frozen=True)
class ContextsTrace:
    """The traces of several contexts and the winning context of each filter."""

    each: tuple[AttConvTrace, ...]
    """One per context, over the rows of the batch that have it."""
    present: Tensor
    """Whether a row has a context, [B, N]."""
    won: Tensor
    """The context with the largest value, [B, K]."""

    @property
    def maps(self) -> tuple[Tensor, ...]:
        """The weights for all contexts, [B, T_x, T_y] each, 0 in rows without that context."""
        used = ((present, trace.weights) for present, trace in zip(self.present.T, self.each, strict=True))
        return tuple(
            weights.new_zeros(len(present), *weights.shape[1:]).masked_scatter(present[:, None, None], weights)
            for present, weights in used
            if weights is not None
        )


class AttConv(WordModel):
    """Shared by the light and advanced forms; a subclass defines source, focus and beneficiary."""

    def __init__(self, config: AttConvConfig, states: int) -> None:
        super().__init__(config)
        self.projection = word_projection(config.input_size, config.hidden)
        contextual = config.context != "none"
        self.match = Match(config.match, states) if contextual else None
        self.convolution = AttentiveConvolution(
            config.hidden, config.hidden, config.width, states if contextual else None
        )
        self.classifier = nn.Linear(config.hidden, config.classes)

    def source(self, states: Tensor, mask: Tensor) -> Tensor:
        """The states to match, ``[B, T, d] -> [B, T, d_s]``; also computes the focus, with the same weights."""
        raise NotImplementedError

    def beneficiary(self, states: Tensor, mask: Tensor) -> Tensor:
        """The states to which the attentive context is added, ``[B, T, d] -> [B, T, d]``."""
        raise NotImplementedError

    def forward(self, batch: Batch, override: Override | None = None, patching: Patching = UNPATCHED) -> Output:
        """``override [B, T_x, T_y]`` replaces the softmax weights, one per context if there are several (None keeps the
        model's); not allowed without a context.

        Raises ValueError for an override of another shape or without a context, and if both sides are judged.
        """
        x, x_mask = self.words(batch.x), batch.x.mask
        beneficiary = patching(OWN, self.beneficiary(x, x_mask))
        trace: AttConvTrace | ContextsTrace
        if self.match is None:
            refuse(override)
            pooled, trace = self._pooled(beneficiary, x_mask, None, None, None, patching)
        elif self.config.context == "each":
            pooled, trace = self._beside_each(x, beneficiary, x_mask, batch.ys, override, patching)
        else:
            source = self.source(x, x_mask)
            y_mask = x_mask if self.config.context == "intra" else batch.y.mask
            focus = source if self.config.context == "intra" else self.source(self.words(batch.y), y_mask)
            (given,) = each_map(override, 1)
            pooled, trace = self._pooled(beneficiary, x_mask, source, (focus, y_mask), given, patching)
        return Output(self.classifier(self.dropped(pooled)), pooled, trace)

    def _pooled(
        self,
        beneficiary: Tensor,
        x_mask: Tensor,
        source: Tensor | None,
        y: tuple[Tensor, Tensor] | None,
        override: Tensor | None,
        patching: Patching,
    ) -> tuple[Tensor, AttConvTrace]:
        """The filters ``[B, K]`` over t_x with one context, given by its focus and mask (None: no context)."""
        scores = weights = context = None
        if self.match is not None and source is not None and y is not None:
            focus, y_mask = y
            scores = self.match(source, focus)
            weights = patching(WEIGHTS, attention_weights(scores, y_mask, override))
            context = weights @ patching(ATTENDED, focus)  # [Yin18 eq. 4]
        preactivations = self.convolution(beneficiary, context)
        pooled, winners = masked_max(torch.tanh(preactivations), x_mask)
        return pooled, AttConvTrace(beneficiary, scores, weights, context, preactivations, winners)

    def _beside_each(
        self,
        x: Tensor,
        beneficiary: Tensor,
        x_mask: Tensor,
        contexts: Sequence[Side],
        override: Override | None,
        patching: Patching,
    ) -> tuple[Tensor, ContextsTrace]:
        """One pass per context; each filter keeps its largest value ("context-wise", section 4.3)."""
        source, traces, values = self.source(x, x_mask), [], []
        present = torch.stack([side.mask.any(1) for side in contexts], dim=1)
        for own, side, given in zip(present.T, contexts, each_map(override, len(contexts)), strict=True):
            if given is not None and given.shape != (*x_mask.shape, side.mask.shape[1]):
                wanted = [*x_mask.shape, side.mask.shape[1]]
                raise ValueError(f"an override of this attention must be {wanted}, got {list(given.shape)}")
            # Rows differ in their number of contexts: only those that have this one are computed.
            y = Side(side.words[own], side.mask[own])
            focus = self.source(self.words(y), y.mask)
            given = None if given is None else given[own]
            pooled, trace = self._pooled(beneficiary[own], x_mask[own], source[own], (focus, y.mask), given, patching)
            least = pooled.new_full((len(own), pooled.shape[1]), -torch.inf)
            values.append(least.masked_scatter(own[:, None], pooled))
            traces.append(trace)
        largest, won = torch.stack(values, dim=1).max(dim=1)
        return largest, ContextsTrace(tuple(traces), present, won)

    @classmethod
    def shows(cls, config: Settings) -> tuple[type[Record], ...]:
        """Attention records exist only if there is a context."""
        attentive = (AttentionMap, AttentiveContext) if config.get("context") != "none" else ()
        return *attentive, FilterProvenance

    @classmethod
    def reads(cls, config: Settings) -> Reads:
        """The judged text alone suffices if the other one is not read; it represents one side."""
        context = config.get("context", "extra")
        return Reads((1,) if context in ("extra", "each") else (0, 1), lines=context == "each", both=False)

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        """Without a context there is only one."""
        return () if config.get("context") == "none" else ATTENTION

    def lay_out(self, override: Override, reading: Reading) -> Override:
        """The columns of several contexts are concatenated in their record."""
        lengths = [len(context.tokens) for context in reading.contexts]
        if not isinstance(override, Tensor) or self.config.context != "each" or reading.judged != "first":
            return super().lay_out(override, reading)
        if override.shape[-1] != sum(lengths):
            wanted = [len(reading.x.tokens), sum(lengths)]
            raise ValueError(f"an override of this attention must be {wanted}, got {list(override.shape)}")
        return tuple(block[None] for block in torch.split(override, lengths, dim=-1))

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        rows, several = reading.x.role, isinstance(output.trace, ContextsTrace)
        traces: Sequence[AttConvTrace] = output.trace.each if several else (output.trace,)
        if self.match is not None and {AttentionMap, AttentiveContext} & {*wanted}:
            columns = rows if self.config.context == "intra" else reading.y.role
            # Lines of one text: their columns are concatenated.
            scores, weights = (
                matrix(torch.cat([getattr(trace, name)[0] for trace in traces], dim=1))
                for name in ("scores", "weights")
            )
            if AttentionMap in wanted:
                apart = len(traces) > 1
                yield AttentionMap("attention", rows, columns, scores, weights, overridden, apart=apart)
            if AttentiveContext in wanted:
                yield AttentiveContext("attentive context", rows, columns, weights, (None,) * len(weights))
        if FilterProvenance in wanted:
            won = output.trace.won[0] if several else torch.zeros_like(traces[0].winners[0])
            yield self._provenance(rows, traces, won, output.features[0])

    def _provenance(self, rows: str, traces: Sequence[AttConvTrace], won: Tensor, pooled: Tensor) -> FilterProvenance:
        """The winning n-gram of each filter with its exact parts (figure 6a), and, if there are several contexts, the
        one (``won [K]``) that produced it."""

        def of_winner(values: Sequence[Tensor]) -> Tensor:
            """Selects the entry of each filter's winning context from one ``[K, …]`` tensor per context."""
            return torch.stack(list(values))[won, torch.arange(len(won))]

        winners = of_winner([trace.winners[0] for trace in traces])
        parts = [
            self.convolution.parts(trace.beneficiary[0], None if trace.context is None else trace.context[0], winners)
            for trace in traces
        ]
        offsets, from_context = (of_winner([part[name] for part in parts]) for name in ("offsets", "context"))
        preactivations = of_winner([trace.preactivations[0].gather(0, winners[None])[0] for trace in traces])
        filters = filter_records(
            traces[0].preactivations.shape[1],
            winners - self.config.width // 2,
            offsets,
            parts[0]["bias"],
            preactivations,
            pooled,
            context=from_context,
            shares=(self.classifier.weight * pooled).T,
            contexts=won if len(traces) > 1 else None,
        )
        bias = tuple(self.classifier.bias.tolist())
        return FilterProvenance("filters", rows, self.config.width, filters, bias, contexts=len(traces))


@register("attconv-light", title="AttConv light", paper="Yin & Schütze 2018", section="3.1")
class AttConvLight(AttConv):
    """Light attentive convolution (section 3.1): source, focus and beneficiary are the words themselves.

    ``convolution`` holds the paper's 360k weights: W_1 ∈ R^{d×3d} and W_2 ∈ R^{d×d}.
    """

    def __init__(self, config: AttConvConfig) -> None:
        super().__init__(config, config.hidden)

    def source(self, states: Tensor, mask: Tensor) -> Tensor:
        return states

    def beneficiary(self, states: Tensor, mask: Tensor) -> Tensor:
        return states


@register("attconv-advanced", title="AttConv advanced", paper="Yin & Schütze 2018", section="3.2")
class AttConvAdvanced(AttConv):
    """Advanced attentive convolution (section 3.2): multi-granular source and focus, gated beneficiary.

    source = [f_gconv(h_i); f_gconv([h_{i-1}; h_i; h_{i+1}])] ∈ R^{2d} (equations 10 to 12); focus is the same function
    of t_y with shared weights, so that both live in one space (the paper says "the same architecture"); beneficiary = a
    separate unigram f_gconv. The paper reports 900k weights; its equations give more (the count is on the card).
    """

    def __init__(self, config: AttConvConfig) -> None:
        super().__init__(config, 2 * config.hidden)
        if config.context != "none":
            self.unigram = GatedConvolution(config.hidden, 1)
            self.trigram = GatedConvolution(config.hidden, 3)
        self.own = GatedConvolution(config.hidden, 1)

    def source(self, states: Tensor, mask: Tensor) -> Tensor:
        words = self.unigram(states, mask)  # [Yin18 eq. 10]
        phrases = self.trigram(states, mask)  # [Yin18 eq. 11]
        return torch.cat([words, phrases], dim=-1)  # [Yin18 eq. 12]

    def beneficiary(self, states: Tensor, mask: Tensor) -> Tensor:
        return self.own(states, mask)  # [Yin18 eq. 13]
