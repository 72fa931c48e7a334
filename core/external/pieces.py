"""Aligns a tokeniser's pieces (subword tokens) with our words, by character spans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from core.external.base import ExternalReader, Span, blaming, spelt
from core.reading.reader import PairError, Reading, ReadText
from core.reading.scripts import inner_ends, without_spaces
from core.reading.tokens import MAX_TOKENS, Token, normalise, tokenize

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedTokenizerFast

NO_WORD = -1
"""Owner of a special token, or of a piece outside all words."""


def words_of_pieces(words: Sequence[Span], pieces: Sequence[Span]) -> list[int]:
    """The word index of each piece, :data:`NO_WORD` for a piece outside all words.

    Spans are character offsets [start, end) in one text. A piece belongs to the word with which it shares most
    characters, on ties the first; a bare space piece, such as "▁", to the word that begins where it ends.
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
    """B pairs as an external model reads them.

    ``inputs``: its input tensors, each ``[B, P]``, padded at the end; ``owners [B, P]``: the word index of each piece,
    counted through the first text and then the second, :data:`NO_WORD` for special tokens and padding; ``real [B, P]``:
    false on padding; ``words``: the number of words in both texts of each row.
    """

    inputs: Mapping[str, Tensor]
    owners: Tensor
    real: Tensor
    words: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.owners)

    def row(self, number: int) -> Pieces:
        """One row as a batch, without padding."""
        rows, real = slice(number, number + 1), slice(0, int(self.real[number].sum()))
        inputs = {name: values[rows, real] for name, values in self.inputs.items()}
        return Pieces(inputs, self.owners[rows, real], self.real[rows, real], self.words[rows])

    @property
    def of_words(self) -> Tensor:
        """For a batch of 1, the pieces of each word ``[words + 1, P]``; the last row holds all others."""
        words = self.words[0][0] + self.words[0][1]
        return torch.nn.functional.one_hot(self.owners[0] % (words + 1), words + 1).T

    def repeated(self, rows: int) -> Pieces:
        """A batch of 1, repeated ``rows`` times."""
        inputs = {name: values.expand(rows, -1) for name, values in self.inputs.items()}
        return Pieces(inputs, self.owners.expand(rows, -1), self.real.expand(rows, -1), self.words * rows)

    def to(self, device: torch.device | str) -> Pieces:
        """A copy on another device."""
        inputs = {name: values.to(device) for name, values in self.inputs.items()}
        return Pieces(inputs, self.owners.to(device), self.real.to(device), self.words)


@dataclass(frozen=True)
class SplitsIntoPieces:
    """Splits one text, or two texts together, into a tokeniser's pieces. ``longest``: maximum number of pieces;
    ``second_first``: whether it reads the second text before the first; ``prompt``: prefix of each text; ``lower``:
    whether texts are lower-cased."""

    tokenizer: PreTrainedTokenizerFast
    longest: int
    second_first: bool = False
    prompt: str = ""
    lower: bool = False

    def tokens(self, text: str) -> list[Token]:
        """Our words; in a script without spaces they end where the tokeniser's pieces end."""
        words = tokenize(text)
        if not without_spaces(text):
            return words
        ends = self._ends(text).intersection(inner_ends(text))
        parts = []
        for word in words:
            cuts = [word.start, *sorted(ends.intersection(range(word.start + 1, word.end))), word.end]
            for start, end in pairwise(cuts):
                parts.append(Token(text[start:end], start, end, normalise(text[start:end])))
        return parts

    def lacks(self, word: str) -> bool:
        unknown = self.tokenizer.unk_token_id
        return unknown is not None and unknown in self._called(word, add_special_tokens=False)["input_ids"]

    def pieces(self, rows: Sequence[Sequence[ReadText]]) -> Pieces:
        """Rows of one or two texts each as one batch."""
        split = [self._row(sides) for sides in rows]
        pad = {"input_ids": self.tokenizer.pad_token_id or 0, "token_type_ids": self.tokenizer.pad_token_type_id}
        lengths = torch.tensor([len(owners) for _, owners in split])
        longest = int(lengths.max())

        def padded(values: Iterable[Sequence[int]], filler: int) -> Tensor:
            return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in values])

        named = [name for name in self.tokenizer.model_input_names if name in split[0][0] and name != "attention_mask"]
        inputs = {name: padded([row[name] for row, _ in split], pad.get(name, 0)) for name in named}
        real = torch.arange(longest)[None] < lengths[:, None]
        words = tuple((len(first.tokens), sum(len(side.tokens) for side in others)) for first, *others in rows)
        return Pieces(inputs, padded([owners for _, owners in split], NO_WORD), real, words)

    def shortened(self, sides: Sequence[ReadText]) -> list[ReadText]:
        """The texts truncated to the model's limit, shortening the text with more pieces first. Raises PairError if
        even the first words do not fit."""
        left = list(sides)
        if self.tokenizer.truncation_side == "left" and self._length(left) > self.longest:
            raise PairError("the text is too long, and the model’s tokeniser cuts texts at their beginning: shorten it")
        while (excess := self._length(left) - self.longest) > 0:
            counts = _counts(left, self._row(left)[1])
            while excess > 0:
                longer = max((own for own in counts if len(own) > 1), key=sum, default=None)
                if longer is None:
                    break
                excess -= longer.pop()
            kept = [_first_words(side, len(own)) for side, own in zip(left, counts, strict=True)]
            if kept == left:
                longest = max(left, key=lambda side: len(side.tokens[0].text) if side.tokens else 0)
                word = longest.tokens[0].text[:24] if longest.tokens else ""
                raise PairError(
                    f"“{word}…” is longer than the {self.longest} pieces that this model reads: shorten it."
                )
            left = kept
        return left

    def _length(self, sides: Sequence[ReadText]) -> int:
        return len(self._called(*self._ordered([text for text, _ in self._spellings(sides)]))["input_ids"])

    def _ends(self, text: str) -> set[int]:
        """The positions where the tokeniser's pieces end in a text; some pieces are part of a character."""
        spans = self._called(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        furthest, ends = 0, set()
        for start, end in spans:
            if start >= furthest:
                ends.add(start)
            furthest = max(furthest, end)
        return ends

    def _called(self, *texts: str, **options: Any) -> BatchEncoding:
        with blaming("the tokeniser"):
            return self.tokenizer(*texts, verbose=False, **options)

    def _spellings(self, sides: Sequence[ReadText]) -> list[tuple[str, list[Span]]]:
        """The tokeniser's input for each text of a row, and the span of each word in it."""
        read_first = len(sides) - 1 if self.second_first else 0
        return [self._spelt(side, self.prompt if at == read_first else "") for at, side in enumerate(sides)]

    def _spelt(self, side: ReadText, prompt: str) -> tuple[str, list[Span]]:
        text, spans = spelt(side)
        if self.lower:  # one letter at a time: some, such as İ, become two in lower case
            text = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
        before = len(prompt)
        return prompt + text, [(start + before, end + before) for start, end in spans]

    def _ordered(self, texts: Sequence[str]) -> Sequence[str]:
        return texts[::-1] if self.second_first else texts

    def _row(self, sides: Sequence[ReadText]) -> tuple[BatchEncoding, list[int]]:
        """The pieces of a row, and the word index of each."""
        spellings = self._spellings(sides)
        texts = self._ordered([text for text, _ in spellings])
        encoded = self._called(*texts, return_offsets_mapping=True)
        sequences = encoded.sequence_ids(0)
        owners = [NO_WORD] * len(sequences)
        before = 0
        for number, (_, spans) in enumerate(spellings):
            own = len(sides) - 1 - number if self.second_first else number
            places = [place for place, sequence in enumerate(sequences) if sequence == own]
            found = words_of_pieces(spans, [tuple(encoded["offset_mapping"][place]) for place in places])
            for place, word in zip(places, found, strict=True):
                owners[place] = NO_WORD if word == NO_WORD else before + word
            before += len(spans)
        return encoded, owners


class PieceReader(SplitsIntoPieces, ExternalReader[Pieces]):
    """Splits texts into our words, and both texts of a pair together into pieces."""

    most_words = 2 * MAX_TOKENS

    def batch_of(self, readings: Sequence[Reading]) -> Pieces:
        return self.pieces([(reading.first, reading.second) for reading in readings])

    def fitting(self, sides: Sequence[ReadText]) -> list[ReadText]:
        lengths = [len(side.tokens) for side in sides]
        while sum(lengths) > self.most_words:  # of both texts together
            lengths[lengths.index(max(lengths))] -= 1
        return self.shortened([_first_words(side, length) for side, length in zip(sides, lengths, strict=True)])


def _first_words(side: ReadText, count: int) -> ReadText:
    """The text truncated after ``count`` words."""
    cut = len(side.tokens) - count
    return replace(side, tokens=side.tokens[:count], truncated=side.truncated + cut) if cut else side


def _counts(sides: Sequence[ReadText], owners: Sequence[int]) -> list[list[int]]:
    """The number of pieces in each word of each text."""
    of, counts, before = Counter(owners), [], 0
    for side in sides:
        counts.append([of[before + word] for word in range(len(side.tokens))])
        before += len(side.tokens)
    return counts
