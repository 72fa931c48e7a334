"""Adaptive CNNs: the filters are generated from the text itself or from the other text (Shen et al. 2018, EMNLP).

    one text   words -> filters for this text -> convolution, ReLU, max over time -> classes         ACNN (section 3.2)
    a pair     question -> filters for the answer, answer -> filters for the question -> h_q, h_a
               t = [h_q; h_a; h_q - h_a; h_q ∘ h_a; matching; linguistic features] -> classes        AdaQA (section 3.3)

q is the first text in the data set's order, a the second, whichever is judged.

``adaptivity`` names the filters with which each text is convolved:

| | question | answer |
|---|---|---|
| none | fixed ones | fixed ones: the siamese CNN |
| self | its own | its own |
| one-way | fixed ones | the question's |
| two-way | the answer's | the question's |

As in the paper, both texts share one generator and the same fixed filters.

Where we differ: the word vectors are frozen (a shared table, or GloVe) unless a recipe trains them, and a learned
projection maps them to d dimensions if ``projection`` > 0; the classifier is a softmax over C classes, which for two
classes equals the paper's sigmoid. Word dropout masks every element independently, instead of one mask per text as
elsewhere in this project: with a shared mask the generator would see different words than the convolution. With
``word_dropout`` > 0 training also drops whole words (not in the paper).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from core.evidence import FilterProvenance, GeneratedFilters
from core.evidence.matrix import matrix
from core.layers.pooling import masked_max
from core.layers.projection import read_words, word_projection
from core.models.acnn.filters import FilterGenerator, StaticConvolution, Windows, adaptive_convolution, valid_windows
from core.models.base import FilterMaker, ProjectedConfig, setting
from core.models.features import PairFeatures
from core.models.filters import filter_records
from core.reading.batch import Side


@dataclass(frozen=True)
class ACNNConfig(ProjectedConfig):
    """Sizes and options for one text. ``filters``: K. ``width``: h. ``code``: l, the size of z. ``rank``: 0 for the
    paper's generator, R for the factorised one (:class:`core.models.acnn.filters.FilterGenerator`). ``word_dropout``:
    probability of dropping a word in training, both for the generator and the convolution."""

    classes: int = setting(2, least=1)
    filters: int = setting(100, least=1)
    width: int = setting(5, least=1)
    code: int = setting(100, least=1)
    rank: int = setting(0, least=0)
    adaptivity: str = setting("self", one_of=("none", "self"))
    embedding_dropout: float = setting(0.2, least=0, below=1)
    word_dropout: float = setting(0.0, least=0, below=1)
    dropout: float = setting(0.0, least=0, below=1)


@dataclass(frozen=True)
class TextTrace:
    """The trace of one side of the batch."""

    windows: Windows
    """[B, T', h·d] and [B, T']."""
    code: Tensor | None
    """z, [B, l]; None if this text generates no filters."""
    filters: Tensor | None
    """Filters generated from this text, [B, K, h, d], or None."""
    applied: Tensor | None
    """Filters with which this text was convolved, [B, K, h, d]; None for the fixed ones."""
    preactivations: Tensor
    """[B, T', K], before the ReLU; undefined on padding."""
    pooled: Tensor
    """h, ReLU then max over time, [B, K]."""
    winners: Tensor
    """First word of each filter's winning window, [B, K]."""
    words: Tensor
    """Number of words, [B]."""
    bias: Tensor
    """The term added to every window's value, [K]."""


class AdaptiveModel(PairFeatures):
    """Shared by both forms: words, windows, fixed and generated filters, and the evidence for one text."""

    config: ACNNConfig
    made_from: tuple[str, ...]

    def __init__(self, config: ACNNConfig, own: int) -> None:
        super().__init__(config, own)
        size, filters, width = config.words, config.filters, config.width
        self.projection = word_projection(config.input_size, size) if config.projection else None
        adaptive = config.adaptivity != "none"
        self.generator = FilterGenerator(size, filters, width, config.code, config.rank) if adaptive else None
        static = config.adaptivity in ("none", "one-way")
        self.static = StaticConvolution(size, filters, width) if static else None

    def windows(self, side: Side) -> Windows:
        """Windows over a text's projected words: ``[B, T, D]`` -> see :mod:`core.models.acnn.filters`."""
        words = read_words(self.projection, side, 0.0)
        if self.training:
            words = F.dropout(words, self.config.embedding_dropout)
            if self.config.word_dropout:
                left_out = torch.rand(words.shape[:2], device=words.device) < self.config.word_dropout
                words = words.masked_fill(left_out[..., None], 0.0)
        return valid_windows(words, side.mask, self.config.width)

    def generate(self, windows: Windows) -> tuple[Tensor, Tensor]:
        """z ``[B, l]`` and the filters ``[B, K, h, d]`` generated from each text."""
        assert self.generator is not None, "a model with fixed filters generates none"
        code = self.generator.code(windows)
        return code, self.generator(code)

    def convolve(
        self,
        windows: Windows,
        side: Side,
        own: tuple[Tensor, Tensor] | None,
        applied: Tensor | None,
        bias: Tensor | None,
    ) -> TextTrace:
        """Convolves one text with the filters ``applied`` ``[B, K, h, d]`` and ψ ``bias [K]``, or with the fixed ones.
        ``own``: code and filters generated from this text."""
        if applied is not None:
            values = adaptive_convolution(windows, applied, bias)
            added = values.new_zeros(values.shape[2]) if bias is None else bias
        else:
            assert self.static is not None, "a text without generated filters has fixed ones"
            values, added = self.static(windows), self.static.bias
        pooled, winners = masked_max(values, windows.mask)
        code, filters = own or (None, None)
        # ReLU and max commute: applied after the max, ReLU costs K operations instead of T'·K.
        return TextTrace(windows, code, filters, applied, values, torch.relu(pooled), winners, side.mask.sum(1), added)

    # --- generated filters for the filter map (core.models.base.FilterMaker) ---

    @property
    def filter_maker(self) -> FilterMaker | None:
        return None if self.generator is None else self

    @property
    def bank_shape(self) -> tuple[int, int, int]:
        return self.config.filters, self.config.width, self.config.words

    @property
    def code_size(self) -> int:
        return self.config.code

    def linear_map(self, filters: slice | int = slice(None)) -> Tensor:
        assert self.generator is not None, "a model with fixed filters generates none"
        return self.generator.linear_map(filters)

    def project(self, vectors: Tensor) -> Tensor:
        return read_words(self.projection, _alone(vectors), 0.0)[0]

    def encoder(self) -> Callable[[Tensor], Tensor]:
        assert self.generator is not None, "a model with fixed filters generates none"
        # Only the parts that read the text are copied: the generator's other weights are hundreds of times larger.
        projection, basic = copy.deepcopy((self.projection, self.generator.encoder))
        for module in (projection, basic):
            if module is not None:
                module.double()

        @torch.inference_mode()
        def encode(vectors: Tensor) -> Tensor:
            side = _alone(vectors.double())
            windows = valid_windows(read_words(projection, side, 0.0), side.mask, self.config.width)
            return masked_max(torch.relu(basic(windows)), windows.mask)[0][0]

        return encode

    # --- evidence for one text ---

    def provenance(
        self, name: str, role: str, side: TextTrace, shares: Tensor | None, made_from: str
    ) -> FilterProvenance:
        """Each filter's winning window with its exact parts; ``shares [C, K]`` in the logits, None if they have
        none."""
        width, winners = self.config.width, side.winners[0]
        if side.applied is not None:
            filters = side.applied[0]
        else:
            assert self.static is not None, "a text without generated filters has fixed ones"
            filters = self.static.filters
        window = side.windows.values[0, winners].view(-1, width, self.config.words)
        records = filter_records(
            int(side.words),
            winners,
            (window * filters).sum(2),
            side.bias,
            side.preactivations[0].gather(0, winners[None])[0],
            side.pooled[0],
            shares=None if shares is None else shares.T,
        )
        logit_bias = tuple(self.classifier.bias.tolist())
        return FilterProvenance(name, role, width, records, logit_bias, "ReLU", made_from)


def generated(side: TextTrace, made_from: str, applied_to: str) -> Iterator[GeneratedFilters]:
    """The filter bank generated from one text, if there is one."""
    if side.code is not None and side.filters is not None:
        code, bank = tuple(side.code[0].tolist()), tuple(map(matrix, side.filters[0]))
        yield GeneratedFilters("generated filters", made_from, applied_to, code, bank)


def _alone(vectors: Tensor) -> Side:
    return Side(vectors[None], torch.ones(1, len(vectors), dtype=torch.bool, device=vectors.device))
