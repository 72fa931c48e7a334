"""Common parts of all external models: reading texts, also edited ones, and the operations they support."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol, Self, TypeVar

import torch

from core.errors import UserError, said
from core.layers.attention import Override
from core.models.base import AttentionLinks, Intervention, Output, PairModel
from core.reading.reader import PairError, Reading, ReadText
from core.reading.scripts import without_spaces
from core.reading.tokens import MAX_TOKENS, Token, tokenize

_LOG = logging.getLogger(__name__)


@contextmanager
def blaming(name: str, remedy: str = "change the texts, or choose another model") -> Iterator[None]:
    """Turns any exception of external code into a PairError whose one sentence names the culprit, and logs the
    traceback; also SystemExit and panics of the tokenisers' library, which are not Exceptions."""
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
    """Whether the person at the terminal wants the program to end; anything else that a stranger's code raises
    (SystemExit, say) is that code's fault alone."""
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


class ExternalBatch(Protocol):
    """B pairs as an external model is called with them."""

    def __len__(self) -> int: ...

    def to(self, device: torch.device | str) -> Self:
        """A copy on another device."""


B = TypeVar("B", bound=ExternalBatch)
B_co = TypeVar("B_co", bound=ExternalBatch, covariant=True)


class ExternalReader(Generic[B_co]):
    """Splits texts into our words, and makes an external model's input of readings."""

    most_words = MAX_TOKENS
    """Words of one text that are read."""

    def tokens(self, text: str) -> list[Token]:
        return tokenize(text)

    def known(self, norm: str) -> bool:
        return True  # it has no vectors of words

    def lacks(self, word: str) -> bool:
        """Whether a word is read as unknown; False for a function, whose vocabulary is not visible."""
        return False

    def batch(self, reading: Reading) -> B_co:
        return self.batch_of([reading])

    def batch_of(self, readings: Sequence[Reading]) -> B_co:
        """B readings."""
        raise NotImplementedError

    def fitting(self, sides: Sequence[ReadText]) -> list[ReadText]:
        """The texts truncated to the model's room. Raises PairError where even the first words do not fit."""
        return list(sides)


class ExternalModel(PairModel, Generic[B]):
    """A model that runs external code: its attention cannot be replaced, and only some subclasses can cut links."""

    projection = None
    refusal: str
    """The error message for attempts to replace values in it."""
    name = "this model"
    """The subject of the sentence that reports an error in its code."""

    def answer(self, batch: B) -> Output:
        """Logits of these pairs, with what the model computed on the way."""
        raise NotImplementedError

    def forward(self, batch: B, override: Override | None = None) -> Output:  # type: ignore[override]
        """Raises ValueError for an override."""
        if override is not None:
            raise ValueError(self.refusal)
        with blaming(self.name):
            return self.answer(batch)

    def under(self, batch: B, intervention: Intervention) -> Output:  # type: ignore[override]
        if intervention.attention is not None or not intervention.crossings or intervention.knockout is not None:
            raise ValueError(self.refusal)
        return self(batch)

    def links(self, reading: Reading, output: Output) -> tuple[AttentionLinks, ...]:
        """No links that could be ablated."""
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
    """The text before ``word`` (empty at a text's beginning and end). Where words were dropped from it, a space if one
    followed them or if separate words would be joined."""
    if not gap.strip():
        return gap
    return " " if word and (gap[-1].isspace() or (word[0].isalnum() and not without_spaces(word[0]))) else ""


def _begun(before: str, word: str) -> str:
    """A text's first word, with a capital letter where the text began with one."""
    capital = word[:1].upper()
    return capital + word[1:] if before.lstrip()[:1].isupper() and len(capital) == 1 else word
