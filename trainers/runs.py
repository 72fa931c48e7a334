"""Trains the runs planned by `sweep` and `paper table --train`, each once, locally or distributed over a Ray cluster.

Each run has its own folder: the finished checkpoint and the probabilities on its dev set, which `python -m trainers
compare` reads.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

import numpy as np
import torch
from safetensors.torch import save_file

from core.card import Card
from core.cluster import cluster, each
from core.data import Dataset
from core.evaluation.predict import probabilities
from core.files import whole_file
from trainers import resume
from trainers.recipe import Recipe
from trainers.sources import DataSource
from trainers.training_data import TrainingData, load_data, read_source, table_for

if TYPE_CHECKING:
    from trainers.loop import TrainingRun
    from trainers.set_up import Options

DEV = "dev.safetensors"
"""File in a run's folder with the probabilities on its dev set, gold classes, questions and row numbers."""

T = TypeVar("T")
R = TypeVar("R")


class Calls(Protocol):
    """Calls ``work`` on each item and yields the items with their results in order."""

    def __call__(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[tuple[T, R]]: ...


@contextmanager
def shared_out(ray: str | None, threads: int) -> Iterator[Calls]:
    """Calls locally, one after the other, or, if ``ray`` is a cluster's address, each as a task with ``threads``
    processors (:mod:`core.cluster`)."""
    if not ray:
        yield lambda work, items: ((item, work(item)) for item in items)
        return
    with cluster(ray) as connected:
        place, cpus = str(Path.cwd()), threads or 1
        yield lambda work, items: each(connected, functools.partial(_in_task, place, cpus, work), items, cpus=cpus)


def _in_task(place: str, threads: int, work: Callable[[T], R], item: T) -> R:
    """Paths are relative to the calling process."""
    os.chdir(place)
    torch.set_num_threads(threads)
    return work(item)


def one_run(
    recipe: Recipe,
    folder: Path,
    options: Options,
    *,
    rows_of: Callable[[Path, DataSource], Dataset] = read_source,
    cut: Callable[[TrainingData], tuple[TrainingData, np.ndarray]] | None = None,
    needs_dev: bool = True,
) -> Card:
    """The card of this run, which is trained now, or resumed, unless its folder is finished. ``cut``: replaces the rows
    for training and dev, and gives the indices of dev's rows among all. With ``needs_dev``, a run without :data:`DEV`
    counts as unfinished. Raises RunError."""
    if (not needs_dev or (options.out / DEV).is_file()) and (done := resume.finished(options.out, recipe)):
        return done
    from trainers import loop  # importing Fabric takes over a second
    from trainers.finished import finish

    data = load_data(recipe, folder, quiet=True, rows_of=rows_of)
    data, rows = cut(data) if cut else (data, np.arange(len(data.dev)))
    words, own = table_for(recipe, folder, None, data.vocabulary)
    print(f"{recipe.name}: {recipe.architecture}, {len(data.train):,} rows", flush=True)
    run = loop.ready(recipe, data, words, options)
    run.enter()
    run.fit()
    card = cast(Card, finish(run, own))
    _keep_dev(run, rows)
    return card


def _keep_dev(run: TrainingRun, rows: np.ndarray) -> None:
    """Writes the finished run's predictions on its dev set, whose rows have these indices."""
    dev, classes = run.data.dev, len(run.recipe.labels)
    names = {group: i for i, group in enumerate(dict.fromkeys(dev.groups or ()))}
    tensors = {
        "probabilities": probabilities(run.average, run.dev_set, run.vectors, classes).float(),
        "gold": dev.labels,
        "groups": torch.tensor([names[group] for group in dev.groups or ()], dtype=torch.int64),
        "rows": torch.from_numpy(rows),
    }
    with whole_file(run.options.out / DEV) as scratch:
        save_file(tensors, scratch)


def once_each(read: Callable[[Path, DataSource], Dataset]) -> Callable[[Path, DataSource], Dataset]:
    """A cached ``read`` that reads each file once: filling in FEVER's evidence takes minutes."""
    known: dict[str, Dataset] = {}

    def rows_of(folder: Path, source: DataSource) -> Dataset:
        key = repr((folder, source))
        if key not in known:
            known[key] = read(folder, source)
        return known[key]

    return rows_of
