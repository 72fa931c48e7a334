"""What all models from elsewhere have in common: how they read texts, and what of them can be asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, Self, TypeVar

import torch

from core.layers.attention import Override
from core.models.base import AttentionLinks, Intervention, Output, PairModel
from core.reading.reader import Reading, ReadText
from core.reading.tokens import Token, tokenize


class GuestBatch(Protocol):
    """B pairs as a model from elsewhere is called with them."""

    def __len__(self) -> int: ...

    def to(self, device: torch.device | str) -> Self:
        """The same on another device."""


B = TypeVar("B", bound=GuestBatch)
B_co = TypeVar("B_co", bound=GuestBatch, covariant=True)


class GuestReader(Generic[B_co]):
    """Splits texts into our words, and makes of readings what a model from elsewhere is called with."""

    def tokens(self, text: str) -> list[Token]:
        return tokenize(text)

    def known(self, norm: str) -> bool:
        return True  # a word that it lacks is spelt in pieces, and nobody knows what a function knows

    def batch(self, reading: Reading) -> B_co:
        return self.batch_of([reading])

    def batch_of(self, readings: Sequence[Reading]) -> B_co:
        """B readings."""
        raise NotImplementedError

    def fitting(self, sides: Sequence[ReadText]) -> list[ReadText]:
        """The texts without the last words that the model has no room for."""
        return list(sides)


class GuestModel(PairModel, Generic[B]):
    """A model that computes by itself: no attention of its can be set, and none can be cut unless it says so."""

    projection = None
    refusal: str
    """What is said to who wants to set something in it."""

    def answer(self, batch: B) -> Output:
        """What it says of these pairs."""
        raise NotImplementedError

    def forward(self, batch: B, override: Override | None = None) -> Output:  # type: ignore[override]
        """Raises ValueError for an override."""
        if override is not None:
            raise ValueError(self.refusal)
        return self.answer(batch)

    def under(self, batch: B, intervention: Intervention) -> Output:  # type: ignore[override]
        if intervention.attention is not None or not intervention.crossings or intervention.knockout is not None:
            raise ValueError(self.refusal)
        return self.answer(batch)

    def links(self, reading: Reading, output: Output) -> tuple[AttentionLinks, ...]:
        """None that could be set."""
        return ()
