"""Train variants of a recipe with several seeds and write their dev scores to one CSV table.

    python -m trainers sweep sick-phrases-kmin --vary model.pooling=kmin,kmax,full --seeds 1,2,3,4,5 --csv pooling.csv
    python -m trainers sweep sick-phrases-kmin --vary model.k=1,2,3,4,5,6,7,8,9,10 --seeds 1,2 --csv figure6.csv
    python -m trainers sweep sick-phrases-kmin --set keep=last --folds 5 --csv folds.csv

Each row is a run: the varied settings, the seed, the scores of the kept classifier and of each kind of classifier, and
the command for the table. With --folds, training and dev data are combined and cut into this many parts, ranking sets
by question; each part is dev once. Every run's folder is a checkpoint, for `python -m trainers align` or `probe`, and
keeps the probabilities on its dev set, which `python -m trainers compare` reads. Finished runs are not repeated. With
--ray, runs are tasks on a cluster whose machines share the folders of data and runs (docs/cluster.md).
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from core.card import Card
from core.errors import RunError
from core.evaluation import sweeps
from core.files import check_writable
from core.json_types import JsonMapping
from core.wording import counted
from trainers import recipe as recipes
from trainers import runs
from trainers.commands import as_typed
from trainers.options import add_options, add_ray, data_folder, use_threads
from trainers.precision import add_precision
from trainers.recipe import Recipe
from trainers.tables import write_rows
from trainers.training_data import TrainingData

COMMA = re.compile(r",(?![^{\[]*[}\]])")
"""A comma between two values: one inside brackets is part of a value."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers sweep`."""
    add_options(parser, "recipe")
    parser.add_argument("--csv", type=Path, required=True, metavar="FILE", help="the table")
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="KEY=A,B,C",
        help="values to try for a key; if repeated, every combination is run",
    )
    parser.add_argument("--seeds", default="1", metavar="1,2,3", help="seeds of every variant")
    parser.add_argument("--folds", type=int, default=0, metavar="N", help="cross-validation over training and dev data")
    parser.add_argument("--runs", type=Path, default=Path("runs/sweep"), help="where the runs' folders go")
    add_precision(parser)
    add_options(parser, "--data", "--set", "--threads")
    add_ray(parser, "train the runs, each as a task of --threads processors,")


def run(args: argparse.Namespace) -> int:
    """Run missing variants, write the table, print means."""
    use_threads(args.threads)
    check_writable(args.csv, "--csv")
    check_writable(args.runs, "--runs", folder=True)
    folder = data_folder(args.data)
    rows: list[dict[str, object]] = []
    command = as_typed("trainers sweep", Path(args.recipe).stem, **args.given)
    plan = [*itertools.product(combinations(args.vary), whole_numbers(args.seeds), range(max(1, args.folds)))]
    with runs.shared_out(args.ray, args.threads) as calls:
        for (row, seed, fold), run in calls(functools.partial(trained, args, folder), plan):
            head = {**row, "seed": seed} | ({"fold": fold + 1} if args.folds else {})
            rows.append(head | scores(run.card) | {"command": command})
            write_rows(args.csv, rows)
            print(f"{run.name}: {rows[-1]}", flush=True)
    for line in summary(args.csv):
        print(line)
    return 0


Planned = tuple[dict[str, str], int, int]
"""The varied settings, the seed and the fold of a run."""


class Done(NamedTuple):
    """A finished run's name and card."""

    name: str
    card: Card


def trained(args: argparse.Namespace, folder: Path, planned: Planned) -> Done:
    """One run of the plan."""
    row, seed, fold = planned
    changes = [*(f"{key}={value}" for key, value in row.items()), f"seed={seed}"]
    recipe = recipes.load(args.recipe, [*args.changes, *changes])
    name = "-".join([recipe.name, *changes])
    name += f"-fold={fold + 1}of{args.folds}" if args.folds else ""
    out = args.runs / re.sub(r"[^\w.=+-]", "_", name)
    return Done(name, one_run(recipe, folder, out, args, fold))


def combinations(vary: Sequence[str]) -> list[dict[str, str]]:
    """Every combination of the values in texts ``KEY=A,B,C`` (``KEY={},{a: 1, b: 2}``); a single empty one if there are
    none. Raises RunError for other texts."""
    values = {}
    for text in vary:
        key, sign, listed = text.partition("=")
        if not sign or not listed:
            raise RunError(f"--vary wants KEY=A,B,C, such as model.k=1,2,3, got {text!r}")
        values[key] = COMMA.split(listed)
    return [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]


def whole_numbers(text: str) -> list[int]:
    """Parses ``1,2,3`` as numbers. Raises RunError for anything else."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise RunError(f"--seeds wants whole numbers such as 1,2,3, got {text!r}") from None


def one_run(recipe: Recipe, folder: Path, out: Path, args: argparse.Namespace, fold: int) -> Card:
    """The card of one run (:func:`trainers.runs.one_run`)."""
    from trainers.set_up import Options

    command = f"python -m trainers sweep {recipe.name}"
    options = Options(out, "cpu", args.precision, save_every=10**9, command=command)
    cut = functools.partial(part, folds=args.folds, fold=fold, seed=recipe.seed) if args.folds else None
    return runs.one_run(recipe, folder, options, cut=cut)


def part(data: TrainingData, folds: int, fold: int, seed: int) -> tuple[TrainingData, np.ndarray]:
    """Training and dev rows combined and split again: part ``fold`` of ``folds`` is dev. Questions are not split.

    Also returns the indices of dev's rows among all.
    """
    both = data.train.and_then(data.dev)
    units = np.array(both.groups) if both.groups else np.arange(len(both))
    order = np.random.default_rng(seed).permutation(np.unique(units))
    held = np.isin(units, order[fold::folds])
    left, rows = np.flatnonzero(~held), np.flatnonzero(held)
    texts = data.train_rows + data.dev_rows
    cut = dataclasses.replace(
        data,
        train=both.rows(left),
        dev=both.rows(rows),
        train_rows=tuple(texts[row] for row in left),
        dev_rows=tuple(texts[row] for row in rows),
        taught=torch.cat([data.taught, torch.ones(len(data.dev), dtype=torch.bool)])[left],
        fingerprint=f"{data.fingerprint} fold {fold} of {folds}",
    )
    return cut, rows


def scores(card: JsonMapping) -> dict[str, object]:
    """The columns of a run: the kept classifier, its scores, and the best score of each kind of classifier."""
    dev = card["recipe"]["dev"]["name"]
    (first, value), (second, other), *_ = card["results"][dev].items()
    # The table may be copied to a final checkpoint with another dev set.
    out = {"best_epoch": card["best_epoch"], "dev": dev, "classifier": card.get("classifier", "network")}
    out |= {first: round(value, 4), second: round(other, 4)}
    for kind in sweeps.CLASSIFIERS:
        of_kind = [s[first] for name, s in card.get("classifiers", {}).items() if name.startswith(kind)]
        if of_kind:
            out[f"{first} ({kind})"] = round(max(of_kind), 4)
    return out


def summary(table: Path) -> Iterator[str]:
    """One line per variant in a written table: means over its runs with half their 95 % interval (Student's t)."""
    sweep = sweeps.read(table)
    assert isinstance(sweep, sweeps.Sweep)
    for varied, means in sweep.variants:
        scores = ", ".join(f"{sweep.columns[key]} {sweeps.text(mean, key)}" for key, mean in means.items())
        yield f"{sweeps.label(varied)} ({counted(means[sweep.measure].runs, 'run')}): {scores}"
