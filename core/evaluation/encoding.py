"""Data sets as word ids, and their batches of similar length.

A whole data set is a few arrays on the device; batches are gathered there, so no worker processes are needed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from core.data import DataError, Example
from core.errors import UserError
from core.reading.batch import Batch, Side
from core.reading.reader import Reader, Reading
from core.reading.tokens import MAX_CHARACTERS, MAX_TOKENS, norms

AT_ONCE = 1024
"""Words whose vectors are computed together."""
COMMON = 1000
"""Number of a data set's most frequent words that are not exchanged; few of them are names."""
POOL = 200
"""Batches sampled together and sorted by length: more means less padding but less shuffling."""


class Vocabulary:
    """Assigns ids to normalised words in order of appearance, from 1; 0 is padding and has the zero vector. Texts are
    split by the project's own tokeniser."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self._seen: dict[tuple[str, int], list[int]] = {}
        self._counts: dict[str, int] = {}
        """Number of tokens of each encoded text."""

    def encode(self, text: str, limit: int = MAX_TOKENS) -> list[int]:
        """Ids of a sentence's first ``limit`` tokens; a text without words is a single word with id 0."""
        key = text, max(limit, MAX_TOKENS)
        if key not in self._seen:
            words = norms(text)
            self._seen[key] = self.numbers(words[: key[1]])
            self._counts[text] = len(words)
        return self._seen[key][:limit]

    def cuts(self, text: str, limit: int = MAX_TOKENS) -> bool:
        """Whether :meth:`encode` left out the end of a text."""
        return self._counts[text] > limit or len(text) > MAX_CHARACTERS

    def encode_lines(self, text: str, limit: int = MAX_TOKENS) -> list[list[int]]:
        """Encodes each line separately; lines without tokens are left out."""
        out: list[list[int]] = []
        left = limit
        for line in text.split("\n"):
            words = norms(line)[:left]
            left -= len(words)
            if words:
                out.append(self.numbers(words))
        return out or [self.numbers(())]

    def numbers(self, words: Iterable[str]) -> list[int]:
        """Ids of normalised words; a single id 0 if there are none."""
        return [self.ids.setdefault(word, len(self.ids) + 1) for word in words] or [0]

    def matrix(self, reader: Reader) -> Tensor:
        """Vectors by id, ``[len + 1, D]``, row 0 zero. Raises UserError for the reader of an external model, which has
        no word vectors."""
        if not hasattr(reader, "vectors"):
            raise UserError("this needs word vectors, which an external model lacks: choose another model")
        return vectors_of(list(self.ids), reader)


def vectors_of(words: Sequence[str], reader: Reader) -> Tensor:
    """Vectors of words by id, ``[len + 1, D]``; row 0 (padding) is zero."""
    out = torch.zeros(len(words) + 1, reader.width)
    for start in range(0, len(words), AT_ONCE):  # reading takes several times the memory of the result
        some = words[start : start + AT_ONCE]
        out[start + 1 : start + 1 + len(some)] = reader.vectors(some)
    return out


@dataclass(frozen=True)
class Ragged:
    """N sentences of different lengths, concatenated: ``flat [sum of lengths]``, ``starts`` and ``lengths [N]``."""

    flat: Tensor
    starts: Tensor
    lengths: np.ndarray

    @classmethod
    def of(cls, sentences: Iterable[Sequence[int]]) -> Ragged:
        """Builds the arrays from lists of word ids."""
        listed = list(sentences)
        lengths = np.array([len(s) for s in listed], dtype=np.int64)
        flat = np.fromiter((word for s in listed for word in s), dtype=np.int32, count=int(lengths.sum()))
        starts = np.concatenate([[0], lengths.cumsum()[:-1]]) if listed else np.zeros(0, dtype=np.int64)
        return cls(torch.from_numpy(flat), torch.from_numpy(starts), lengths)

    def to(self, device: torch.device) -> Ragged:
        """A copy on a device (lengths stay on the host, where batches are planned)."""
        return Ragged(self.flat.to(device), self.starts.to(device), self.lengths)

    def and_then(self, other: Ragged) -> Ragged:
        """These sentences followed by the other's."""
        return Ragged(
            torch.cat([self.flat, other.flat]),
            torch.cat([self.starts, other.starts + len(self.flat)]),
            np.concatenate([self.lengths, other.lengths]),
        )

    def without_last(self, word: int, drawn: np.ndarray) -> Ragged:
        """A copy in which each sentence selected by ``drawn [N]`` loses its last word if that is ``word`` and not
        alone."""
        last = self.flat.cpu().numpy()[np.maximum(self.starts.cpu().numpy() + self.lengths - 1, 0)]
        return replace(self, lengths=self.lengths - (drawn & (last == word) & (self.lengths > 1)))

    def words(self) -> tuple[np.ndarray, np.ndarray]:
        """All words without gaps, and the index of the sentence each belongs to: ``[sum of lengths]`` both."""
        sentence = np.repeat(np.arange(len(self.lengths)), self.lengths)
        within = np.arange(len(sentence)) - np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)
        return self.flat.cpu().numpy()[self.starts.cpu().numpy()[sentence] + within], sentence

    def with_words(self, words: np.ndarray) -> Ragged:
        """A copy with ``words [sum of lengths]`` replacing :meth:`words`."""
        device, starts = self.flat.device, np.cumsum(self.lengths) - self.lengths
        flat = torch.from_numpy(words.astype(np.int32)).to(device)
        return Ragged(flat, torch.from_numpy(starts).to(device), self.lengths)

    def rows(self, numbers: np.ndarray) -> Ragged:
        """A selection of sentences."""
        return Ragged(self.flat, self.starts[torch.from_numpy(numbers)], self.lengths[numbers])

    def side(self, rows: np.ndarray) -> Side:
        """Word ids ``[B, longest]`` of these rows, 0 on padding, with the mask of real words."""
        device = self.flat.device
        lengths = self.lengths[rows]
        places = torch.arange(max(1, int(lengths.max())), device=device)[None]
        mask = places < torch.from_numpy(lengths).to(device)[:, None]
        at = self.starts[torch.from_numpy(rows).to(device)][:, None] + places
        return Side(self.flat[at.clamp_(max=len(self.flat) - 1)] * mask, mask)


@dataclass(frozen=True)
class Encoded:
    """A data set as word ids, with its texts in the file's order (see :class:`core.reading.batch.Batch`), class indices
    ``labels [N]`` (-1: none), and loss weights ``weights [N]``. ``groups``: each row's question in ranking sets;
    ``extra [N, F]``: linguistic features, for models that use them."""

    first: Ragged
    contexts: tuple[Ragged, ...]
    labels: Tensor
    weights: Tensor
    judged: str = "second"
    groups: tuple[str, ...] | None = None
    extra: Tensor | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> tuple[np.ndarray, ...]:
        """Word counts of each row's first text and of all its contexts together: ``[N]`` each."""
        contexts = [texts.lengths for texts in self.contexts]
        return (self.first.lengths, np.sum(contexts, axis=0)) if contexts else (self.first.lengths,)

    @property
    def x(self) -> Ragged:
        """The judged texts; the second ones if both sides are judged."""
        return self.first if self.judged == "first" or not self.contexts else self.contexts[0]

    def to(self, device: torch.device) -> Encoded:
        """A copy on a device."""
        return self._with(lambda texts: texts.to(device), lambda values: values.to(device))

    def rows(self, numbers: np.ndarray) -> Encoded:
        """A selection of rows."""
        at = torch.from_numpy(numbers)
        groups = None if self.groups is None else tuple(self.groups[i] for i in numbers)
        return replace(self._with(lambda texts: texts.rows(numbers), lambda values: values[at]), groups=groups)

    def without_last(self, word: int, drawn: np.ndarray) -> Encoded:
        """Applies :meth:`Ragged.without_last` to all texts of the ``drawn`` rows."""
        return self._with(lambda texts: texts.without_last(word, drawn), lambda values: values)

    def with_other_names(self, share: float, drawn: np.random.Generator) -> Encoded:
        """Replaces a ``share`` of the rare words that a row's first text shares with its other texts by other rare
        words, sampled per row and the same in all texts of the row. Rare words are all but the :data:`COMMON` most
        frequent in these texts."""
        of_texts = [texts.words() for texts in (self.first, *self.contexts)]
        numbers, counts = np.unique(np.concatenate([words for words, _ in of_texts]), return_counts=True)
        by_count = numbers[np.argsort(-counts, kind="stable")]
        rare = by_count[by_count > 0][COMMON:]
        size = int(numbers[-1]) + 1
        first, *others = (row * size + words for words, row in of_texts)  # (row, word) as a single integer
        shared = np.intersect1d(first, np.concatenate([first[:0], *others]))
        shared = shared[np.isin(shared % size, rare)]
        shared = shared[drawn.random(len(shared)) < share]
        if not len(shared):
            return self
        other = drawn.choice(rare, len(shared))

        def exchanged(texts: Ragged) -> Ragged:
            words, row = texts.words()
            at = np.minimum(np.searchsorted(shared, row * size + words), len(shared) - 1)
            return texts.with_words(np.where(shared[at] == row * size + words, other[at], words))

        return self._with(exchanged, lambda values: values)

    def _with(self, texts: Callable[[Ragged], Ragged], values: Callable[[Tensor], Tensor]) -> Encoded:
        return replace(
            self,
            first=texts(self.first),
            contexts=tuple(map(texts, self.contexts)),
            labels=values(self.labels),
            weights=values(self.weights),
            extra=None if self.extra is None else values(self.extra),
        )

    def and_then(self, other: Encoded) -> Encoded:
        """These rows followed by the other set's; questions with the same name in both are kept apart."""
        groups = None
        if self.groups is not None and other.groups is not None:
            groups = (*(f"1 {group}" for group in self.groups), *(f"2 {group}" for group in other.groups))
        # Rows with fewer contexts get empty ones.
        pairs = itertools.zip_longest(self.contexts, other.contexts)
        contexts = tuple((one or _empty(self)).and_then(more or _empty(other)) for one, more in pairs)
        return Encoded(
            self.first.and_then(other.first),
            contexts,
            torch.cat([self.labels, other.labels]),
            torch.cat([self.weights, other.weights]),
            self.judged,
            groups,
            None if self.extra is None or other.extra is None else torch.cat([self.extra, other.extra]),
        )

    def batch(self, rows: np.ndarray, vectors: Tensor | None) -> tuple[Batch, Tensor]:
        """These rows as a batch of word vectors (``vectors [V, D]`` by id; None keeps the ids), and their class indices
        ``[B]``."""
        at = torch.from_numpy(rows).to(self.labels.device)
        extra = None if self.extra is None else self.extra[at]
        contexts = [texts for i, texts in enumerate(self.contexts) if i == 0 or texts.lengths[rows].any()]
        batch = Batch(self.first.side(rows), tuple(texts.side(rows) for texts in contexts), self.judged, extra)
        return batch if vectors is None else batch.embedded(vectors), self.labels[at]


def _empty(data: Encoded) -> Ragged:
    return Ragged.of([()] * len(data))


def encode(
    rows: Sequence[Example],
    vocabulary: Vocabulary,
    labels: Sequence[str] | None,
    *,
    judged: str,
    single: bool = False,
    weights: Sequence[float] | None = None,
    limits: tuple[int, int] = (MAX_TOKENS, MAX_TOKENS),
    extra: Tensor | None = None,
    lines: bool = False,
) -> Encoded:
    """Encodes a file's rows as word ids; new words are added to the vocabulary. Without ``labels`` the rows' labels are
    ignored; without ``weights`` every row has weight 1. ``limits``: maximum tokens of the first and of the second
    sentence. ``lines``: each line of the second text is a separate context
    (:meth:`core.models.base.PairModel.reads`).

    Raises DataError for a label that is not among ``labels``.
    """
    index = {label: i for i, label in enumerate(labels or ())}
    for row in rows if labels is not None else ():
        if row.label is not None and row.label not in index:
            raise DataError(
                f"row {row.id} has the label {row.label!r}, but the model's classes are {', '.join(index)}; "
                "map the file's labels to classes or choose a model of its task"
            )
    first = Ragged.of(vocabulary.encode(row.first, limits[0]) for row in rows)
    if lines:
        contexts = _side_by_side([vocabulary.encode_lines(row.second, limits[1]) for row in rows])
    else:
        contexts = () if single else (Ragged.of(vocabulary.encode(row.second, limits[1]) for row in rows),)
    classes = torch.tensor([index.get(row.label or "", -1) for row in rows], dtype=torch.int64)
    weighed = torch.ones(len(rows)) if weights is None else torch.tensor(weights, dtype=torch.float32)
    groups = tuple(row.group for row in rows if row.group is not None)
    grouped = rows and len(groups) == len(rows)
    return Encoded(first, contexts, classes, weighed, judged, groups if grouped else None, extra)


def _side_by_side(rows: Sequence[Sequence[Sequence[int]]]) -> tuple[Ragged, ...]:
    """Transposes rows of texts: the first texts of all rows, the second ones, and so on; rows with fewer texts get
    empty ones, which are masked."""
    width = max(map(len, rows), default=0)
    return tuple(Ragged.of(row[i] if i < len(row) else () for row in rows) for i in range(width))


def encode_readings(readings: Iterable[Reading], vocabulary: Vocabulary) -> Encoded:
    """Encodes readings of one checkpoint as word ids, without labels; iterates over them once."""
    sides: list[list[list[int]]] = []
    extra: list[tuple[float, ...] | None] = []
    judged = "second"
    for reading in readings:
        judged = reading.judged
        sides.append([vocabulary.numbers(side.norms) for side in (reading.first, *reading.contexts)])
        extra.append(reading.extra)
    first, *contexts = _side_by_side(sides) or (Ragged.of(()),)
    features = torch.tensor(extra) if extra and extra[0] is not None else None
    none = torch.full((len(sides),), -1)
    return Encoded(first, tuple(contexts), none, torch.ones(len(sides)), judged, None, features)


def plan(data: Encoded, size: int, seed: Sequence[int] | None = None) -> list[np.ndarray]:
    """Row indices of every batch. Shuffled with a seed, otherwise from short to long.

    Rows are sampled in pools of ``POOL`` batches, sorted by length within the pool, cut into batches, and the batches
    shuffled. The order depends only on the seed (``[run seed, epoch]``), so training can resume at any step.
    """
    x = data.x.lengths
    # Among judged sentences of equal length, context lengths alternate between rising and falling, so that no batch
    # that spans two lengths holds both the longest and the shortest contexts (4 % less work on the SNLI mix).
    others = sum(data.lengths) - x
    y = np.where(x % 2, -others, others)
    if seed is None:
        order = np.lexsort((y, x))
        return [order[i : i + size] for i in range(0, len(order), size)]
    generator = np.random.Generator(np.random.PCG64(list(seed)))
    order = generator.permutation(len(data))
    batches: list[np.ndarray] = []
    for at in range(0, len(order), size * POOL):
        pool = order[at : at + size * POOL]
        pool = pool[np.lexsort((y[pool], x[pool]))]
        batches += [pool[i : i + size] for i in range(0, len(pool), size)]
    return [batches[i] for i in generator.permutation(len(batches))]
