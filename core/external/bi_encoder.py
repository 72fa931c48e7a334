"""A model that encodes each text separately and compares the two vectors: Sentence-BERT (Reimers and Gurevych 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from safetensors.torch import load
from torch import Tensor, nn

from core.card import Card
from core.errors import CheckpointError
from core.evidence import AttentionMap
from core.evidence.attention_map import SIMILARITY
from core.evidence.matrix import matrix
from core.evidence.similarity_shares import SimilarityShares
from core.external.base import ExternalModel, ExternalReader
from core.external.folder import HEAD, contents
from core.external.names import called
from core.external.pieces import Pieces, SplitsIntoPieces
from core.external.towers import Tower, by_word
from core.models.answers import SOFTMAX, ModelAnswers
from core.models.base import EXTERNAL, Evidence, ModelConfig, Output, PairModel, Wanted, exchanged, register
from core.reading.reader import Reading, ReadText

SHARES = "shares of the similarity"
LARGEST_HEAD = 1 << 30
"""Size limit of a trained classifier, in bytes."""


@dataclass(frozen=True)
class Apart:
    """B pairs whose texts are encoded separately."""

    first: Pieces
    second: Pieces

    def __len__(self) -> int:
        return len(self.first)

    def to(self, device: torch.device | str) -> Apart:
        """A copy on another device."""
        return Apart(self.first.to(device), self.second.to(device))


class TowerReader(SplitsIntoPieces, ExternalReader[Apart]):
    """Splits texts into our words, and each text separately into pieces."""

    def batch_of(self, readings: Sequence[Reading]) -> Apart:
        first, second = (self.pieces([(reading.texts()[side],) for reading in readings]) for side in (0, 1))
        return Apart(first, second)

    def fitting(self, sides: Sequence[ReadText]) -> list[ReadText]:
        return [self.shortened([side])[0] for side in sides]


@dataclass(frozen=True)
class BiEncoderConfig(ModelConfig):
    """``threshold``: the similarity at which both classes are equally probable, None if not fitted: the answer is then
    the similarity itself; ``scale``: increase in log-odds per unit of similarity. ``trained``: whether a classifier
    trained on both vectors judges instead."""

    input_size: int = 1
    threshold: float | None = None
    scale: float = 10.0
    trained: bool = False
    activation: str = SOFTMAX
    similarity: str = "similarity"


@dataclass(frozen=True)
class BiEncoderTrace:
    """Trace of one call: the states of both texts' pieces, ``[B, P, D]`` each, and the pieces."""

    states: tuple[Tensor, Tensor]
    pieces: Apart


@register("bi-encoder", title="Bi-encoder", paper="Reimers & Gurevych 2019", section="3", among=EXTERNAL)
class BiEncoder(ExternalModel[Apart]):
    """A transformer that encodes each text separately; the cosine of the two vectors, or a classifier of (u, v, |u -
    v|), judges the pair.

    The similarity of two words is the cosine of their states. No word of one text attends to the other text, so this is
    not attention, and no part of it can be ablated. If pooling is a weighted sum (as the mean is), the similarity is a
    sum over pairs of pieces, including special ones: cos(u, v) = Σ_ij x_i·y_j / (n m |u| |v|).
    """

    records = (AttentionMap, SimilarityShares)
    differentiable = False
    refusal = "a bi-encoder has no attention between the texts to set or ablate"

    def __init__(self, config: BiEncoderConfig, tower: Tower, head: nn.Linear | None = None) -> None:
        super().__init__(config)
        self.tower, self.head = tower, head

    @property
    def answers(self) -> ModelAnswers:
        return replace(super().answers, unfitted=self.head is None and self.config.threshold is None)

    @property
    def output_layer(self) -> nn.Linear | None:
        return self.head

    def with_output_layer(self, layer: nn.Linear | nn.Identity) -> PairModel:
        return exchanged(self, "head", layer, trained=True, threshold=None, activation=SOFTMAX)

    def answer(self, batch: Apart) -> Output:
        (first, u), (second, v) = self.tower(batch.first), self.tower(batch.second)
        trace = BiEncoderTrace((first, second), batch)
        if self.head is None:
            similarity = self.tower.similarity_of(u, v)[:, None]
            if self.config.threshold is None:
                return Output(similarity, similarity, trace)
            log_odds = self.config.scale * (similarity - self.config.threshold)
            return Output(torch.cat([-log_odds / 2, log_odds / 2], dim=1), similarity, trace)
        features = pair_features(u, v)
        return Output(self.head(features), features, trace)

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        roles = reading.second.role, reading.first.role
        texts = list(zip(output.trace.states, (output.trace.pieces.first, output.trace.pieces.second), strict=True))
        if AttentionMap in wanted:
            first, second = (nn.functional.normalize(by_word(states.double(), of), dim=-1) for states, of in texts)
            similar = (second @ first.mT).clamp(0, 1)
            yield AttentionMap("similarity of words", *roles, (), matrix(similar), units=SIMILARITY)
        if SimilarityShares in wanted and self.head is None and self.tower.adds_up:
            first, second = (of.of_words.double() @ self.tower.weighted(states, of) for states, of in texts)
            yield SimilarityShares(SHARES, *roles, matrix(second @ first.mT), float(output.features[0, 0]))


def pair_features(u: Tensor, v: Tensor) -> Tensor:
    """(u, v, |u - v|) of vectors ``[B, E]`` normalised to length 1, ``[B, 3 E]``: a trained classifier's input."""
    u, v = nn.functional.normalize(u, dim=-1), nn.functional.normalize(v, dim=-1)
    return torch.cat([u, v, (u - v).abs()], dim=1)


def head_of(folder: Path, card: Card) -> nn.Linear | None:
    """The classifier over both vectors that an earlier version trained, if there is one. Raises CheckpointError."""
    if not card["config"]["trained"]:
        return None
    try:
        weights = load(contents(folder, HEAD, LARGEST_HEAD))
        head = nn.Linear(weights["weight"].shape[1], len(card["labels"]))
        head.load_state_dict(weights)
    except Exception as error:
        reason = str(error).split("\n")[0][:120]
        raise CheckpointError(f"{called(folder)}/{HEAD} cannot be used ({reason}): remove it") from error
    return head
