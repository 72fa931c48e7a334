"""Train the systems of a table on the data of one recipe, all alike; what `table --train` does.

Each system takes the recipe's sizes, epochs and learning rate, and the settings that the table names for it. One seed
each, and two more for light and advanced attentive convolution and for the rival that is best on dev. A run whose
folder is finished is not run again, and one that was stopped goes on where it was.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType

import torch

from core.cluster import each
from core.data import Dataset
from core.errors import RunError
from core.evidence import BOTH
from core.json_types import JsonObject
from core.models import spec_of
from trainers import loop, resume, set_up
from trainers.paper.table.systems import System
from trainers.recipe import DataSource, Recipe
from trainers.training_data import load_data, read_source, table_for

MORE_SEEDS = (2, 3)


Training = Callable[[Iterable[tuple[Recipe, set_up.Options]]], Iterable[JsonObject | RunError]]
"""The card of each run in order, or why it failed."""


def train(
    systems: Sequence[System],
    base: Recipe,
    folder: Path,
    runs: Path,
    precision: str,
    command: str,
    train_all: Training | None = None,
) -> int:
    """Train what is not there yet, one run after the other unless ``train_all`` does it. Returns how many runs failed,
    each of which is named on stderr."""
    trained = [system for system in systems if system.architecture]
    scores: dict[str, float] = {}
    train_all, failed = train_all or one_by_one(folder), 0

    def train_these(planned: Iterable[tuple[System, int]]) -> None:
        nonlocal failed
        made = [(system, recipe_of(system, base, seed)) for system, seed in planned]
        asked = [
            (recipe, set_up.Options(runs / recipe.name, precision=precision, resume=True, command=command))
            for _, recipe in made
        ]
        for (system, recipe), card in zip(made, train_all(asked), strict=True):
            if isinstance(card, RunError):
                print(f"{recipe.name}: {card}", file=sys.stderr)
                failed += 1
            else:
                scores.setdefault(system.name, card["results"][recipe.dev.name]["accuracy"])

    train_these((system, base.seed) for system in trained)
    train_these((system, seed) for system in most_compared(trained, scores) for seed in MORE_SEEDS)
    return failed


def one_by_one(folder: Path) -> Training:
    """Trains the runs here."""
    rows_of = once_each(read_source)
    return lambda asked: (_card_or_error(recipe, folder, options, rows_of) for recipe, options in asked)


def in_cluster(ray: ModuleType, folder: Path, threads: int) -> Training:
    """Trains the runs as tasks of a Ray cluster (:mod:`core.cluster`), each on so many processors."""
    work = functools.partial(_in_task, str(Path.cwd()), folder, threads)
    return lambda asked: (card for _, card in each(ray, work, asked, cpus=threads))


def _in_task(place: str, folder: Path, threads: int, asked: tuple[Recipe, set_up.Options]) -> JsonObject | RunError:
    """Paths are those of the process that asks."""
    os.chdir(place)
    torch.set_num_threads(threads)
    return _card_or_error(asked[0], folder, asked[1], read_source)


def _card_or_error(
    recipe: Recipe, folder: Path, options: set_up.Options, rows_of: Callable[[Path, DataSource], Dataset]
) -> JsonObject | RunError:
    try:
        return one_run(recipe, folder, options, rows_of)
    except RunError as error:
        return error


def recipe_of(system: System, base: Recipe, seed: int) -> Recipe:
    """The recipe of one system on the base's data, with those of its sizes that the architecture has."""
    spec = spec_of(system.architecture)
    known = {field.name for field in dataclasses.fields(spec.config)}
    sizes = {key: value for key, value in base.model.items() if key in known}
    both = len(base.roles) > 1 and spec.model.judges_both and system.settings.get("context") != "none"
    return dataclasses.replace(
        base,
        name=f"{re.sub('[^a-z0-9]+', '-', system.name.lower()).strip('-')}-seed={seed}",
        title=system.name,
        architecture=system.architecture,
        model=sizes | dict(system.settings),
        seed=seed,
        judged=system.judged or (BOTH if both else base.judged),
    )


def most_compared(systems: Iterable[System], scores: dict[str, float]) -> list[System]:
    """Light and advanced attentive convolution beside all of their context at once, and the best system of another
    kind."""
    ours, others = [], []
    for system in systems:
        if not system.architecture.startswith("attconv-"):
            others.append(system)
        elif system.architecture != "attconv-feedforward" and system.settings.get("context") in ("extra", "intra"):
            ours.append(system)
    return ours + sorted((s for s in others if s.name in scores), key=lambda s: -scores[s.name])[:1]


def one_run(
    recipe: Recipe, folder: Path, options: set_up.Options, rows_of: Callable[[Path, DataSource], Dataset]
) -> JsonObject:
    """The card of this run, which is trained now, or trained on, unless its folder is finished. Raises RunError."""
    if done := resume.finished(options.out, recipe):
        return done
    data = load_data(recipe, folder, quiet=True, rows_of=rows_of)
    words, own = table_for(recipe, folder, None, data.vocabulary)
    print(f"{recipe.name}: {recipe.architecture}, {len(data.train):,} rows", flush=True)
    return loop.train(recipe, data, words, options, own_words=own)


def once_each(read: Callable[[Path, DataSource], Dataset]) -> Callable[[Path, DataSource], Dataset]:
    """The same, which reads no file twice: filling FEVER's claims takes minutes."""
    known: dict[str, Dataset] = {}

    def rows_of(folder: Path, source: DataSource) -> Dataset:
        key = repr((folder, source))
        if key not in known:
            known[key] = read(folder, source)
        return known[key]

    return rows_of
