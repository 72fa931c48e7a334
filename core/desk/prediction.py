"""Predicts a data file into the folder of a run: one pipeline for the command and the desk's jobs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import torch

from core.checkpoint import load_named, title_of
from core.data import Dataset, Stream
from core.data.labels import CountsAs
from core.desk import run_folder, source, store
from core.desk.jobs import Job, Written
from core.desk.run import RunHeader, RunModel
from core.desk.unfinished_run import unfinished
from core.evaluation.parts import Part, Predicted, cut, predicted
from core.evaluation.predict import check_texts

NO_MAPPING: Mapping[str, CountsAs] = MappingProxyType({})
PredictParts = Callable[[Iterator[Part]], Iterable[Predicted]]
"""A function that predicts parts, in order."""


def predict_parts(
    parts: Iterable[Part],
    compute: PredictParts,
    add: Callable[[int, Dataset, Sequence[np.ndarray], Sequence[np.ndarray]], None],
    finished: Mapping[int, int] = MappingProxyType({}),
    skip: Callable[[int, Dataset], object] = lambda number, rows: None,
) -> int:
    """Predicts the parts and passes each with its number, probabilities and truncated rows to ``add``, but passes
    ``finished`` ones (rows by number) to ``skip``; returns the number of parts."""
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
        add(done.part.number, done.part.dataset, done.probabilities, done.truncated)
    return count


def header_of_stream(stream: Stream) -> RunHeader:
    """The header of a run from a fully read stream; its models are filled in later."""
    facts = stream.name, stream.layout, stream.sha256, stream.dropped, stream.problems
    return RunHeader(run_folder.VERSION, *facts, ())


def prediction(
    dataset: Dataset,
    models: Sequence[str],
    counts_as: Mapping[str, CountsAs] = NO_MAPPING,
    *,
    before: Sequence[str] = (),
    about: Hashable = None,
) -> Job:
    """A job that predicts a data set with the checkpoints named in ``models``, one after the other. Parts are stored as
    they are predicted: a cancelled or killed job resumes where it stopped. Its ``done`` counts rows × checkpoints.
    ``counts_as``: by checkpoint name, the classes that the file's labels count as; ``before``: the checksums of the
    run's models that stay and come before these; ``about``: see :attr:`Job.about`."""

    def work(job: Job) -> Written:
        predicted = (predict_with(job, dataset, name, counts_as.get(name, {})) for name in models)
        checksums = [*before, *predicted]
        store.put_first(dataset.sha256, checksums)
        source.keep(dataset)
        return dataset.sha256, checksums

    what = f"The prediction of {dataset.name} by {', '.join(map(title_of, models))}"
    return Job(what, len(dataset.rows) * len(models), work, about, max(1, len(models)))


def predict_with(job: Job, dataset: Dataset, name: str, counts_as: CountsAs) -> str:
    """Predicts a data set with one checkpoint, and returns the checkpoint's checksum."""
    checkpoint = load_named(name)
    check_texts(checkpoint, dataset)
    model = RunModel.named(checkpoint, counts_as)
    header = replace(run_folder.header_of(dataset, [model]), texts=_checksum(dataset))
    before = job.done
    job.begin()

    def progress(rows: int) -> None:
        job.progress(job.done + rows)

    with unfinished(store.folder_to_write(dataset.sha256), header) as run:
        parts = (Part(number, replace(dataset, rows=rows)) for number, rows in enumerate(cut(dataset.rows)))

        def skip(number: int, part: Dataset) -> None:
            run.skip(number, part)
            progress(len(part.rows))

        def compute(some: Iterator[Part]) -> Iterable[Predicted]:
            return predicted(some, [checkpoint], torch.device("cpu"), progress)

        run.finish(header, predict_parts(parts, compute, run.add, run.finished, skip))
    job.done = before + len(dataset.rows)
    return model.sha256


def _checksum(dataset: Dataset) -> str:
    digest = hashlib.sha256()
    for row in dataset.rows:
        digest.update(f"{row.first}\0{row.second}\0".encode())
    return digest.hexdigest()
