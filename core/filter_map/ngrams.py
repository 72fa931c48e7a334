"""The n-grams that one filter responds to most: among all that a vocabulary can form, and among those in given texts.

Before the ReLU, a filter f ∈ R^{h×d} maps a window of words w_1 … w_h to

    Σ_j ⟨f_j, p(w_j)⟩ + b                                        (Shen et al. 2018, equation 1)

where p is the model's projection of a word vector and b the filter's bias (ψ in the pair form; none for a single text).
The value is a sum over window positions. So each distinct word is projected once for all filters; a new filter costs
one product of [V, d] with [d, h], and a window h lookups; over a whole vocabulary, the words with the largest value are
found separately for each position.
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
"""Number of word-table rows searched, the most frequent words."""


@dataclass(frozen=True)
class Ngram:
    """An n-gram from a collection of texts and a filter's value for it before the ReLU."""

    words: tuple[str, ...]
    """Normalised (:attr:`core.reading.tokens.Token.norm`); fewer than h if the whole text has fewer."""
    value: float
    text: int
    """Index of the first text that contains it, from 0."""


@dataclass(frozen=True)
class ReadWords:
    """V distinct words as the filters of one model see them."""

    words: tuple[str, ...]
    vectors: np.ndarray
    """p(word), float32 ``[V, d]``."""

    @classmethod
    @torch.inference_mode()
    def of(cls, checkpoint: Checkpoint, norms: Sequence[str]) -> ReadWords:
        """Project normalised words, once for all filters."""
        return cls(tuple(norms), maker_of(checkpoint).project(checkpoint.reader.vectors(norms)).numpy())

    def values(self, filter: Matrix) -> np.ndarray:
        """⟨f_j, p(word)⟩ for every position of a filter ``[h, d]`` and every word: float32 ``[h, V]``."""
        return np.asarray(filter, dtype=np.float32) @ self.vectors.T

    def strongest(self, filter: Matrix, k: int) -> list[list[tuple[str, float]]]:
        """The k words with the largest contribution at each window position, largest first, with their contributions.
        The first word of each position together form the n-gram that the filter responds to most (the bias is not
        included)."""
        return [[(self.words[i], float(row[i])) for i in _largest(row, k)] for row in self.values(filter)]


class TextNgrams:
    """The distinct n-grams of a collection of texts, where n is the width of the model's filters. Immutable, so threads
    may share it."""

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
            # A text shorter than the window is padded: -1 selects the row of zeros after the last word.
            ids += [-1] * (width - len(ids))
            windows.append(np.lib.stride_tricks.sliding_window_view(np.array(ids, dtype=np.int32), width))
            owners.append(np.full(len(windows[-1]), owner, dtype=np.int32))
        distinct, first = np.unique(np.concatenate(windows), axis=0, return_index=True)
        self._words = ReadWords.of(checkpoint, list(numbers))
        # [h, U]: the lookups of one window position are contiguous.
        self._ngrams, self._owners = np.ascontiguousarray(distinct.T), np.concatenate(owners)[first]

    def __len__(self) -> int:
        """U, the number of distinct n-grams."""
        return len(self._owners)

    def strongest(self, filter: Matrix, bias: float, k: int) -> list[Ngram]:
        """The k n-grams with the largest values of a filter ``[h, d]``, largest first. Like :func:`window_values`, the
        values include ``bias``."""
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
    # An overlay table does not order its words by frequency.
    words = (table.beneath or table).words[:count]
    return [word for word in words if read_text(reader, word).norms == [word]]


@torch.inference_mode()
def window_values(checkpoint: Checkpoint, explanation: Explanation, bank: GeneratedFilters, filter: int) -> list[float]:
    """One generated filter's value for every window of the text it convolves, before the ReLU, bias included.

    Its :class:`FilterProvenance` holds only the largest.
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
    """Indices of the k largest of ``values [V]``, largest first; all of them if there are fewer."""
    some = np.argpartition(-values, k)[:k] if k < len(values) else np.arange(len(values))
    return some[np.argsort(-values[some], kind="stable")]
