"""Baselines for the phrase model, and the two simplest of them: Addition and the CNN of CNN-Cnt.

The baselines follow Yin & Schütze 2017 (EACL, section 4). All read the same frozen word table, end in the same logistic
regression over [own features; linguistic features], and receive the linguistic features in the same way:

| registered as | class | what it can see of the other sentence |
|---|---|---|
| addition | :class:`Addition` | nothing |
| cnn | :class:`PairCNN` | one similarity of the two finished vectors |
| attentive-lstm | :class:`core.models.attentive_lstm.AttentiveLSTM` | its states, one attention at the end |
| apcnn | :class:`core.models.attentive_pooling.APCNN` | its states, while pooling |
| abcnn | :class:`core.models.attentive_pooling.ABCNN` | its words before the convolution, its states while pooling |

Feature vectors start with the first sentence (premise, question), whichever is judged.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.evidence import AttentionMap, AttentiveContext, PooledAttention
from core.evidence.matrix import matrix
from core.layers.attention import CrossAttention, refuse
from core.layers.convolution import windows
from core.layers.pooling import masked_mean
from core.layers.projection import word_projection
from core.models.base import Evidence, ModelConfig, Output, Reads, Settings, Wanted, register, setting
from core.models.features import EXTRA_SIZES, PairFeatures, extra_route
from core.models.routes import ATTENTION, FIRST, SECOND, TEXT_BY_TEXT, UNPATCHED, Patching, Route
from core.reading.batch import Batch, Side
from core.reading.reader import Reading


@dataclass(frozen=True)
class BaselineConfig(ModelConfig):
    """Sizes of a baseline. ``hidden`` is d, the width of words, states and sentence vectors (Addition has none).
    ``extra`` names the set of linguistic features, or none. Dropout applies to the words (one mask per sentence) and
    the sentence vectors, not to similarities and linguistic features, which are few and not redundant."""

    hidden: int = setting(300, least=1)
    embedding_dropout: float = setting(0.3, least=0, below=1)
    dropout: float = setting(0.2, least=0, below=1)
    extra: str = setting("none", one_of=tuple(EXTRA_SIZES))


@dataclass(frozen=True)
class ComparingConfig(BaselineConfig):
    """``compare``: the classifier also reads the difference and the product of the two sentence vectors. A linear
    classifier over both vectors alone only adds up each sentence's evidence for a class, independently of the other
    sentence."""

    compare: bool = setting(False)

    def joined(self, first: Tensor, second: Tensor) -> Tensor:
        """[u; v], or [u; v; |u - v|; u ∘ v] (Mou et al. 2016, section 3.2): ``[B, E]`` each -> ``[B, 2E]`` or ``[B,
        4E]``."""
        compared = (torch.abs(first - second), first * second) if self.compare else ()  # [Mou16 heuristics]
        return torch.cat([first, second, *compared], dim=1)

    def joined_size(self, size: int) -> int:
        """The size of :meth:`joined` for two vectors of ``size`` E."""
        return (4 if self.compare else 2) * size


class Baseline(PairFeatures):
    """The shared input and output of the baselines. H is the number of ``own`` features.

    A learned map projects words to d dimensions, as in attentive convolution, unless the table's vectors already have
    d.
    """

    def __init__(self, config: BaselineConfig, own: int, projected: bool = True) -> None:
        super().__init__(config, own)
        needed = projected and config.input_size != config.hidden
        self.projection = word_projection(config.input_size, config.hidden) if needed else None


@dataclass(frozen=True)
class LookingConfig(BaselineConfig):
    """``context``: extra (one sentence attends to the other), intra (the judged text attends to itself, for the
    sentiment table of AttConv)."""

    context: str = setting("extra", one_of=("extra", "intra"))


class LookingBaseline(Baseline):
    """Shared by baselines with cross-attention; a single text attends to itself."""

    records = (PooledAttention,)
    config: LookingConfig

    def sides(self, batch: Batch) -> tuple[Side, Side]:
        """The text attended to, and the one that attends."""
        return (batch.x, batch.x) if self.config.context == "intra" else (batch.first, batch.second)

    def roles(self, reading: Reading) -> tuple[str, str]:
        """Roles of both texts, equal if a text attends to itself."""
        sides = (reading.x, reading.x) if self.config.context == "intra" else (reading.first, reading.second)
        return sides[0].role, sides[1].role

    @classmethod
    def reads(cls, config: Settings) -> Reads:
        """The judged text alone suffices if it attends to itself."""
        return Reads((0, 1) if config.get("context") == "intra" else (1,))


@dataclass(frozen=True)
class PoolingConfig(LookingConfig, ComparingConfig):
    """Settings of the baselines that attend across sentences while pooling each one into a vector."""


@register("addition", title="Addition", paper="Yin & Schütze 2017", section="4.1")
class Addition(Baseline):
    """features = [Σ_j y_j; Σ_i x_i], H = 2D (Yin & Schütze 2017, section 4.1, "Addition").

    The word table's own vectors are summed, so ``hidden`` is ignored.
    """

    def __init__(self, config: BaselineConfig) -> None:
        super().__init__(config, 2 * config.input_size, projected=False)

    def forward(self, batch: Batch, override: Tensor | None = None, patching: Patching = UNPATCHED) -> Output:
        """Raises ValueError for any ``override``: the model has no attention."""
        refuse(override)
        first, second = (self.words(side).sum(1) for side in (batch.first, batch.second))
        own = torch.cat([patching(FIRST, first), patching(SECOND, second)], dim=1)
        return self.classify(own, own.shape[1], batch, patching=patching)

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        return *TEXT_BY_TEXT, *extra_route(config)


@register("cnn", title="CNN", paper="Yang et al. 2015", section="3")
class PairCNN(Baseline):
    r"""The CNN of CNN-Cnt (Yang et al. 2015, after Yu et al. 2014): one bigram convolution, mean pooling, q^T M a.

    h_i = tanh(W [w_i; w_{i+1}] + b), q = mean_i h_i of the first sentence, a of the second with the same W,
    s_k = q^T M_k a, features = [s_1 … s_{C-1}].

    | here | paper | space |
    |---|---|---|
    | convolution | W, b | R^{d×2d}, R^d |
    | similarity | M | R^{(C-1)×d×d} |

    Where we differ: the paper decides between two classes with one M; with C classes we use C - 1, which equals the
    paper's model at C = 2. The last word, which starts no bigram, is padded with zeros, so that a one-word sentence has
    a vector. The paper fits the logistic regression over [s; counts] after the CNN; here both are trained together.
    "Cnt" is ``extra="answer"``, which also has lengths; CNN-Cnt does not.
    """

    def __init__(self, config: BaselineConfig) -> None:
        super().__init__(config, max(config.classes - 1, 1))
        self.convolution = nn.Linear(2 * config.hidden, config.hidden)
        # Starting from the identity, each form is the dot product at first; the classifier's weights tell them apart.
        self.similarity = nn.Parameter(torch.eye(config.hidden).repeat(max(config.classes - 1, 1), 1, 1))

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        return *TEXT_BY_TEXT, *extra_route(config)

    def forward(self, batch: Batch, override: Tensor | None = None, patching: Patching = UNPATCHED) -> Output:
        """Raises ValueError for any ``override``: the model has no attention."""
        refuse(override)
        # Dropping one of C - 1 features would drop the answer, so dropout applies to the sentence vectors.
        first, second = (self.dropped(self.sentence(side)) for side in (batch.first, batch.second))
        first, second = patching(FIRST, first), patching(SECOND, second)
        similarities = torch.einsum("bd,kde,be->bk", first, self.similarity, second)
        return self.classify(similarities, 0, batch, patching=patching)

    def sentence(self, side: Side) -> Tensor:
        """A sentence's vector q or a, ``[B, T, D] -> [B, d]``."""
        return masked_mean(torch.tanh(self.convolution(windows(self.words(side), 2))), side.mask)


class CrossAttending(Baseline):
    """A baseline whose trace is a :class:`CrossAttention`."""

    records = (AttentionMap, AttentiveContext)

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        return *ATTENTION, *extra_route(config)

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        """One map and its contexts per direction, the second sentence's words first."""
        trace: CrossAttention = output.trace
        first, second = reading.first.role, reading.second.role
        directions = (
            (second, first, trace.scores[0], trace.second[0], trace.overridden[0]),
            (first, second, trace.scores[0].mT, trace.first[0], trace.overridden[1]),
        )
        for rows, columns, scores, values, replaced in directions:
            name, weights = f"attention {rows} to {columns}", matrix(values)
            if AttentionMap in wanted:
                yield AttentionMap(name, rows, columns, matrix(scores), weights, replaced)
            if AttentiveContext in wanted:
                yield AttentiveContext("attentive context", rows, columns, weights, (None,) * len(weights))
