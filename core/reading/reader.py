"""Turns texts into model input: tokens with spans, out-of-vocabulary flags, and vectors.

A reader is anything that tokenises a text and has vectors for its tokens. The word table is one; another library's
tokeniser with its own vectors could be another. All code that reads texts (explain, predict, training, the filter map,
n-grams) goes through a checkpoint's reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from core.errors import UserError
from core.reading.batch import Batch
from core.reading.sentence import Sentence, TokenRecord
from core.reading.tokens import MAX_CHARACTERS, MAX_TOKENS, Token, tokenize, well_formed
from core.reading.word_table import WordTable


class PairError(UserError):
    """The pair cannot be read, or the model cannot answer it; the message is one sentence with the remedy."""


class Reader(Protocol):
    """The interface that models require of a reader. ``width``: D, the dimension of a token vector."""

    @property
    def width(self) -> int: ...

    def tokens(self, text: str) -> list[Token]:
        """The text's tokens in reading order; ``norm`` is what :meth:`vectors` looks up."""

    def known(self, norm: str) -> bool:
        """Whether the reader has an entry for a token, as opposed to a vector computed from its characters."""

    def vectors(self, norms: Sequence[str]) -> Tensor:
        """float32 ``[T, D]``."""

    def batch(self, reading: Reading) -> Batch:
        """A single row as a batch, ready for the model."""


@dataclass(frozen=True)
class WordReader:
    """Words from the project's own tokeniser, looked up in a word table."""

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
        return self.batch_of([reading])

    def batch_of(self, readings: Sequence[Reading]) -> Batch:
        """Several rows with equal numbers of texts as a batch."""
        rows = [(reading.first, *reading.contexts) for reading in readings]
        sides = [[self.vectors(text.norms) for text in texts] for texts in zip(*rows, strict=True)]
        extra = [reading.extra for reading in readings if reading.extra is not None]
        return Batch.of(*sides, judged=readings[0].judged, extra=torch.tensor(extra) if extra else None)


@dataclass(frozen=True)
class ReadText:
    """One text as tokenised by a reader, possibly truncated."""

    role: str
    text: str
    tokens: tuple[Token, ...]
    truncated: int = 0
    """Number of tokens truncated at the end."""

    @property
    def cut(self) -> bool:
        """Whether the end of the text was not read."""
        return self.truncated > 0 or len(self.text) > MAX_CHARACTERS

    @property
    def norms(self) -> list[str]:
        """The normalised forms of the tokens, as the reader looks them up."""
        return [token.norm for token in self.tokens]

    @property
    def has_word(self) -> bool:
        """Whether any token has a letter or a digit."""
        return any(token.is_word for token in self.tokens)

    def lines(self) -> tuple[ReadText, ...]:
        """The non-empty lines of the text, each with its own tokens; the text itself if it has only one line."""
        breaks = self.text.count
        numbers = [breaks("\n", 0, token.start) for token in self.tokens]
        own = {
            number: [token for token, line in zip(self.tokens, numbers, strict=True) if line == number]
            for number in dict.fromkeys(numbers)
        }
        return tuple(replace(self, tokens=tuple(tokens)) for tokens in own.values()) if len(own) > 1 else (self,)

    def sentence(self, reader: Reader) -> Sentence:
        """The evidence record for screens."""
        records = (TokenRecord(t.text, t.start, t.end, t.is_word and not reader.known(t.norm)) for t in self.tokens)
        return Sentence(self.role, self.text, tuple(records), self.truncated)


def read_text(reader: Reader, text: str, role: str = "", limit: int = MAX_TOKENS) -> ReadText:
    """Tokenise a text and keep its first ``limit`` tokens."""
    text = well_formed(text)
    tokens = reader.tokens(text)
    return ReadText(role, text, tuple(tokens[:limit]), max(0, len(tokens) - limit))


@dataclass(frozen=True)
class Reading:
    """A row as read by one checkpoint, in the data set's order (see :class:`core.reading.batch.Batch`)."""

    first: ReadText
    contexts: tuple[ReadText, ...] = ()
    judged: str = "second"
    """The side whose representation reaches the classifier: "first", "second" or "both"."""
    extra: tuple[float, ...] | None = None
    """Linguistic features, for models that use them."""

    @property
    def cut(self) -> bool:
        """Whether the end of one of its texts was not read."""
        return any(side.cut for side in (self.first, *self.contexts))

    def texts(self) -> tuple[ReadText, ...]:
        """The row's texts as given: several contexts that are lines of one text are joined again."""
        whole: dict[str, ReadText] = {}
        for side in (self.first, *self.contexts):
            before = whole.get(side.role)
            whole[side.role] = side if before is None else replace(before, tokens=(*before.tokens, *side.tokens))
        return tuple(whole.values())

    @property
    def second(self) -> ReadText:
        """The only context. Raises ValueError for single texts and for rows with several contexts."""
        if len(self.contexts) != 1:
            raise ValueError(f"expected a pair, got {len(self.contexts)} contexts")
        return self.contexts[0]

    @property
    def x(self) -> ReadText:
        """The judged text; the second one if both sides of a pair are judged."""
        return self.first if self.judged == "first" or not self.contexts else self.second

    @property
    def y(self) -> ReadText:
        """The other text of a pair, or the first of several contexts."""
        return self.contexts[0] if self.judged == "first" or not self.contexts else self.first
