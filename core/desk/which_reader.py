"""Compares models as readers of a file's training rows: the job behind the desk's suggestion of which model to
adapt."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from core.adaptation.readers import ReaderScore, reader_score, said, sampled
from core.checkpoint import load_named
from core.data import Dataset
from core.desk.adapted_run import Division
from core.desk.jobs import Job


@dataclass(eq=False)
class ReadersJob(Job):
    """A comparison of readers. ``told``: its result in a sentence or two, empty until it is finished."""

    told: str = field(default="", init=False)


def which_reader(dataset: Dataset, divided: Division, names: Sequence[str]) -> ReadersJob:
    """A job that cross-validates new classifiers on these checkpoints' features of the training rows."""
    rows = divided.train[sampled(len(divided.train))]
    examples = [dataset.rows[at] for at in rows]
    groups = [row.group or "" for row in examples] if dataset.ranking else []

    def work(job: Job) -> None:
        assert isinstance(job, ReadersJob)
        scores = list[ReaderScore]()
        job.begin()
        for at, name in enumerate(names):
            before = at * len(rows)
            scores.append(
                reader_score(
                    load_named(name),
                    [(row.first, row.second) for row in examples],
                    [divided.labels[row] for row in rows],
                    groups,
                    lambda done, before=before: job.progress(before + done),
                    job.check,
                )
            )
        job.told = said(scores)

    what = f"Comparing {len(names)} models on {dataset.name}"
    return ReadersJob(what, len(rows) * len(names), work, about(dataset, names), len(names))


def about(dataset: Dataset, names: Sequence[str]) -> Hashable:
    """The key of a comparison (:attr:`core.desk.jobs.Job.about`)."""
    return "readers", dataset.sha256, tuple(names)
