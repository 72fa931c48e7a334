"""The n-grams that one filter responds to most: of all that a vocabulary can form, and of those in given texts.

A filter f ∈ R^{h×d} gives a window of the words w_1 … w_h, before the ReLU, the value

    Σ_j ⟨f_j, p(w_j)⟩ + b                                        (Shen et al. 2018, equation 1)

with p the model's projection of a word's vector, and b the filter's bias: ψ of the pair form, none for one text alone.
It is a sum over the places of the window. So each distinct word is projected once for all filters; a new filter costs
one product of [V, d] with [d, h], and a window h look-ups; and of a whole vocabulary the words that make the value
largest are found place by place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from core.checkpoint import Checkpoint
from core.evidence import Explanation, FilterProvenance, GeneratedFilters, Matrix
from core.explain import reading_of
from core.filter_map.map import maker_of
from core.reading.reader import WordReader, read_text
from core.reading.tokens import MAX_TOKENS
from core.reading.word_table import WordTable

FREQUENT = 20_000
"""Rows of the word table that are looked through, the most frequent words."""


@dataclass(frozen=True)
class Ngram:
    """An n-gram of a collection of texts and what a filter gives for it before the ReLU."""

    words: tuple[str, ...]
    """Normalised (:attr:`core.reading.tokens.Token.norm`); fewer than h where a whole text has fewer."""
    value: float
    text: int
    """The number of the first text that holds it, from 0."""


@dataclass(frozen=True)
class ReadWords:
    """V distinct words as the filters of one model read them."""

    words: tuple[str, ...]
    vectors: np.ndarray
    """p(word), float32 ``[V, d]``."""

    @classmethod
    @torch.inference_mode()
    def of(cls, checkpoint: Checkpoint, norms: Sequence[str]) -> ReadWords:
        """Project normalised words, once for all filters."""
        return cls(tuple(norms), maker_of(checkpoint).project(checkpoint.reader.vectors(norms)).numpy())

    def values(self, filter: Matrix) -> np.ndarray:
        """⟨f_j, p(word)⟩ for every place of a filter ``[h, d]`` and every word: float32 ``[h, V]``."""
        return np.asarray(filter, dtype=np.float32) @ self.vectors.T

    def strongest(self, filter: Matrix, k: int) -> list[list[tuple[str, float]]]:
        """The k words with the largest contribution at each window position, the largest first, with their
        contribution. The first of each position form the n-gram that the filter responds to most (the bias is not
        included)."""
        return [[(self.words[i], float(row[i])) for i in _largest(row, k)] for row in self.values(filter)]


class TextNgrams:
    """The distinct n-grams of a collection of texts, n the width of a model's filters. Never changed after it is made;
    threads may share it."""

    def __init__(self, checkpoint: Checkpoint, texts: Sequence[str], limit: int = MAX_TOKENS) -> None:
        """``texts``: those without a word are skipped; of the others the first ``limit`` tokens are read."""
        width = maker_of(checkpoint).bank_shape[1]
        numbers: dict[str, int] = {}
        windows, owners = [np.empty((0, width), dtype=np.int32)], [np.empty(0, dtype=np.int32)]
        for owner, text in enumerate(texts):
            norms = read_text(checkpoint.reader, text, limit=limit).norms
            ids = [numbers.setdefault(norm, len(numbers)) for norm in norms]
            if not ids:
                continue
            # A text shorter than the window is padded: -1 is the row of zeros after the last word.
            ids += [-1] * (width - len(ids))
            windows.append(np.lib.stride_tricks.sliding_window_view(np.array(ids, dtype=np.int32), width))
            owners.append(np.full(len(windows[-1]), owner, dtype=np.int32))
        distinct, first = np.unique(np.concatenate(windows), axis=0, return_index=True)
        self._words = ReadWords.of(checkpoint, list(numbers))
        # [h, U]: the look-ups of one place lie side by side.
        self._ngrams, self._owners = np.ascontiguousarray(distinct.T), np.concatenate(owners)[first]

    def __len__(self) -> int:
        """U, how many they are."""
        return len(self._owners)

    def strongest(self, filter: Matrix, bias: float, k: int) -> list[Ngram]:
        """The k n-grams with the largest values of a filter ``[h, d]``, the largest first. Like :func:`window_values`,
        the values include ``bias``."""
        by_word = np.pad(self._words.values(filter), ((0, 0), (0, 1)))
        values = np.full(len(self), bias, dtype=np.float32)
        for place, ids in zip(by_word, self._ngrams, strict=True):
            values += place[ids]
        return [
            Ngram(
                tuple(self._words.words[number] for number in self._ngrams[:, i] if number >= 0),
                float(values[i]),
                int(self._owners[i]),
            )
            for i in _largest(values, k)
        ]


def frequent_words(table: WordTable, count: int = FREQUENT) -> list[str]:
    """The words among the table's ``count`` most frequent ones (its first rows) that our tokeniser can produce: it
    never yields “aug.” or “``”."""
    reader = WordReader(table)
    # A table that lies over another one has its words in no order.
    words = (table.beneath or table).words[:count]
    return [word for word in words if read_text(reader, word).norms == [word]]


@torch.inference_mode()
def window_values(checkpoint: Checkpoint, explanation: Explanation, bank: GeneratedFilters, filter: int) -> list[float]:
    """One generated filter's value for every window of the text that it convolves, before the ReLU, bias included.

    Its :class:`FilterProvenance` holds only the largest of them.
    """
    words = ReadWords.of(checkpoint, reading_of(checkpoint, explanation, bank.applied_to).norms)
    by_word = words.values(bank.bank[filter])
    width = len(by_word)
    # A text shorter than the window is padded with zeros after its last word.
    by_word = np.pad(by_word, ((0, 0), (0, max(0, width - by_word.shape[1]))))
    count = by_word.shape[1] - width + 1
    won = next(r for r in explanation.evidence if isinstance(r, FilterProvenance) and r.rows == bank.applied_to)
    values = sum(by_word[place, place : place + count] for place in range(width)) + won.filters[filter].bias
    return values.tolist()  # type: ignore[union-attr]


def _largest(values: np.ndarray, k: int) -> np.ndarray:
    """Places of the k largest of ``values [V]``, the largest first; all of them where there are fewer."""
    some = np.argpartition(-values, k)[:k] if k < len(values) else np.arange(len(values))
    return some[np.argsort(-values[some], kind="stable")]
