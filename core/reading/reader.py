"""From texts to what a model reads: tokens with spans, marks of unknown words, and vectors.

A reader is whatever splits a text and has vectors for its tokens. The word table is one; another library's tokeniser
with its own vectors can be another. Everything that reads texts (explain, predict, training, the filter map, n-grams)
goes through a checkpoint's reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from core.errors import UserError
from core.evidence import Sentence, TokenRecord
from core.reading.batch import Batch
from core.reading.tokens import MAX_TOKENS, Token, tokenize, well_formed
from core.reading.word_table import WordTable


class PairError(UserError):
    """A pair that cannot be read, or that a model has no answer to; the message is one sentence with the remedy."""


class Reader(Protocol):
    """The reader's interface for models. ``width``: D, numbers of a token's vector."""

    @property
    def width(self) -> int: ...

    def tokens(self, text: str) -> list[Token]:
        """The text's tokens in reading order; ``norm`` is what :meth:`vectors` looks up."""

    def known(self, norm: str) -> bool:
        """Whether the reader has an entry for a token, not a vector made up from its characters."""

    def vectors(self, norms: Sequence[str]) -> Tensor:
        """float32 ``[T, D]``."""

    def batch(self, reading: Reading) -> Batch:
        """One row alone, as the model is called with it."""


@dataclass(frozen=True)
class WordReader:
    """Words of the project's own tokeniser, looked up in a word table."""

    table: WordTable

    @property
    def width(self) -> int:
        return self.table.width

    def tokens(self, text: str) -> list[Token]:
        return tokenize(text)

    def known(self, norm: str) -> bool:
        return self.table.known(norm)

    def vectors(self, norms: Sequence[str]) -> Tensor:
        return self.table.vectors(norms)

    def batch(self, reading: Reading) -> Batch:
        sides = [[self.vectors(side.norms)] for side in (reading.first, *reading.contexts)]
        extra = None if reading.extra is None else torch.tensor([reading.extra])
        return Batch.of(*sides, judged=reading.judged, extra=extra)


@dataclass(frozen=True)
class ReadText:
    """One text as split into tokens by a reader, perhaps truncated."""

    role: str
    text: str
    tokens: tuple[Token, ...]
    truncated: int = 0
    """Tokens cut off at the end."""

    @property
    def norms(self) -> list[str]:
        """The form of a token that the reader looks up."""
        return [token.norm for token in self.tokens]

    @property
    def has_word(self) -> bool:
        """Whether one of the tokens has a letter or a digit."""
        return any(token.is_word for token in self.tokens)

    def lines(self) -> tuple[ReadText, ...]:
        """The text's lines that hold tokens, each with its part of them; the text itself where it is a single one."""
        breaks = self.text.count
        numbers = [breaks("\n", 0, token.start) for token in self.tokens]
        own = {
            number: [token for token, line in zip(self.tokens, numbers, strict=True) if line == number]
            for number in dict.fromkeys(numbers)
        }
        return tuple(replace(self, tokens=tuple(tokens)) for tokens in own.values()) if len(own) > 1 else (self,)

    def sentence(self, reader: Reader) -> Sentence:
        """The record that screens draw."""
        records = (TokenRecord(t.text, t.start, t.end, t.is_word and not reader.known(t.norm)) for t in self.tokens)
        return Sentence(self.role, self.text, tuple(records), self.truncated)


def read_text(reader: Reader, text: str, role: str = "", limit: int = MAX_TOKENS) -> ReadText:
    """Split a text and keep its first ``limit`` tokens."""
    text = well_formed(text)
    tokens = reader.tokens(text)
    return ReadText(role, text, tuple(tokens[:limit]), max(0, len(tokens) - limit))


@dataclass(frozen=True)
class Reading:
    """A row as one checkpoint reads it, in the data set's order (see :class:`core.reading.batch.Batch`)."""

    first: ReadText
    contexts: tuple[ReadText, ...] = ()
    judged: str = "second"
    """The side whose representation reaches the classifier: "first", "second" or "both"."""
    extra: tuple[float, ...] | None = None
    """Linguistic features, for models that read them."""

    def texts(self) -> tuple[ReadText, ...]:
        """The row's texts as they were given: several contexts that are lines of one text are that text again."""
        whole: dict[str, ReadText] = {}
        for side in (self.first, *self.contexts):
            before = whole.get(side.role)
            whole[side.role] = side if before is None else replace(before, tokens=(*before.tokens, *side.tokens))
        return tuple(whole.values())

    @property
    def second(self) -> ReadText:
        """The only context. Raises ValueError for single texts and for several contexts."""
        if len(self.contexts) != 1:
            raise ValueError(f"expected a pair, got {len(self.contexts)} contexts")
        return self.contexts[0]

    @property
    def x(self) -> ReadText:
        """The judged text; of a pair whose sides are both judged, the second."""
        return self.first if self.judged == "first" or not self.contexts else self.second

    @property
    def y(self) -> ReadText:
        """The other text of a pair, or the first of several contexts."""
        return self.contexts[0] if self.judged == "first" or not self.contexts else self.first
