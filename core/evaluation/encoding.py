"""Data sets as word numbers, and how they are cut into batches of like length.

A whole data set is a few arrays on the device; a batch is picked out of them there, so no worker processes are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.data import Example
from core.errors import RunError
from core.reading.batch import Batch
from core.reading.tokens import MAX_TOKENS, tokenize
from core.reading.word_table import WordTable

POOL = 200
"""Batches drawn together and sorted by length among themselves: more means less padding and less mixing."""


class Vocabulary:
    """Numbers of normalised words in order of appearance, from 1; 0 is no word and has the zero vector."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self._seen: dict[str, list[int]] = {}

    def encode(self, text: str, limit: int = MAX_TOKENS) -> list[int]:
        """Word numbers of a sentence's first ``limit`` tokens; a text without any word is one word of number 0."""
        found = self._seen.get(text)
        if found is None:
            ids = self.ids
            found = [ids.setdefault(t.norm, len(ids) + 1) for t in tokenize(text)[:MAX_TOKENS]] or [0]
            self._seen[text] = found
        return found[:limit]

    def matrix(self, words: WordTable) -> Tensor:
        """Vectors by number, ``[len + 1, D]``, row 0 zero. Words outside the table get their n-gram vectors."""
        return torch.cat([torch.zeros(1, words.width), words.vectors(list(self.ids))])


@dataclass(frozen=True)
class Ragged:
    """N sentences of different lengths end to end: ``flat [sum of lengths]``, ``starts`` and ``lengths [N]``."""

    flat: Tensor
    starts: Tensor
    lengths: np.ndarray

    @classmethod
    def of(cls, sentences: Iterable[Sequence[int]]) -> Ragged:
        """From lists of word numbers."""
        kept = list(sentences)
        lengths = np.array([len(s) for s in kept], dtype=np.int64)
        flat = np.fromiter((word for s in kept for word in s), dtype=np.int32, count=int(lengths.sum()))
        starts = np.concatenate([[0], lengths.cumsum()[:-1]]) if len(kept) else np.zeros(0, dtype=np.int64)
        return cls(torch.from_numpy(flat), torch.from_numpy(starts), lengths)

    def to(self, device: torch.device) -> Ragged:
        """The same on a device (lengths stay on the host, where batches are planned)."""
        return Ragged(self.flat.to(device), self.starts.to(device), self.lengths)

    def and_then(self, other: Ragged) -> Ragged:
        """These sentences and then the other's."""
        return Ragged(
            torch.cat([self.flat, other.flat]),
            torch.cat([self.starts, other.starts + len(self.flat)]),
            np.concatenate([self.lengths, other.lengths]),
        )

    def rows(self, chosen: np.ndarray) -> Ragged:
        """These sentences alone."""
        return Ragged(self.flat, self.starts[torch.from_numpy(chosen)], self.lengths[chosen])

    def block(self, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        """Word numbers ``[B, longest]`` of these rows, 0 on pads, and the mask of real words."""
        device = self.flat.device
        lengths = self.lengths[rows]
        places = torch.arange(int(lengths.max()), device=device)[None]
        mask = places < torch.from_numpy(lengths).to(device)[:, None]
        at = self.starts[torch.from_numpy(rows).to(device)][:, None] + places
        return self.flat[at.clamp_(max=len(self.flat) - 1)] * mask, mask


@dataclass(frozen=True)
class Encoded:
    """A data set as numbers: the judged sentences x, their contexts y, class indices ``labels [N]`` (-1: none), and
    each row's weight in the training loss, ``weights [N]``. ``groups``: each row's question in ranking sets; ``extra
    [N, F]``: linguistic features, for models that read them."""

    x: Ragged
    y: Ragged
    labels: Tensor
    weights: Tensor
    groups: tuple[str, ...] | None = None
    extra: Tensor | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def to(self, device: torch.device) -> Encoded:
        """The same on a device."""
        extra = None if self.extra is None else self.extra.to(device)
        return Encoded(
            self.x.to(device), self.y.to(device), self.labels.to(device), self.weights.to(device), self.groups, extra
        )

    def and_then(self, other: Encoded) -> Encoded:
        """These rows and then the other set's; equal names of questions in both are two questions."""
        groups = None
        if self.groups is not None and other.groups is not None:
            groups = (*(f"1 {group}" for group in self.groups), *(f"2 {group}" for group in other.groups))
        extra = None if self.extra is None or other.extra is None else torch.cat([self.extra, other.extra])
        return Encoded(
            self.x.and_then(other.x), self.y.and_then(other.y), torch.cat([self.labels, other.labels]),
            torch.cat([self.weights, other.weights]), groups, extra,
        )  # fmt: skip

    def rows(self, chosen: np.ndarray) -> Encoded:
        """These rows alone."""
        at = torch.from_numpy(chosen)
        return Encoded(
            self.x.rows(chosen), self.y.rows(chosen), self.labels[at], self.weights[at],
            None if self.groups is None else tuple(self.groups[i] for i in chosen),
            None if self.extra is None else self.extra[at],
        )  # fmt: skip

    def batch(self, rows: np.ndarray, vectors: Tensor) -> tuple[Batch, Tensor]:
        """These rows as a batch of word vectors (``vectors [V, D]`` by number), and their class indices ``[B]``."""
        (x, x_mask), (y, y_mask) = self.x.block(rows), self.y.block(rows)
        at = torch.from_numpy(rows).to(self.labels.device)
        extra = None if self.extra is None else self.extra[at]
        return Batch(F.embedding(x, vectors), x_mask, F.embedding(y, vectors), y_mask, extra), self.labels[at]


def encode(
    rows: Sequence[Example], vocabulary: Vocabulary, labels: Sequence[str], *, second_judged: bool,
    weights: Sequence[float] | None = None, limits: tuple[int, int] = (MAX_TOKENS, MAX_TOKENS),
    extra: Tensor | None = None,
) -> Encoded:  # fmt: skip
    """Rows as numbers; new words enter the vocabulary. Without ``weights`` every row weighs 1. ``limits``: tokens kept
    of the first and of the second sentence.

    Raises RunError for a label that is none of ``labels``.
    """
    index = {label: i for i, label in enumerate(labels)}
    for row in rows:
        if row.label is not None and row.label not in index:
            raise RunError(
                f"row {row.id} has the label {row.label!r}, but the model's classes are {', '.join(labels)}; "
                "translate the file's labels or choose a model of its task"
            )
    first = Ragged.of(vocabulary.encode(row.first, limits[0]) for row in rows)
    second = Ragged.of(vocabulary.encode(row.second, limits[1]) for row in rows)
    classes = torch.tensor([-1 if row.label is None else index[row.label] for row in rows])
    weighed = torch.ones(len(rows)) if weights is None else torch.tensor(weights, dtype=torch.float32)
    judged, context = (second, first) if second_judged else (first, second)
    asked = [row.group for row in rows]
    groups = tuple(group or "" for group in asked) if asked and all(group is not None for group in asked) else None
    return Encoded(judged, context, classes, weighed, groups, extra)


def plan(data: Encoded, size: int, seed: Sequence[int] | None = None) -> list[np.ndarray]:
    """Row numbers of every batch. With a seed shuffled, else from short to long.

    Rows are drawn in pools of ``POOL`` batches, sorted by length inside the pool, cut, and the batches shuffled. The
    seed alone decides (``[seed of the run, epoch]``), so any step of any epoch can be entered again.
    """
    x = data.x.lengths
    # For judged sentences of equal length the contexts' lengths rise and fall in turn: no batch across two lengths
    # holds both the longest and the shortest contexts (on the SNLI mix 4 % less work than always rising).
    y = np.where(x % 2, -data.y.lengths, data.y.lengths)
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
