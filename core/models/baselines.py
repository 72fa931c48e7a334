"""What the phrase model is measured against, and the two simplest of it: Addition and the CNN of CNN-Cnt.

Baselines of Yin & Schütze 2017 (EACL, section 4). All read the same frozen word table, end in the same logistic
regression over [own features; linguistic features], and are given linguistic features in the same way:

| registered as | class | what it can see of the other sentence |
|---|---|---|
| addition | :class:`Addition` | nothing |
| cnn | :class:`PairCNN` | one similarity of the two finished vectors |
| attentive-lstm | :class:`core.models.attentive_lstm.AttentiveLSTM` | its states, one attention at the end |
| apcnn | :class:`core.models.attentive_pooling.APCNN` | its states, while pooling |
| abcnn | :class:`core.models.attentive_pooling.ABCNN` | its words before the convolution, its states while pooling |

``batch.y`` is the first sentence (premise, question), ``batch.x`` the second, judged one (hypothesis, answer). Feature
vectors hold the first sentence first.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.layers.pooling import masked_mean
from core.layers.projection import read_words, word_projection
from core.models.features import EXTRA_SIZES, PairFeatures
from core.reading.batch import Batch


@dataclass(frozen=True)
class BaselineConfig:
    """Sizes of a baseline. ``hidden`` is d, the width of words, states and sentence vectors (Addition has none).
    ``extra`` names the set of linguistic features, or none. Dropout runs on the words (one mask a sentence) and on the
    sentence vectors, not on similarities and linguistic features: they are few and each says something of its own."""

    input_size: int
    hidden: int = 300
    classes: int = 3
    embedding_dropout: float = 0.3
    dropout: float = 0.2
    extra: str = "none"

    def __post_init__(self) -> None:
        if self.extra not in EXTRA_SIZES:
            raise ValueError(f"unknown extra {self.extra!r}; known: {', '.join(EXTRA_SIZES)}")
        if min(self.input_size, self.hidden, self.classes) < 1:
            raise ValueError("input_size, hidden and classes must be at least 1")
        if not (0 <= self.embedding_dropout < 1 and 0 <= self.dropout < 1):
            raise ValueError("embedding_dropout and dropout must be at least 0 and below 1")


@dataclass(frozen=True)
class BaselineTrace:
    """What every baseline tells of a forward pass; those with attention add it."""

    features: Tensor
    """The vector that the classifier reads, before dropout, [B, H + F]: own features, then linguistic ones."""


class Baseline(PairFeatures):
    """What the baselines share: how words come in and how features go out. H is the number of ``own`` features.

    Words are projected to d numbers by a learned map, as attentive convolution does it, unless the table's vectors have
    d numbers already: then they are read as they are.
    """

    def __init__(self, config: BaselineConfig, own: int, projected: bool = True) -> None:
        super().__init__(own, config.classes, config.extra)
        self.config = config
        needed = projected and config.input_size != config.hidden
        self.projection = word_projection(config.input_size, config.hidden) if needed else None

    def words(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Words as the model reads them, ``[B, T, D] -> [B, T, d]``, zero on pads."""
        return read_words(self.projection, vectors, mask, self.config.embedding_dropout if self.training else 0.0)

    def classify(self, own: Tensor, dropped: int, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits ``[B, C]`` and feature vector ``[B, H + F]`` from own features ``[B, H]``.

        Dropout runs on the first ``dropped`` of them. Raises ValueError when linguistic features are missing or of
        another number.
        """
        features = self.feature_vector(own, batch.extra)
        vectors = F.dropout(features[:, :dropped], self.config.dropout, self.training)
        logits: Tensor = self.classifier(torch.cat([vectors, features[:, dropped:]], dim=1))
        return logits, features


def refuse(attention: Tensor | None) -> None:
    """Raises ValueError when a model without attention is given one."""
    if attention is not None:
        raise ValueError(f"this model has no attention to replace: expected None, got {list(attention.shape)}")


class Addition(Baseline):
    """features = [Σ_j y_j; Σ_i x_i], H = 2D (Yin & Schütze 2017, section 4.1, "Addition").

    The sums are of the table's own vectors, so ``hidden`` plays no part.
    """

    def __init__(self, config: BaselineConfig) -> None:
        super().__init__(config, 2 * config.input_size, projected=False)

    def forward(self, batch: Batch, attention: Tensor | None = None) -> tuple[Tensor, BaselineTrace]:
        """Logits ``[B, C]`` and the trace. Raises ValueError for any ``attention``: there is none."""
        refuse(attention)
        first, second = self.words(batch.y, batch.y_mask), self.words(batch.x, batch.x_mask)
        own = torch.cat([first.sum(1), second.sum(1)], dim=1)
        logits, features = self.classify(own, own.shape[1], batch)
        return logits, BaselineTrace(features)


class PairCNN(Baseline):
    r"""The CNN of CNN-Cnt (Yang et al. 2015, after Yu et al. 2014): one bigram convolution, mean pooling, q^T M a.

    h_i = tanh(W [w_i; w_{i+1}] + b), q = mean_i h_i of the first sentence, a of the second with the same W,
    s_k = q^T M_k a, features = [s_1 … s_{C-1}].

    | here | paper | space |
    |---|---|---|
    | convolution | W, b | R^{d×2d}, R^d |
    | similarity | M | R^{(C-1)×d×d} |

    Where we differ: the paper decides between two classes by one M; with C classes we take C - 1, which is the paper's
    model at C = 2. A last word, whose bigram does not exist, is read with zeros behind it, so that a sentence of one
    word has a vector. The paper fits the logistic regression over [s; counts] after the CNN; here both learn together.
    "Cnt" is ``extra="answer"``, whose lengths CNN-Cnt does not have.
    """

    def __init__(self, config: BaselineConfig) -> None:
        super().__init__(config, max(config.classes - 1, 1))
        self.convolution = nn.Linear(2 * config.hidden, config.hidden)
        # The identity makes each form start as the dot product; the classifier's weights tell them apart.
        self.similarity = nn.Parameter(torch.eye(config.hidden).repeat(max(config.classes - 1, 1), 1, 1))

    def forward(self, batch: Batch, attention: Tensor | None = None) -> tuple[Tensor, BaselineTrace]:
        """Logits ``[B, C]`` and the trace. Raises ValueError for any ``attention``: there is none."""
        refuse(attention)
        # Dropping one of C - 1 features would drop the answer, so dropout runs on what they are made of.
        first, second = (
            F.dropout(self.sentence(vectors, mask), self.config.dropout, self.training)
            for vectors, mask in ((batch.y, batch.y_mask), (batch.x, batch.x_mask))
        )
        own = torch.einsum("bd,kde,be->bk", first, self.similarity, second)
        logits, features = self.classify(own, 0, batch)
        return logits, BaselineTrace(features)

    def sentence(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """A sentence's vector q or a, ``[B, T, D], [B, T] -> [B, d]``."""
        words = self.words(vectors, mask)
        bigrams = torch.cat([words, F.pad(words[:, 1:], (0, 0, 0, 1))], dim=-1)
        return masked_mean(torch.tanh(self.convolution(bigrams)), mask)
