"""Attentive convolution, light and advanced (Yin & Schütze 2018, TACL 6, sections 3.1 and 3.2).

Only the representation of t_x, the sentence that is judged, reaches the classifier.

We differ from the paper in the input: instead of 300 fine-tuned word2vec numbers a word, a frozen shared word table
[D] is projected to the hidden size d by one learned map (counted apart from the paper's weights), so that all
checkpoints share one table and a browser session holds it once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.evidence import AttentionMap, AttentiveContext, FilterProvenance, FilterRecord, Record
from core.evidence.record import matrix
from core.layers.attention import MATCHES, Match, attention_weights, put_in_place
from core.layers.convolution import AttentiveConvolution, GatedConvolution
from core.layers.pooling import masked_max
from core.layers.projection import read_words, word_projection
from core.models.base import Evidence, ModelConfig, Output, PairModel, register, setting
from core.reading.batch import Batch, Side
from core.reading.reader import Reading

CONTEXTS = ("extra", "intra", "none")
SHARED: dict[str, Any] = {
    "paper": "Yin & Schütze 2018", "tasks": ("entailment", "answer selection", "paraphrase"),
    "shows": (AttentionMap, AttentiveContext, FilterProvenance),
}  # fmt: skip
"""What both forms register."""


@dataclass(frozen=True)
class AttConvConfig(ModelConfig):
    """Sizes and choices of both forms. ``context``: extra (t_y is the other sentence), intra (t_y = t_x), none (t_x
    alone, the paper's "w/o context"). Dropout runs on the projected words (one mask a sentence)
    and on the pooled features."""

    hidden: int = setting(300, least=1)
    width: int = setting(3, least=1)
    match: str = setting("dot", one_of=MATCHES)
    context: str = setting("extra", one_of=CONTEXTS)
    embedding_dropout: float = setting(0.3, least=0, below=1)
    dropout: float = setting(0.2, least=0, below=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width % 2 == 0:
            raise ValueError(f"width must be odd to have a central word, got {self.width}")


@dataclass(frozen=True)
class AttConvTrace:
    """What a forward pass computed on the way. d_s is the width of source and focus (d light, 2d advanced).

    Without a context (``context="none"``) ``scores``, ``weights`` and ``context`` are None.
    """

    beneficiary: Tensor
    """[B, T_x, d], zero on pads."""
    scores: Tensor | None
    """e_ij, [B, T_x, T_y]; meaningless on pads."""
    weights: Tensor | None
    """The weights used, [B, T_x, T_y], each row adds up to 1 over real words (or is the caller's override)."""
    context: Tensor | None
    """Attentive contexts c_i, [B, T_x, d_s]."""
    preactivations: Tensor
    """[B, T_x, K] before the tanh; meaningless on pads."""
    winners: Tensor
    """Winning position of each filter, [B, K]."""


class AttConv(PairModel):
    """What light and advanced share; a subclass says what source, focus and beneficiary are."""

    judges_both = False

    def __init__(self, config: AttConvConfig, states: int) -> None:
        super().__init__()
        self.config = config
        self.projection = word_projection(config.input_size, config.hidden)
        contextual = config.context != "none"
        self.match = Match(config.match, states) if contextual else None
        self.convolution = AttentiveConvolution(
            config.hidden, config.hidden, config.width, states if contextual else None
        )
        self.classifier = nn.Linear(config.hidden, config.classes)

    def source(self, states: Tensor, mask: Tensor) -> Tensor:
        """What is matched, ``[B, T, d] -> [B, T, d_s]``; the focus has the same architecture and weights."""
        raise NotImplementedError

    def beneficiary(self, states: Tensor, mask: Tensor) -> Tensor:
        """What the attentive context is added to, ``[B, T, d] -> [B, T, d]``."""
        raise NotImplementedError

    def forward(self, batch: Batch, override: Tensor | None = None) -> Output:
        """``override [B, T_x, T_y]`` takes the place of the softmax's weights; without a context there is none.

        Raises ValueError for an override of another shape or without a context, and where both sides are judged.
        """
        x, x_mask = self._words(batch.x), batch.x.mask
        scores = weights = context = None
        if self.match is not None:
            y_mask = x_mask if self.config.context == "intra" else batch.y.mask
            source = self.source(x, x_mask)
            focus = source if self.config.context == "intra" else self.source(self._words(batch.y), y_mask)
            scores = self.match(source, focus)
            weights = attention_weights(scores, y_mask)
            if override is not None:
                weights = put_in_place(override, weights, y_mask[:, None])
            context = weights @ focus  # [Yin18 eq. 4]
        elif override is not None:
            raise ValueError("this model reads one sentence alone: it has no attention to replace")
        beneficiary = self.beneficiary(x, x_mask)
        preactivations = self.convolution(beneficiary, context)
        pooled, winners = masked_max(torch.tanh(preactivations), x_mask)
        logits = self.classifier(F.dropout(pooled, self.config.dropout, self.training))
        return Output(logits, pooled, AttConvTrace(beneficiary, scores, weights, context, preactivations, winners))

    @classmethod
    def shows(cls, config: Mapping[str, Any]) -> tuple[type[Record], ...]:
        """Without a context there is no attention."""
        return cls.spec.shows if config.get("context") != "none" else (FilterProvenance,)

    @classmethod
    def about(cls, config: Mapping[str, Any]) -> str:
        """Without a context it is a convolution over the judged sentence."""
        alone = "A convolution over the judged sentence alone: it shows what a data set gives away without the other."
        return alone if config.get("context") == "none" else super().about(config)

    @classmethod
    def contexts(cls, config: Mapping[str, Any]) -> tuple[int, ...]:
        """The judged text alone will do where the other one is not looked at."""
        return (1,) if config.get("context", "extra") == "extra" else (0, 1)

    def evidence(self, reading: Reading, output: Output, overridden: bool = False) -> Evidence:
        trace: AttConvTrace = output.trace
        rows = reading.x.role
        if trace.weights is not None and trace.scores is not None:
            columns = rows if self.config.context == "intra" else reading.y.role
            scores, weights = matrix(trace.scores[0]), matrix(trace.weights[0])
            yield AttentionMap, lambda: AttentionMap("attention", rows, columns, scores, weights, overridden)
            nearest = (None,) * len(weights)
            yield AttentiveContext, lambda: AttentiveContext("attentive context", rows, columns, weights, nearest)
        yield FilterProvenance, lambda: self._provenance(rows, output)

    def _provenance(self, rows: str, output: Output) -> FilterProvenance:
        """The winning n-gram of each filter with its exact parts (figure 6a)."""
        trace: AttConvTrace = output.trace
        context = None if trace.context is None else trace.context[0]
        pooled, winners = output.features[0], trace.winners[0]
        parts = self.convolution.parts(trace.beneficiary[0], context, winners)
        preactivations = trace.preactivations[0].gather(0, winners[None])[0]
        half, length = self.config.width // 2, trace.preactivations.shape[1]
        shares = (self.classifier.weight * pooled).T
        columns = (winners, parts["offsets"], parts["context"], parts["bias"], preactivations, pooled, shares)
        filters = tuple(
            FilterRecord(
                k, position, (max(0, position - half), min(length, position + half + 1)), sum(offsets[:half]),
                offsets[half], sum(offsets[half + 1 :]), from_context, bias, preactivation, activation, tuple(share),
                tuple(offsets),
            )
            for k, (position, offsets, from_context, bias, preactivation, activation, share) in enumerate(
                zip(*(column.tolist() for column in columns), strict=True)
            )
        )  # fmt: skip
        return FilterProvenance("filters", rows, self.config.width, filters, tuple(self.classifier.bias.tolist()))

    def _words(self, side: Side) -> Tensor:
        return read_words(self.projection, side, self.config.embedding_dropout if self.training else 0.0)


@register("attconv-light", config=AttConvConfig, title="AttConv light", section="3.1", **SHARED)
class AttConvLight(AttConv):
    """Light attentive convolution (section 3.1): source, focus and beneficiary are the words themselves.

    The paper's 360k weights are ``convolution``: W_1 ∈ R^{d×3d} and W_2 ∈ R^{d×d}.
    """

    def __init__(self, config: AttConvConfig) -> None:
        super().__init__(config, config.hidden)

    def source(self, states: Tensor, mask: Tensor) -> Tensor:
        return states

    def beneficiary(self, states: Tensor, mask: Tensor) -> Tensor:
        return states


@register("attconv-advanced", config=AttConvConfig, title="AttConv advanced", section="3.2", **SHARED)
class AttConvAdvanced(AttConv):
    """Advanced attentive convolution (section 3.2): multi-granular source and focus, gated beneficiary.

    source = [f_gconv(h_i); f_gconv([h_{i-1}; h_i; h_{i+1}])] ∈ R^{2d} (equations 10 to 12), focus the same function of
    t_y with shared weights, so that the two live in one space (the paper says "the same architecture"); beneficiary =
    a unigram f_gconv of its own. The paper states 900k weights; its equations give more (the card says how many).
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
        out: Tensor = self.own(states, mask)  # [Yin18 eq. 13]
        return out
