"""Adaptive CNNs: filters made from the text itself, or from the other text (Shen et al. 2018, EMNLP).

    one text   words -> filters of its own -> convolution, ReLU, max over time -> classes            ACNN (section 3.2)
    a pair     question -> filters for the answer, answer -> filters for the question -> h_q, h_a
               t = [h_q; h_a; h_q - h_a; h_q ∘ h_a; matching; linguistic features] -> classes        AdaQA (section 3.3)

q is the first text of the data set's order: ``batch.y``. a is the second, judged one: ``batch.x``; for one text alone
``batch.x`` is the text and ``batch.y`` is not read.

``adaptivity`` says whose filters a text is convolved with:

| | question | answer |
|---|---|---|
| none | fixed ones | fixed ones: the siamese CNN |
| self | its own | its own |
| one-way | fixed ones | the question's |
| two-way | the answer's | the question's |

The generator is one for both texts, as in the paper, and so are fixed filters.

Where we differ: the word vectors are frozen (a shared table, or GloVe) and pass a learned projection to d numbers where
``projection`` > 0; the classifier is a softmax over C classes, which for two is the paper's sigmoid. Dropout on the
words draws every number for itself, not one mask a text as elsewhere in this project: with one mask the generator would
see other words than the filters that it makes are for.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.layers.pooling import masked_max
from core.layers.projection import read_words, word_projection
from core.models.acnn.filters import FilterGenerator, StaticConvolution, Windows, adaptive_convolution, valid_windows
from core.models.acnn.multi_perspective import MultiPerspective
from core.models.features import EXTRA_SIZES, PairFeatures
from core.reading.batch import Batch

ADAPTIVITIES = ("none", "self", "one-way", "two-way")
MATCHINGS = ("none", "multi-perspective")


@dataclass(frozen=True)
class ACNNConfig:
    """Sizes and choices for one text. ``projection``: d, width of a learned map of the word vectors, 0 for none (then d
    is ``input_size``). ``filters``: K. ``width``: h. ``code``: l, size of z. ``rank``: 0 for the paper's generator, R
    for the factorised one (:class:`core.models.acnn.filters.FilterGenerator`)."""

    input_size: int
    classes: int = 2
    projection: int = 0
    filters: int = 100
    width: int = 5
    code: int = 100
    rank: int = 0
    adaptivity: str = "self"
    embedding_dropout: float = 0.2
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if self.adaptivity not in self.adaptivities:
            raise ValueError(f"unknown adaptivity {self.adaptivity!r}; known: {', '.join(self.adaptivities)}")
        if min(self.input_size, self.classes, self.filters, self.width, self.code) < 1:
            raise ValueError("input_size, classes, filters, width and code must be at least 1")
        if min(self.projection, self.rank) < 0:
            raise ValueError("projection and rank must be at least 0")
        if not (0 <= self.embedding_dropout < 1 and 0 <= self.dropout < 1):
            raise ValueError("embedding_dropout and dropout must be at least 0 and below 1")

    @property
    def adaptivities(self) -> tuple[str, ...]:
        """What ``adaptivity`` may be."""
        return ("none", "self")

    @property
    def words(self) -> int:
        """d, the width of a word as filters read it."""
        return self.projection or self.input_size


@dataclass(frozen=True)
class AdaQAConfig(ACNNConfig):
    """The same for a pair. ``matching``: multi-perspective attention (+ att) or none, with ``perspectives`` l of each
    of its four kinds. ``extra``: a set of linguistic features, or none."""

    filters: int = 300
    adaptivity: str = "two-way"
    matching: str = "none"
    perspectives: int = 10
    extra: str = "none"
    embedding_dropout: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value, known in (("matching", self.matching, MATCHINGS), ("extra", self.extra, tuple(EXTRA_SIZES))):
            if value not in known:
                raise ValueError(f"unknown {name} {value!r}; known: {', '.join(known)}")
        if self.perspectives < 1:
            raise ValueError("perspectives must be at least 1")

    @property
    def adaptivities(self) -> tuple[str, ...]:
        return ADAPTIVITIES


@dataclass(frozen=True)
class TextTrace:
    """What happened to one side of the batch."""

    windows: Windows
    """[B, T', h·d] and [B, T']."""
    code: Tensor | None
    """z, [B, l]; None when this text makes no filters."""
    filters: Tensor | None
    """Filters made from this text, [B, K, h, d], or None."""
    applied: Tensor | None
    """Filters that this text was convolved with, [B, K, h, d]; None for the fixed ones."""
    preactivations: Tensor
    """[B, T', K], before the ReLU; meaningless on pads."""
    pooled: Tensor
    """h, ReLU then max over time, [B, K]."""
    winners: Tensor
    """First word of each filter's winning window, [B, K]."""
    words: Tensor
    """Number of words, [B]."""


@dataclass(frozen=True)
class FilterTrace:
    """What a forward pass computed. Without a second text ``y`` is None."""

    x: TextTrace
    y: TextTrace | None
    features: Tensor
    """The vector that the classifier reads, before dropout, [B, F]."""
    scores: Tensor | None = None
    """Cosines of the windows of x with those of y, [B, T'_x, T'_y], of models with attention; meaningless on pads."""
    weights: Tensor | None = None
    """Those scores as shares of each row, which the attentive matching used, or what the caller put in their place."""


class _Convolutions(PairFeatures):
    """What both forms share: words, windows, fixed filters and generated ones."""

    def __init__(self, config: ACNNConfig, own: int, extra: str = "none") -> None:
        super().__init__(own, config.classes, extra)
        self.config = config
        size, filters, width = config.words, config.filters, config.width
        self.projection = word_projection(config.input_size, size) if config.projection else None
        adaptive = config.adaptivity != "none"
        self.generator = FilterGenerator(size, filters, width, config.code, config.rank) if adaptive else None
        static = config.adaptivity in ("none", "one-way")
        self.static = StaticConvolution(size, filters, width) if static else None

    def windows(self, vectors: Tensor, mask: Tensor) -> Windows:
        """Windows of a text's words as filters read them: ``[B, T, D], [B, T]`` -> see core.models.acnn.filters."""
        words = read_words(self.projection, vectors, mask, 0.0)
        if self.training:
            words = F.dropout(words, self.config.embedding_dropout)
        return valid_windows(words, mask, self.config.width)

    def _convolve(
        self, windows: Windows, mask: Tensor, code: Tensor | None, made: Tensor | None, applied: Tensor | None,
        bias: Tensor | None,
    ) -> TextTrace:  # fmt: skip
        if applied is not None:
            values = adaptive_convolution(windows, applied, bias)
        else:
            assert self.static is not None, "a text without generated filters has fixed ones"
            values = self.static(windows)
        pooled, winners = masked_max(values, windows.mask)
        # The ReLU is the same after the max as before it, on K numbers in place of T'·K.
        return TextTrace(windows, code, made, applied, values, torch.relu(pooled), winners, mask.sum(1))


class ACNN(_Convolutions):
    """One text, convolved with filters made from itself: S-ACNN with one filter, M-ACNN with many; with adaptivity
    none the basic CNN (sections 3.1 and 3.2)."""

    config: ACNNConfig

    def __init__(self, config: ACNNConfig) -> None:
        super().__init__(config, config.filters)

    def forward(self, batch: Batch, attention: Tensor | None = None) -> tuple[Tensor, FilterTrace]:
        """Logits ``[B, C]`` and the trace. Raises ValueError when there is an ``attention``: none can be replaced."""
        if attention is not None:
            raise ValueError("this model reads one text alone: it has no attention to replace")
        windows = self.windows(batch.x, batch.x_mask)
        code = made = None
        if self.generator is not None:
            code = self.generator.code(windows)
            made = self.generator(code)
        side = self._convolve(windows, batch.x_mask, code, made, made, None)
        logits = self.classifier(F.dropout(side.pooled, self.config.dropout, self.training))
        return logits, FilterTrace(side, None, side.pooled)


class AdaQA(_Convolutions):
    """A pair, each text convolved with filters made from itself or from the other one, or with fixed ones (section
    3.3).

    | here | paper | space |
    |---|---|---|
    | bias_q, bias_a | ψ_q, ψ_a | [K] |
    | classifier | the MLP's one layer, η' | [C, F] |
    """

    config: AdaQAConfig

    def __init__(self, config: AdaQAConfig) -> None:
        matched = 16 * config.perspectives if config.matching != "none" else 0
        super().__init__(config, 4 * config.filters + matched, config.extra)
        adaptive = config.adaptivity != "none"
        self.bias_a = nn.Parameter(torch.zeros(config.filters)) if adaptive else None
        both = config.adaptivity in ("self", "two-way")
        self.bias_q = nn.Parameter(torch.zeros(config.filters)) if both else None
        self.matching = MultiPerspective(config.filters, config.perspectives) if matched else None

    def forward(self, batch: Batch, attention: Tensor | None = None) -> tuple[Tensor, FilterTrace]:
        """Logits ``[B, C]`` and the trace. ``attention [B, T'_x, T'_y]`` takes the place of the weights by which the
        answer's windows mix the question's, for models with attention.

        Raises ValueError when it has another shape or the model has no attention.
        """
        q_windows = self.windows(batch.y, batch.y_mask)
        a_windows = self.windows(batch.x, batch.x_mask)
        q_code, q_made = self._made(q_windows, self.config.adaptivity != "none")
        a_code, a_made = self._made(a_windows, self.config.adaptivity in ("self", "two-way"))
        q_applied, a_applied = {
            "none": (None, None), "self": (q_made, a_made), "one-way": (None, q_made), "two-way": (a_made, q_made),
        }[self.config.adaptivity]  # fmt: skip
        q = self._convolve(q_windows, batch.y_mask, q_code, q_made, q_applied, self.bias_q)
        a = self._convolve(a_windows, batch.x_mask, a_code, a_made, a_applied, self.bias_a)
        own, scores, weights = [q.pooled, a.pooled, q.pooled - a.pooled, q.pooled * a.pooled], None, None
        if self.matching is not None:
            found = self.matching(
                torch.relu(a.preactivations), a_windows.mask, torch.relu(q.preactivations), q_windows.mask, attention
            )
            own.append(found.vectors)
            scores, weights = found.scores, found.weights
        elif attention is not None:
            raise ValueError("this model compares pooled vectors: it has no attention to replace")
        features = self.feature_vector(torch.cat(own, dim=1), batch.extra)
        logits = self.classifier(F.dropout(features, self.config.dropout, self.training))
        return logits, FilterTrace(a, q, features, scores, weights)

    def _made(self, windows: Windows, wanted: bool) -> tuple[Tensor | None, Tensor | None]:
        if not wanted or self.generator is None:
            return None, None
        code = self.generator.code(windows)
        return code, self.generator(code)
