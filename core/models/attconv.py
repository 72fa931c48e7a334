"""Attentive convolution, light and advanced (Yin & Schütze 2018, TACL 6, sections 3.1 and 3.2).

Only the representation of t_x, the sentence that is judged, reaches the classifier.

We differ from the paper in the input: instead of 300 fine-tuned word2vec numbers a word, a frozen shared word table
[D] is projected to the hidden size d by one learned map (counted apart from the paper's weights), so that all
checkpoints share one table and a browser session holds it once.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.layers.attention import MATCHES, Match, attention_weights, put_in_place
from core.layers.convolution import AttentiveConvolution, GatedConvolution
from core.layers.pooling import masked_max
from core.layers.projection import read_words, word_projection
from core.reading.batch import Batch

CONTEXTS = ("extra", "intra", "none")


@dataclass(frozen=True)
class AttConvConfig:
    """Sizes and choices of both forms. ``context``: extra (t_y is the other sentence), intra (t_y = t_x), none (t_x
    alone, the paper's "w/o context"). Dropout runs on the projected words (one mask a sentence)
    and on the pooled features."""

    input_size: int
    hidden: int = 300
    classes: int = 3
    width: int = 3
    match: str = "dot"
    context: str = "extra"
    embedding_dropout: float = 0.3
    dropout: float = 0.2

    def __post_init__(self) -> None:
        for name, value, known in (("match", self.match, MATCHES), ("context", self.context, CONTEXTS)):
            if value not in known:
                raise ValueError(f"unknown {name} {value!r}; known: {', '.join(known)}")
        if min(self.input_size, self.hidden, self.classes) < 1 or self.width < 1 or self.width % 2 == 0:
            raise ValueError("input_size, hidden and classes must be at least 1 and width odd")


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
    """The weights used, [B, T_x, T_y], each row adds up to 1 over real words (or what the caller put in place)."""
    context: Tensor | None
    """Attentive contexts c_i, [B, T_x, d_s]."""
    preactivations: Tensor
    """[B, T_x, K] before the tanh; meaningless on pads."""
    pooled: Tensor
    """tanh then max over positions, [B, K]."""
    winners: Tensor
    """Winning position of each filter, [B, K]."""


class AttConv(nn.Module):
    """What light and advanced share; a subclass says what source, focus and beneficiary are."""

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

    def forward(self, batch: Batch, attention: Tensor | None = None) -> tuple[Tensor, AttConvTrace]:
        """Logits ``[B, C]`` and the trace. ``attention [B, T_x, T_y]`` takes the place of the softmax's weights.

        Nothing is kept on the module, so threads may share it. Raises ValueError when ``attention`` has another shape
        or the model has no context to attend to.
        """
        x_mask, y_mask = batch.x_mask, batch.y_mask
        x = self._words(batch.x, x_mask)
        scores = weights = context = None
        if self.match is not None:
            intra = self.config.context == "intra"
            source = self.source(x, x_mask)
            focus = source if intra else self.source(self._words(batch.y, y_mask), y_mask)
            focus_mask = x_mask if intra else y_mask
            scores = self.match(source, focus)
            weights = attention_weights(scores, focus_mask)
            if attention is not None:
                weights = put_in_place(attention, weights, focus_mask[:, None])
            context = weights @ focus
        elif attention is not None:
            raise ValueError("this model reads one sentence alone: it has no attention to replace")
        beneficiary = self.beneficiary(x, x_mask)
        preactivations = self.convolution(beneficiary, context)
        pooled, winners = masked_max(torch.tanh(preactivations), x_mask)
        logits = self.classifier(F.dropout(pooled, self.config.dropout, self.training))
        return logits, AttConvTrace(beneficiary, scores, weights, context, preactivations, pooled, winners)

    def _words(self, vectors: Tensor, mask: Tensor) -> Tensor:
        return read_words(self.projection, vectors, mask, self.config.embedding_dropout if self.training else 0.0)


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


class AttConvAdvanced(AttConv):
    """Advanced attentive convolution (section 3.2): multi-granular source and focus, gated beneficiary.

    source = [f_gconv(h_i); f_gconv([h_{i-1}; h_i; h_{i+1}])] ∈ R^{2d} (equations 10 to 12), focus the same function of
    t_y with shared weights, so that the two live in one space (the paper says "the same architecture"); beneficiary =
    a unigram f_gconv of its own. The paper states 900k weights; its equations give more (the card says how many).
    """

    def __init__(self, config: AttConvConfig) -> None:
        super().__init__(config, 2 * config.hidden)
        self.unigram = GatedConvolution(config.hidden, 1)
        self.trigram = GatedConvolution(config.hidden, 3)
        self.own = GatedConvolution(config.hidden, 1)

    def source(self, states: Tensor, mask: Tensor) -> Tensor:
        return torch.cat([self.unigram(states, mask), self.trigram(states, mask)], dim=-1)

    def beneficiary(self, states: Tensor, mask: Tensor) -> Tensor:
        out: Tensor = self.own(states, mask)
        return out
