"""Words from pieces of words: which piece of a tokeniser belongs to which word of ours, by spans of characters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from core.guests.texts import Span, spelt
from core.reading.reader import Reading, ReadText
from core.reading.tokens import Token, tokenize

NO_WORD = -1
"""Of a special piece, or one that stands for no word."""


def words_of_pieces(words: Sequence[Span], pieces: Sequence[Span]) -> list[int]:
    """For each piece the number of its word, :data:`NO_WORD` for a piece that belongs to none.

    Spans are characters [start, end) of one text. A piece belongs to the word with which it shares most characters, the
    first of equal ones; a piece of space alone, such as "▁", to the word that begins where it ends.
    """
    beginning = {start: number for number, (start, _) in enumerate(words)}
    owners = []
    first = 0
    for start, end in pieces:
        while first < len(words) and words[first][1] <= start:
            first += 1
        shared = {}
        for number in range(first, len(words)):
            if words[number][0] >= end:
                break
            shared[number] = min(end, words[number][1]) - max(start, words[number][0])
        owners.append(max(shared, key=shared.__getitem__, default=beginning.get(end, NO_WORD)))
    return owners


@dataclass(frozen=True)
class Pieces:
    """B pairs as a model from elsewhere reads them.

    ``inputs``: what it is called with, each ``[B, P]``, padded at the end; ``owners [B, P]``: of each piece the number
    of its word, those of the second text after those of the first, :data:`NO_WORD` for special pieces and pads;
    ``real [B, P]``: false on pads; ``words``: how many words both texts of each row have.
    """

    inputs: Mapping[str, Tensor]
    owners: Tensor
    real: Tensor
    words: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.owners)

    def repeated(self, rows: int) -> Pieces:
        """A batch of 1 as one of so many equal rows."""
        inputs = {name: values.expand(rows, -1) for name, values in self.inputs.items()}
        return Pieces(inputs, self.owners.expand(rows, -1), self.real.expand(rows, -1), self.words * rows)

    def to(self, device: torch.device | str) -> Pieces:
        """The same on another device."""
        inputs = {name: values.to(device) for name, values in self.inputs.items()}
        return Pieces(inputs, self.owners.to(device), self.real.to(device), self.words)


Row = tuple[Mapping[str, Any], list[int]]
"""What the tokeniser makes of a row, and of each piece the number of its word."""


def padded_pieces(
    tokenizer: Any, names: Sequence[str], rows: Sequence[Row], words: tuple[tuple[int, int], ...]
) -> Pieces:
    """Rows of different lengths as one batch; ``names``: what the model is called with."""
    pad = {"input_ids": tokenizer.pad_token_id or 0, "token_type_ids": tokenizer.pad_token_type_id}
    longest = max(len(owners) for _, owners in rows)

    def padded(values: Iterable[Sequence[int]], filler: int) -> Tensor:
        return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in values])

    inputs = {name: padded([row[name] for row, _ in rows], pad.get(name, 0)) for name in names if name in rows[0][0]}
    lengths = torch.tensor([len(owners) for _, owners in rows])
    real = torch.arange(longest)[None] < lengths[:, None]
    return Pieces(inputs, padded([owners for _, owners in rows], NO_WORD), real, words)


@dataclass(frozen=True)
class PieceReader:
    """Splits texts into our words, and pairs of them into the pieces of a tokeniser of Hugging Face's.

    ``names``: what the model is called with; ``second_first``: whether it reads the second text before the first;
    ``longest``: pieces of a pair that it can read.
    """

    tokenizer: Any
    names: tuple[str, ...]
    longest: int
    second_first: bool = False

    def tokens(self, text: str) -> list[Token]:
        return tokenize(text)

    def known(self, norm: str) -> bool:
        return True  # a word that it lacks is spelt in pieces

    def batch(self, reading: Reading) -> Pieces:
        return self.batch_of([reading])

    def batch_of(self, readings: Sequence[Reading]) -> Pieces:
        """The readings' texts in pieces."""
        words = tuple((len(reading.first.tokens), len(reading.second.tokens)) for reading in readings)
        return padded_pieces(self.tokenizer, self.names, [self._row(reading) for reading in readings], words)

    def fitting(self, sides: Sequence[ReadText]) -> list[ReadText]:
        """The texts without the last words that the model has no room for, taken from the longer text first."""
        left = list(sides)
        while (excess := self._length(left) - self.longest) > 0:
            longer = max((0, 1), key=lambda number: len(left[number].tokens))
            side = left[longer]
            # A word has a piece at least, so as many words less are never too many but for words of several pieces.
            count = max(1, len(side.tokens) - max(1, excess // 4))
            if count == len(side.tokens):
                break
            left[longer] = ReadText(
                side.role, side.text, side.tokens[:count], side.truncated + len(side.tokens) - count
            )
        return left

    def _length(self, sides: Sequence[ReadText]) -> int:
        texts = [spelt(side)[0] for side in sides]
        return len(self.tokenizer(*self._ordered(texts), verbose=False)["input_ids"])

    def _ordered(self, texts: Sequence[Any]) -> Sequence[Any]:
        return texts[::-1] if self.second_first else texts

    def _row(self, reading: Reading) -> Row:
        sides = (reading.first, reading.second)
        spellings = [spelt(side) for side in sides]
        texts = [text for text, _ in spellings]
        encoded = self.tokenizer(*self._ordered(texts), return_offsets_mapping=True, verbose=False)
        by_text: dict[int, list[int]] = {0: [], 1: []}
        sequences = encoded.sequence_ids(0)
        for place, number in enumerate(sequences):
            if number is not None:
                by_text[1 - number if self.second_first else number].append(place)
        owners = [NO_WORD] * len(sequences)
        before = 0
        for number, (_, spans) in enumerate(spellings):
            places = by_text[number]
            pieces = [tuple(encoded["offset_mapping"][place]) for place in places]
            for place, word in zip(places, words_of_pieces(spans, pieces), strict=True):
                owners[place] = NO_WORD if word == NO_WORD else before + word
            before += len(spans)
        return encoded, owners
