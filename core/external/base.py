"""Shared parts of all external models: reading (edited) texts, and the operations they support."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol, Self, TypeVar

import torch
from torch import nn

from core.errors import UserError, said
from core.layers.attention import Override
from core.models.base import Output, PairModel
from core.models.intervention import AttentionLinks, Intervention
from core.reading.reader import PairError, Reading, ReadText
from core.reading.scripts import without_spaces
from core.reading.tokens import MAX_TOKENS, Token, tokenize

_LOG = logging.getLogger(__name__)


@contextmanager
def blaming(name: str, remedy: str = "change the texts, or choose another model") -> Iterator[None]:
    """Turns any exception from external code into a PairError whose one sentence names the source, and logs the
    traceback; this includes SystemExit and panics of the tokenizers library, which are not Exceptions."""
    try:
        yield
    except UserError:
        raise
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        _LOG.exception("%s could not answer", name)
        raise PairError(f"{name} could not answer ({said(error)}): {remedy}") from error


def is_ctrl_c(error: BaseException) -> bool:
    """Whether the user pressed Ctrl+C; any other exception from external code (even SystemExit) is that code's own
    failure."""
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


class ExternalBatch(Protocol):
    """B pairs in the form an external model takes."""

    def __len__(self) -> int: ...

    def to(self, device: torch.device | str) -> Self:
        """A copy on another device."""


B = TypeVar("B", bound=ExternalBatch)
B_co = TypeVar("B_co", bound=ExternalBatch, covariant=True)


class ExternalReader(Generic[B_co]):
    """Splits texts into our words and converts readings to an external model's input."""

    most_words = MAX_TOKENS
    """Maximum number of words read per text."""

    def tokens(self, text: str) -> list[Token]:
        return tokenize(text)

    def known(self, norm: str) -> bool:
        return True  # it has no word vectors

    def lacks(self, word: str) -> bool:
        """Whether a word maps to an unknown token; False for a function, whose vocabulary is not visible."""
        return False

    def batch(self, reading: Reading) -> B_co:
        return self.batch_of([reading])

    def batch_of(self, readings: Sequence[Reading]) -> B_co:
        """Converts readings to a batch of B pairs."""
        raise NotImplementedError

    def fitting(self, sides: Sequence[ReadText]) -> list[ReadText]:
        """The texts truncated to the model's maximum length. Raises PairError if even the first words do not fit."""
        return list(sides)


class ExternalModel(PairModel, Generic[B]):
    """A model that runs external code: its attention cannot be replaced, and only some subclasses can ablate links."""

    refusal: str
    """The error message for attempts to replace its intermediate values."""
    name = "this model"
    """The subject of error messages about its code."""

    def answer(self, batch: B) -> Output:
        """Logits for these pairs, with intermediate values."""
        raise NotImplementedError

    def forward(self, batch: B, override: Override | None = None) -> Output:  # type: ignore[override]
        """Raises ValueError for an override."""
        if override is not None:
            raise ValueError(self.refusal)
        with blaming(self.name):
            return self.answer(batch)

    def under(self, batch: B, intervention: Intervention) -> Output:  # type: ignore[override]
        replaced = intervention.attention, intervention.knockout, intervention.patching
        if not intervention.crossings or any(part is not None for part in replaced):
            raise ValueError(self.refusal)
        return self(batch)

    @property
    def output_layer(self) -> nn.Linear | None:
        return None

    def with_output_layer(self, layer: nn.Linear | nn.Identity) -> PairModel:
        raise UserError(f"{self.name} has no layer that could be replaced: choose another model")

    def links(self, reading: Reading, output: Output) -> tuple[AttentionLinks, ...]:
        """No links that could be ablated."""
        return ()


Span = tuple[int, int]
"""Character offsets [start, end) in a text."""


def spelt(side: ReadText) -> tuple[str, list[Span]]:
    """The text with the reading's words, and the span of each word in it.

    If no word was changed, this is the text as typed; otherwise it is spaced as by :func:`core.effects.edits.edited`.
    If the text was truncated, everything after the last word is left out.
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
    """The text before ``word`` (empty at the start and end of a text). If words were dropped from it, this is a space
    if one followed them or if separate words would be joined."""
    if not gap.strip():
        return gap
    return " " if word and (gap[-1].isspace() or (word[0].isalnum() and not without_spaces(word[0]))) else ""


def _begun(before: str, word: str) -> str:
    """The first word of a text, capitalised if the text began with a capital."""
    capital = word[:1].upper()
    return capital + word[1:] if before.lstrip()[:1].isupper() and len(capital) == 1 else word
