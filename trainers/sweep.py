"""Train variants of a recipe with several seeds and write their dev scores to one CSV table.

    python -m trainers sweep sick-phrases-kmin --vary model.pooling=kmin,kmax,full --seeds 1,2,3,4,5 --csv pooling.csv
    python -m trainers sweep sick-phrases-kmin --vary model.k=1,2,3,4,5,6,7,8,9,10 --seeds 1,2 --csv figure6.csv
    python -m trainers sweep sick-phrases-kmin --set keep=last --folds 5 --csv folds.csv
    python -m trainers sweep nli-two-sided --vary model.place=0,0.3 --csv a.csv --alignments rte2_dev.json

Each row is a run: the varied settings, the seed, the scores of the kept classifier and of each kind of classifier, and
the command for the table. With --folds, training and dev data are combined and cut into this many parts, ranking sets
by question; each part is dev once. --alignments adds the agreement of attention with human word alignments (`python -m
trainers align`): F1, with each run's threshold tuned on the first of the files; --probe adds the accuracy on each suite
of pairs (`python -m trainers probe`). Every run's folder keeps the probabilities on its dev set, which `python -m
trainers compare` reads. Finished runs are not repeated. With --ray, runs are tasks on a cluster whose machines share
the folders of data and runs (docs/cluster.md).
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from core.card import Card
from core.checkpoint import open_checkpoint
from core.data.alignments import Alignments, read
from core.errors import RunError
from core.evaluation import alignment, sweeps
from core.evaluation.probe import probe
from core.evaluation.sweeps import SUITE_COLUMNS
from core.files import check_writable
from core.json_types import JsonMapping
from core.wording import counted
from trainers import recipe as recipes
from trainers import runs
from trainers.commands import as_typed
from trainers.options import add_options, add_ray, data_folder, use_threads
from trainers.precision import AUTO, add_precision
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
        "--alignments",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a file of word alignments to measure attention on; repeatable",
    )
    parser.add_argument("--probe", action="store_true", help="evaluate each run on both suites of pairs")
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="KEY=A,B,C",
        help="values to try for a key; if repeated, every combination is run",
    )
    parser.add_argument(
        "--alone", action="store_true", help="vary one key at a time, and also run the unchanged recipe"
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
    folder, alignments = data_folder(args.data), {path.stem: read(path) for path in args.alignments}
    rows: list[dict[str, object]] = []
    variants = alone(args.vary) if args.alone else combinations(args.vary)
    plan = [*itertools.product(variants, whole_numbers(args.seeds), range(max(1, args.folds)))]
    with runs.shared_out(args.ray, args.threads) as calls:
        for (row, seed, fold), run in calls(functools.partial(trained, args, folder), plan):
            head = {**row, "seed": seed} | ({"fold": fold + 1} if args.folds else {})
            measured = aligned(run.out, alignments) | (suites(run.out) if args.probe else {})
            rows.append(head | scores(run.card) | measured | {"command": command(args)})
            write_rows(args.csv, rows)
            print(f"{run.name}: {rows[-1]}", flush=True)
    for line in summary(args.csv):
        print(line)
    return 0


Planned = tuple[dict[str, str], int, int]
"""The varied settings, the seed and the fold of a run."""


class Done(NamedTuple):
    """A finished run, its folder and its card."""

    name: str
    out: Path
    card: Card


def trained(args: argparse.Namespace, folder: Path, planned: Planned) -> Done:
    """One run of the plan."""
    row, seed, fold = planned
    changes = [*(f"{key}={value}" for key, value in row.items() if value), f"seed={seed}"]
    recipe = recipes.load(args.recipe, [*args.changes, *changes])
    name = "-".join([recipe.name, *changes])
    name += f"-fold={fold + 1}of{args.folds}" if args.folds else ""
    out = args.runs / re.sub(r"[^\w.=+-]", "_", name)
    return Done(name, out, one_run(recipe, folder, out, args, fold))


def command(args: argparse.Namespace) -> str:
    """The command that rebuilds the table, without this machine's folders."""
    names = ("vary", "alone", "alignments", "probe", "seeds", "folds")
    own = {name: getattr(args, name) for name in names}
    own |= {"precision": args.precision} if args.precision != AUTO else {}
    return as_typed("trainers sweep", Path(args.recipe).stem, set=args.changes, **own)


def values_of(vary: Sequence[str]) -> dict[str, list[str]]:
    """The values to try for each key, from texts ``KEY=A,B,C`` (``KEY={},{a: 1, b: 2}``). Raises RunError otherwise."""
    values = {}
    for text in vary:
        key, sign, listed = text.partition("=")
        if not sign or not listed:
            raise RunError(f"--vary wants KEY=A,B,C, such as model.k=1,2,3, got {text!r}")
        values[key] = COMMA.split(listed)
    return values


def combinations(vary: Sequence[str]) -> list[dict[str, str]]:
    """Every combination of the values; a single empty one if there are none."""
    values = values_of(vary)
    return [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]


def alone(vary: Sequence[str]) -> list[dict[str, str]]:
    """Each value with all other keys as in the recipe (""), after the recipe itself."""
    values = values_of(vary)
    recipe = dict.fromkeys(values, "")
    return [recipe, *({**recipe, key: value} for key, listed in values.items() for value in listed)]


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
    for kind in sweeps.KINDS:
        of_kind = [s[first] for name, s in card.get("classifiers", {}).items() if name.startswith(kind)]
        if of_kind:
            out[f"{first} ({kind})"] = round(max(of_kind), 4)
    return out


def aligned(run: Path, files: Mapping[str, Alignments]) -> dict[str, float]:
    """F1 of a finished run's links on each file, above the threshold that is best on the first."""
    if not files:
        return {}
    checkpoint, threshold, columns = open_checkpoint(str(run)), None, dict[str, float]()
    for name, file in files.items():
        attended = [*alignment.attend(checkpoint, file.pairs)]
        threshold = alignment.fixed_threshold(attended) if threshold is None else threshold
        columns[f"F1 ({name})"] = round(alignment.word_scores(attended, threshold)["f1"], 4)
    return columns


def suites(run: Path) -> dict[str, float]:
    """The accuracy of a finished run on each suite of pairs."""
    checkpoint, device = open_checkpoint(str(run)), torch.device("cpu")
    results = {column: probe(checkpoint, device, suite) for suite, column in SUITE_COLUMNS.items()}
    return {column: round(result["right"] / result["total"], 4) for column, result in results.items()}


def summary(table: Path) -> Iterator[str]:
    """One line per variant in a written table: means over its runs with half their 95 % interval (Student's t)."""
    sweep = sweeps.read(table)
    assert isinstance(sweep, sweeps.Sweep)
    for varied, means in sweep.variants:
        scores = ", ".join(f"{sweep.columns[key]} {sweeps.text(mean, key)}" for key, mean in means.items())
        yield f"{sweeps.label(varied)} ({counted(means[sweep.measure].runs, 'run')}): {scores}"
