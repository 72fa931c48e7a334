"""Trains all systems of a table on the data of one recipe (`table --train`).

Each system uses the recipe's sizes, epochs and learning rate, and its settings from the table. One seed each, plus two
more for light and advanced attentive convolution and for the best rival on dev. Finished runs are not repeated, and
interrupted ones are resumed.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from core.card import Card
from core.data import Dataset
from core.errors import RunError
from core.evidence import BOTH
from core.models import spec_of
from trainers.paper.table.systems import System
from trainers.recipe import DataSource, Recipe
from trainers.runs import Calls, once_each, one_run
from trainers.set_up import Options
from trainers.training_data import read_source

MORE_SEEDS = (2, 3)


def train(
    systems: Sequence[System],
    base: Recipe,
    folder: Path,
    runs: Path,
    precision: str,
    command: str,
    calls: Calls,
) -> int:
    """Trains the missing systems with ``calls``. Returns how many runs failed; each is reported on stderr."""
    trained = [system for system in systems if system.architecture]
    scores: dict[str, float] = {}
    work, failed = functools.partial(_card_or_error, folder, once_each(read_source)), 0

    def train_these(planned: Iterable[tuple[System, int]]) -> None:
        nonlocal failed
        made = [(system, recipe_of(system, base, seed)) for system, seed in planned]
        asked = [
            (recipe, Options(runs / recipe.name, precision=precision, resume=True, command=command))
            for _, recipe in made
        ]
        for (system, recipe), (_, card) in zip(made, calls(work, asked), strict=True):
            if isinstance(card, RunError):
                print(f"{recipe.name}: {card}", file=sys.stderr)
                failed += 1
            else:
                scores.setdefault(system.name, card["results"][recipe.dev.name]["accuracy"])

    train_these((system, base.seed) for system in trained)
    train_these((system, seed) for system in most_compared(trained, scores) for seed in MORE_SEEDS)
    return failed


def _card_or_error(
    folder: Path, rows_of: Callable[[Path, DataSource], Dataset], asked: tuple[Recipe, Options]
) -> Card | RunError:
    """The card of one run, or the reason it failed."""
    try:
        return one_run(asked[0], folder, asked[1], rows_of=rows_of, needs_dev=False)
    except RunError as error:
        return error


def recipe_of(system: System, base: Recipe, seed: int) -> Recipe:
    """The recipe for one system on the base's data, with the base's sizes if the architecture has them."""
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
    """Light and advanced attentive convolution with the whole context at once, and the best system of another kind."""
    ours, others = [], []
    for system in systems:
        if not system.architecture.startswith("attconv-"):
            others.append(system)
        elif system.architecture != "attconv-feedforward" and system.settings.get("context") in ("extra", "intra"):
            ours.append(system)
    return ours + sorted((s for s in others if s.name in scores), key=lambda s: -scores[s.name])[:1]
