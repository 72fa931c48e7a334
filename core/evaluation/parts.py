"""Predictions for a stream of rows, part by part; the next part is prepared while the current one is computed.

The split into parts depends only on the rows, and each part is batched separately. So equal rows give equal batches
and, on the same kind of processor with the same number of threads, bit-identical predictions, no matter which process
computes which part.
"""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch

from core.checkpoint import Checkpoint
from core.data import Dataset, Example, Stream
from core.evaluation.predict import Prepared, chances, check_texts, logits, prepare_rows

ROWS = 2048
CHARACTERS = 8_000_000
"""Limits of a part, other columns included: it ends with the row that reaches either."""

SHORT_TURNS = 5e-5
"""Seconds after which a thread of Python's that waits gets its turn. Of the usual 5 ms a forward pass loses some
whenever it comes back from torch while the next part is being read: 1.47 times the passes' own time became 1.28."""

T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """Some rows of a stream. ``number``: its place among the parts, from 0."""

    number: int
    dataset: Dataset


@dataclass(frozen=True)
class Predicted:
    """A part, and the probabilities ``[N, C]`` of each checkpoint for its rows."""

    part: Part
    probabilities: Sequence[np.ndarray]


def parts(stream: Stream) -> Iterator[Part]:
    """The stream's rows in parts."""
    for number, rows in enumerate(cut(stream)):
        yield Part(number, Dataset(stream.name, stream.layout, rows, task=stream.task))


def cut(rows: Iterable[Example]) -> Iterator[tuple[Example, ...]]:
    """The rows of each part."""
    left = iter(rows)
    while own := tuple(_until_full(left)):
        yield own


def _until_full(rows: Iterator[Example]) -> Iterator[Example]:
    characters = 0
    for row in itertools.islice(rows, ROWS):
        yield row
        characters += len(row.first) + len(row.second) + sum(map(len, row.columns.values()))
        if characters >= CHARACTERS:
            return


def predicted(
    some: Iterable[Part],
    checkpoints: Sequence[Checkpoint],
    device: torch.device,
    progress: Callable[[int], object] = lambda rows: None,
) -> Iterator[Predicted]:
    """The parts with what the checkpoints say of them, in order. ``progress`` is called with the rows of each batch
    that the last checkpoint has done. Raises DataError when a model cannot read such rows."""

    def ready(part: Part) -> tuple[Part, list[Prepared]]:
        for checkpoint in checkpoints:
            check_texts(checkpoint, part.dataset)
        return part, [prepare_rows(checkpoint, part.dataset) for checkpoint in checkpoints]

    with _short_turns(), _frozen():
        for part, prepared in ahead(map(ready, some)):
            answers = _logits(prepared, device, progress)
            del prepared  # not held while the answers are used
            yield Predicted(part, chances(checkpoints, answers))


@contextmanager
def _short_turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SHORT_TURNS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def _frozen() -> Iterator[None]:
    """Nothing that is there already is searched for garbage: that took a fifth of a part's reading again and again."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _logits(
    prepared: Sequence[Prepared], device: torch.device, progress: Callable[[int], object]
) -> list[torch.Tensor]:
    out = []
    for place, ready in enumerate(prepared, start=1):
        told = 0

        def more(done: int, last: bool = place == len(prepared)) -> None:
            nonlocal told
            if last:
                progress(done - told)
            told = done

        out.append(logits(ready, device, progress=more))
    return out


_END: Any = object()


def ahead(items: Iterable[T]) -> Iterator[T]:
    """Yields the items; a thread prepares the next one while the current one is used. Re-raises its exceptions."""
    source = iter(items)
    with ThreadPoolExecutor(1, "reading ahead") as thread:
        coming = thread.submit(next, source, _END)
        while (held := [coming.result()])[0] is not _END:
            coming = thread.submit(next, source, _END)
            yield held.pop()  # nothing here keeps it when whoever uses it has done with it
