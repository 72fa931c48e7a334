"""What all models from elsewhere have in common: how they read texts, those whose words were changed too, and what of
them can be asked."""

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
    """A model that runs its own code: its attention cannot be set, nor cut unless a subclass allows it."""

    projection = None
    refusal: str
    """The message of the error for anyone who tries to set something in it."""

    def answer(self, batch: B) -> Output:
        """Logits of these pairs, with what the model computed on the way."""
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


Span = tuple[int, int]
"""Characters [start, end) of a text."""


def spelt(side: ReadText) -> tuple[str, list[Span]]:
    """The text with the words that the reading has, and the span of each of them in it.

    It is the text as it was typed where no word was changed, else spaced as :func:`core.effects.edits.edited` leaves
    it. What followed the last word is left out where the text was cut off.
    """
    text = ""
    spans: list[Span] = []
    at = 0
    for token in side.tokens:
        text += _between(side.text[at : token.start], token.text if spans else "")
        word = _begun(side.text, token.text) if not text.strip() else token.text
        spans.append((len(text), len(text) + len(word)))
        text += word
        at = token.end
    return text if side.truncated else text + _between(side.text[at:], ""), spans


def _between(gap: str, word: str) -> str:
    """What stands before ``word`` (empty at a text's beginning and end). Where words were taken out of it, a space if
    one stood behind them or if two words would be joined."""
    if not gap.strip():
        return gap
    return " " if word and (gap[-1].isspace() or word[0].isalnum()) else ""


def _begun(before: str, word: str) -> str:
    """A text's first word, with a capital letter where the text began with one."""
    capital = word[:1].upper()
    return capital + word[1:] if before.lstrip()[:1].isupper() and len(capital) == 1 else word
