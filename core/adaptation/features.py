"""The input vectors of a checkpoint's output layer, to which adaptation fits a new layer."""

from __future__ import annotations

import csv
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn

from core.adaptation.stored_features import STORE
from core.checkpoint import Checkpoint
from core.data import Dataset, Example
from core.evaluation.predict import BATCH, RowsDone, forward_passes, prepare_rows
from core.progress import Progress
from core.shared_cache import SharedCache

Pair = tuple[str, str]
KEPT_PAIRS = Path(__file__).with_name("kept_pairs.tsv")
"""Pairs in our own words whose answers an adapted classifier should keep: a premise with an entailed, a neutral and a
contradicting hypothesis. None of them is in a suite."""
_BLOCK = 4096
"""Pairs read at a time: their word vectors take more memory than their features."""
_MOST_KEPT = 20
_SAME = 1e-4
"""Features differ by less from one kind of processor to another."""


def feature_vectors(checkpoint: Checkpoint, pairs: Sequence[Pair], progress: RowsDone = lambda rows: None) -> Tensor:
    """The input of the output layer for N pairs (first texts alone for a model of single texts), float32 ``[N, F]``.
    Raises UserError for a model without such a layer."""
    bare = replace(checkpoint, model=checkpoint.model.with_output_layer(nn.Identity().eval()))
    parts: list[Tensor] = []
    for start in range(0, len(pairs), _BLOCK):
        rows = tuple(Example(str(number), *pair, None) for number, pair in enumerate(pairs[start : start + _BLOCK]))
        ready, done = prepare_rows(bare, Dataset("", "", rows)), start
        block: Tensor | None = None
        for numbers, output in forward_passes(ready):
            vectors = output.logits.float()
            block = torch.empty(len(rows), vectors.shape[1]) if block is None else block
            block[numbers] = vectors
            done += len(numbers)
            progress(done)
        assert block is not None, "there is a row"
        parts.append(block)
    return torch.cat(parts) if parts else torch.empty(0, 0)


class GradualFeatures:
    """The features of fixed pairs, read block by block by the threads that need them: while one thread reads ahead,
    with pauses, another one that cannot wait reads the rest. Each block is read once; if that fails, it is tried again.
    If the stored features of the first block equal the computed ones, the others are not read."""

    def __init__(self, checkpoint: Checkpoint, pairs: Sequence[Pair]) -> None:
        self._checkpoint, self._pairs, self._lock = checkpoint, pairs, threading.Lock()
        self._file = STORE.file(checkpoint.card, pairs)
        self._blocks = list[Tensor]()
        self._read = 0

    @property
    def complete(self) -> bool:
        """Whether all pairs have been read."""
        return self._read == len(self._pairs)

    def read_block(self) -> bool:
        """Reads the next block; false if there was none. Raises UserError like :func:`feature_vectors`."""
        with self._lock:
            if self.complete:
                return False
            block = self._pairs[self._read : self._read + BATCH]
            self._blocks.append(feature_vectors(self._checkpoint, block))
            self._read += len(block)
            if len(self._blocks) == 1 and self._recalled(self._blocks[0]):
                return True
            if self.complete:
                self._blocks = [torch.cat(self._blocks)]
                STORE.write(self._file, self._blocks[0])
            return True

    def _recalled(self, first: Tensor) -> bool:
        """Takes the stored features, if the ``first`` ones equal what has just been read."""
        stored = STORE.read(self._file, len(self._pairs))
        if stored is None or stored.shape[1] != first.shape[1]:
            return False
        if not torch.allclose(stored[: len(first)], first, rtol=0, atol=_SAME):
            return False
        self._blocks, self._read = [stored], len(self._pairs)
        return True

    def all(self, progress: Progress = lambda done, of: None) -> Tensor:
        """Float32 ``[N, F]``, once all pairs have been read, by this thread or another."""
        while self.read_block():
            progress(self._read, len(self._pairs))
        return self._blocks[0]


def kept_features(checkpoint: Checkpoint) -> Tensor:
    """The features of :data:`KEPT_PAIRS`, float32 ``[K, F]``, computed once per checkpoint."""
    return gradual_kept_features(checkpoint).all()


def gradual_kept_features(checkpoint: Checkpoint) -> GradualFeatures:
    """:func:`kept_features`, as far as they have been read."""
    key = checkpoint.folder, checkpoint.state
    return _KEPT(key, lambda: GradualFeatures(checkpoint, kept_pairs(checkpoint)))


def kept_pairs(checkpoint: Checkpoint) -> list[Pair]:
    """The kept pairs as this checkpoint reads them; for a model of single texts, their texts."""
    with KEPT_PAIRS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    if checkpoint.single:
        return [(text, "") for row in rows for text in row]
    return [(premise, text) for premise, *texts in rows for text in texts]


_KEPT: SharedCache[GradualFeatures] = SharedCache(_MOST_KEPT)
