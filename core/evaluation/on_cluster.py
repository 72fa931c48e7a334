"""Predictions as tasks of a Ray cluster, a part of the rows each."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from core.checkpoint import Checkpoint
from core.checkpoint.memory import loaded
from core.cluster import each
from core.data import Dataset, Example
from core.errors import RunError
from core.evaluation.parts import Part, Predicted
from core.evaluation.predict import chances, check_texts, logits, prepare_rows

Texts = Sequence[tuple[str, str]]
"""The first and second text of a part's rows, which is all that models read of them."""
Known = Sequence[tuple[str, str]]
"""Checkpoints by folder and checksum of their weights."""


def known(checkpoints: Iterable[Checkpoint]) -> Known:
    """What tasks are told of checkpoints."""
    return [(str(checkpoint.folder.resolve()), str(checkpoint.card["sha256"])) for checkpoint in checkpoints]


def predicted_by(
    ray: Any, some: Iterable[Part], checkpoints: Sequence[Checkpoint], progress: Callable[[int], object]
) -> Iterator[Predicted]:
    """:func:`core.evaluation.parts.predicted` with the parts computed in the cluster, one a processor at a time; this
    process reads rows and writes what comes back."""
    under_way: deque[Part] = deque()

    def texts() -> Iterator[Texts]:
        for part in some:
            for checkpoint in checkpoints:
                check_texts(checkpoint, part.dataset)
            under_way.append(part)
            yield [(row.first, row.second) for row in part.dataset.rows]

    for answers in logits_by(ray, texts(), known(checkpoints)):
        part = under_way.popleft()
        progress(len(part.dataset.rows))
        yield Predicted(part, chances(checkpoints, map(torch.tensor, answers)))


def logits_by(ray: Any, some: Iterable[Texts], checkpoints: Known) -> Iterator[list[np.ndarray]]:
    """The logits ``[N, C]`` of each checkpoint for the rows of each part, in order."""
    processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
    asked = ((texts, checkpoints) for texts in some)
    return (answers for _, answers in each(ray, logits_of_part, asked, ahead=2 * processors + 1))


def logits_of_part(asked: tuple[Texts, Known]) -> list[np.ndarray]:
    """What a task does. Raises RunError where this machine has another checkpoint in a folder."""
    texts, checkpoints = asked
    rows = tuple(Example(str(number), *pair, None) for number, pair in enumerate(texts))
    return [_logits(folder, sha256, Dataset("", "", rows)) for folder, sha256 in checkpoints]


def _logits(folder: str, sha256: str, dataset: Dataset) -> np.ndarray:
    torch.set_num_threads(1)
    checkpoint = loaded(Path(folder))
    if checkpoint.card["sha256"] != sha256:
        raise RunError(f"{socket.gethostname()} has another checkpoint {folder}: copy the same one to all machines")
    answer: np.ndarray = logits(prepare_rows(checkpoint, dataset)).numpy()
    return answer
