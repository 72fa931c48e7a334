"""Trains all systems of a table on the data of one recipe (`table --train`).

Each system uses the recipe's sizes, epochs and learning rate, and its settings from the table. Finished runs are not
repeated, and interrupted ones are resumed.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from core.card import Card
from core.data import Dataset
from core.errors import RunError
from core.evidence import BOTH
from core.models import spec_of
from trainers.paper.table.systems import System
from trainers.recipe import Recipe
from trainers.runs import Calls, once_each, one_run
from trainers.set_up import Options
from trainers.sources import DataSource
from trainers.training_data import read_source


def train(recipes: Sequence[Recipe], folder: Path, runs: Path, precision: str, command: str, calls: Calls) -> int:
    """Trains those that have no run, with ``calls``. Returns how many runs failed; each is reported on stderr."""
    work = functools.partial(_card_or_error, folder, once_each(read_source))
    asked = [
        (recipe, Options(runs / recipe.name, precision=precision, resume=True, command=command)) for recipe in recipes
    ]
    failed = 0
    for (recipe, _), card in calls(work, asked):
        if isinstance(card, RunError):
            print(f"{recipe.name}: {card}", file=sys.stderr)
            failed += 1
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
    both = len(base.roles) > 1 and spec.model.reads(system.settings).both and system.settings.get("context") != "none"
    return dataclasses.replace(
        base,
        name=f"{re.sub('[^a-z0-9]+', '-', system.name.lower()).strip('-')}-seed={seed}",
        title=system.name,
        architecture=system.architecture,
        model=sizes | dict(system.settings),
        seed=seed,
        judged=system.judged or (BOTH if both else base.judged),
    )
