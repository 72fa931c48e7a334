"""Predicts a data file into the folder of a run: one pipeline for the command and the desk's jobs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
import torch

from core.checkpoint import load_named
from core.data import Dataset, Stream
from core.data.labels import CountsAs
from core.desk import run_folder, store
from core.desk.jobs import Job
from core.desk.run import RunHeader, RunModel
from core.evaluation.parts import Part, Predicted, cut, predicted
from core.evaluation.predict import check_texts

PredictParts = Callable[[Iterator[Part]], Iterable[Predicted]]
"""Predicts parts, in order."""


def predict_parts(
    parts: Iterable[Part],
    compute: PredictParts,
    add: Callable[[int, Dataset, Sequence[np.ndarray]], None],
    finished: Mapping[int, int] = MappingProxyType({}),
    skip: Callable[[int, Dataset], object] = lambda number, rows: None,
) -> int:
    """Predicts the parts and passes each with its number and probabilities to ``add``, but passes ``finished`` ones
    (rows by number) to ``skip``; returns the number of parts."""
    count = 0

    def missing() -> Iterator[Part]:
        nonlocal count
        for part in parts:
            count = part.number + 1
            if finished.get(part.number) == len(part.dataset.rows):
                skip(part.number, part.dataset)
            else:
                yield part

    for done in compute(missing()):
        add(done.part.number, done.part.dataset, done.probabilities)
    return count


def header_of_stream(stream: Stream) -> RunHeader:
    """The header of a run from a fully read stream; its models are filled in later."""
    facts = stream.name, stream.layout, stream.sha256, stream.dropped, stream.problems
    return RunHeader(run_folder.VERSION, *facts, ())


@dataclass(eq=False)
class PredictionJob(Job):
    """Predicts a data set with the checkpoints named in ``models``, one after the other. Parts are stored as they are
    predicted: a cancelled or killed job resumes where it stopped. ``done`` counts rows × checkpoints."""

    dataset: Dataset
    models: Sequence[str]
    counts_as: Mapping[str, CountsAs] = field(default_factory=dict)
    """By checkpoint name, the classes that the file's labels count as."""
    checksums: list[str] = field(default_factory=list)
    """Checksums of the finished checkpoints, in the order of ``models``."""

    def __post_init__(self) -> None:
        self.what = f"The prediction of {self.dataset.name} by {', '.join(self.models)}"
        self.rows, self.passes = len(self.dataset.rows) * len(self.models), max(1, len(self.models))

    def work(self) -> None:
        for name in self.models:
            self._predict(name)

    def _predict(self, name: str) -> None:
        checkpoint = load_named(name)
        check_texts(checkpoint, self.dataset)
        model = RunModel.named(checkpoint, self.counts_as.get(name, {}))
        header = replace(run_folder.header_of(self.dataset, [model]), texts=_checksum(self.dataset))
        folder = store.folder_of(self.dataset.sha256)
        self.begin()
        with run_folder.unfinished(folder, header) as run:
            parts = (
                Part(number, replace(self.dataset, rows=rows)) for number, rows in enumerate(cut(self.dataset.rows))
            )
            before = self.done

            def progress(rows: int) -> None:
                self.progress(self.done + rows)

            def skip(number: int, part: Dataset) -> None:
                run.skip(number, part)
                progress(len(part.rows))

            def compute(some: Iterator[Part]) -> Iterable[Predicted]:
                return predicted(some, [checkpoint], torch.device("cpu"), progress)

            count = predict_parts(parts, compute, run.add, run.finished, skip)
            run.finish(header, count)
        self.done = before + len(self.dataset.rows)
        self.checksums.append(model.sha256)
        store.put_first(self.dataset.sha256, self.checksums)


def _checksum(dataset: Dataset) -> str:
    digest = hashlib.sha256()
    for row in dataset.rows:
        digest.update(f"{row.first}\0{row.second}\0".encode())
    return digest.hexdigest()
