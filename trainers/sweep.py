"""Train variants of a recipe with several seeds and write their scores on dev as one CSV table.

    python -m trainers sweep sick-phrases-kmin --vary model.pooling=kmin,kmax,full --seeds 1,2,3,4,5 --csv pooling.csv
    python -m trainers sweep sick-phrases-kmin --vary model.k=1,2,3,4,5,6,7,8,9,10 --seeds 1,2 --csv figure6.csv
    python -m trainers sweep sick-phrases-kmin --set keep=last --folds 5 --csv folds.csv
    python -m trainers sweep as-adaqa --folds 5 --teachers 1,2,3 --csv folds.csv
    python -m trainers sweep as-adaqa --vary model.adaptivity=none,two-way --csv a.csv --question-words figure3b.csv
    python -m trainers sweep nli-two-sided --vary model.place=0,0.3 --csv a.csv --alignments rte2_dev.json

A row is a run: what was varied, the seed, the score of the kept classifier and of each kind of classifier, and the
command of the table. With --folds training and dev data are put together and cut into as many parts, a ranking set by
questions; each part is dev once. With --teachers every run learns from the mean predictions of runs with these seeds on
the same training data, like the shipped checkpoint; the table also has the teachers' scores: their mean, and the score
of their mean prediction. --question-words writes the MAP of each kind of question
(what, where, how, when, who, others) as a second table. --alignments adds how well attention agrees with people's word
alignments (`python -m trainers align`): F1, the threshold of a run fixed on the first of the files; --probe adds the
share of each suite of pairs that is right (`python -m trainers probe`). Every run's folder keeps the probabilities of
its dev set, which `python -m trainers compare` reads. A run whose folder is finished is not run again. With --ray runs
are tasks of a cluster whose machines share the folders of data and runs (docs/cluster.md).
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import itertools
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file

from core.card import Card, right_class
from core.checkpoint import open_checkpoint
from core.data.alignments import Alignments
from core.data.alignments import read as read_alignments
from core.errors import RunError
from core.evaluation import alignment, sweeps
from core.evaluation.probe import probe
from core.evaluation.scores import QUESTION_KINDS, by_kind
from core.evaluation.scores import summary as summary_of
from core.evaluation.sweeps import SUITE_COLUMNS, TEACHERS
from core.files import check_writable
from core.json_types import JsonMapping
from core.wording import counted
from trainers import recipe as recipes
from trainers import runs
from trainers.commands import as_typed
from trainers.options import add_options, add_ray, data_folder, use_threads
from trainers.precision import AUTO, add_precision
from trainers.recipe import Recipe
from trainers.runs import DEV
from trainers.tables import write_rows
from trainers.training_data import TrainingData

COMMA = re.compile(r",(?![^{\[]*[}\]])")
"""Between two values: one within brackets is part of a value."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers sweep`."""
    add_options(parser, "recipe")
    parser.add_argument("--csv", type=Path, required=True, metavar="FILE", help="the table")
    parser.add_argument(
        "--question-words", type=Path, metavar="FILE", help="a table of rankings by question word as well"
    )
    parser.add_argument(
        "--alignments",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a file of word alignments to measure attention on; may be given again",
    )
    parser.add_argument("--probe", action="store_true", help="put both suites of pairs to each run")
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="KEY=A,B,C",
        help="values of a key to try; given again, every combination is run",
    )
    parser.add_argument(
        "--alone", action="store_true", help="vary one key at a time, and also run the unchanged recipe"
    )
    parser.add_argument("--seeds", default="1", metavar="1,2,3", help="seeds of every variant")
    parser.add_argument(
        "--teachers", default="", metavar="1,2,3", help="learn from the mean of runs with these seeds, trained first"
    )
    parser.add_argument("--folds", type=int, default=0, metavar="N", help="cross-validation over training and dev data")
    parser.add_argument("--runs", type=Path, default=Path("runs/sweep"), help="where the runs' folders go")
    add_precision(parser)
    add_options(parser, "--data", "--set", "--threads")
    add_ray(parser, "train the runs, each as a task of --threads processors,")


def run(args: argparse.Namespace) -> int:
    """Run what is missing, write the table, print means."""
    use_threads(args.threads)
    for option, path in (("--csv", args.csv), ("--question-words", args.question_words)):
        if path is not None:
            check_writable(path, option)
    check_writable(args.runs, "--runs", folder=True)
    folder, alignments = data_folder(args.data), word_alignments(args.alignments)
    rows: list[dict[str, object]] = []
    by_word: list[dict[str, object]] = []
    variants = alone(args.vary) if args.alone else combinations(args.vary)
    plan = [*itertools.product(variants, whole_numbers(args.seeds), range(max(1, args.folds)))]
    with runs.shared_out(args.ray, args.threads) as calls:
        for (row, seed, fold), run in calls(functools.partial(trained, args, folder), plan):
            varied = {key: value for key, value in row.items() if value}
            head = {**row, "seed": seed} | ({"fold": fold + 1} if args.folds else {})
            measured = aligned(run.out, alignments) | (suites(run.out) if args.probe else {})
            rows.append(head | scores(run.card) | run.teachers | measured | {"command": command(args)})
            write_rows(args.csv, rows)
            if args.question_words:
                by_word += [
                    {**varied, "question_word": word, **head, **columns, "command": command(args)}
                    for word, columns in questions(run.out, run.card)
                ]
                write_rows(args.question_words, by_word)
            print(f"{run.name}: {rows[-1]}", flush=True)
    for line in summary(args.csv):
        print(line)
    return 0


Planned = tuple[dict[str, str], int, int]
"""The varied settings, the seed and the fold of a run."""


class Done(NamedTuple):
    """A finished run, its folder and its card, and its teachers' scores."""

    name: str
    out: Path
    card: Card
    teachers: dict[str, float]


def trained(args: argparse.Namespace, folder: Path, planned: Planned) -> Done:
    """One run with its teachers."""
    row, seed, fold = planned
    changes = [*(f"{key}={value}" for key, value in row.items() if value), f"seed={seed}"]
    recipe = recipes.load(args.recipe, [*args.changes, *changes])
    if args.question_words and recipe.task != "answer selection":
        raise RunError(f"{recipe.name} ranks no answers to questions: leave --question-words out")
    name = "-".join([recipe.name, *changes])
    name += f"-fold={fold + 1}of{args.folds}" if args.folds else ""
    out = args.runs / re.sub(r"[^\w.=+-]", "_", name)
    teachers: dict[str, float] = {}
    if args.teachers:
        recipe, teachers = with_teachers(recipe, folder, out, args, fold)
        out = out.with_name(f"{out.name}-taught-by={args.teachers}")
    return Done(name, out, one_run(recipe, folder, out, args, fold, recipe.seed), teachers)


def command(args: argparse.Namespace) -> str:
    """The command that makes the table again, without folders of this machine."""
    names = ("vary", "alone", "alignments", "probe", "seeds", "teachers", "folds")
    own = {name: getattr(args, name) for name in names}
    own |= {"precision": args.precision} if args.precision != AUTO else {}
    return as_typed("trainers sweep", Path(args.recipe).stem, set=args.changes, **own)


def values_of(vary: Sequence[str]) -> dict[str, list[str]]:
    """The values to try of each key, from ``KEY=A,B,C`` texts (``KEY={},{a: 1, b: 2}``). Raises RunError for others."""
    values = {}
    for text in vary:
        key, sign, listed = text.partition("=")
        if not sign or not listed:
            raise RunError(f"--vary wants KEY=A,B,C, such as model.k=1,2,3, got {text!r}")
        values[key] = COMMA.split(listed)
    return values


def combinations(vary: Sequence[str]) -> list[dict[str, str]]:
    """Every combination of the values; one empty one without any."""
    values = values_of(vary)
    return [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]


def alone(vary: Sequence[str]) -> list[dict[str, str]]:
    """Each value with the other keys as the recipe has them (""), after the recipe itself."""
    values = values_of(vary)
    recipe = dict.fromkeys(values, "")
    return [recipe, *({**recipe, key: value} for key, listed in values.items() for value in listed)]


def whole_numbers(text: str) -> list[int]:
    """``1,2,3`` as numbers. Raises RunError for anything else."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise RunError(f"--seeds wants whole numbers such as 1,2,3, got {text!r}") from None


def with_teachers(
    recipe: Recipe, folder: Path, out: Path, args: argparse.Namespace, fold: int
) -> tuple[Recipe, dict[str, float]]:
    """The recipe with runs of the seeds of --teachers as its teachers, trained on what it is trained on, and their
    scores on dev: the mean over single teachers, and the score of their mean prediction."""
    outs = [out.with_name(f"{out.name}-teacher={seed}") for seed in whole_numbers(args.teachers)]
    for seed, own in zip(whole_numbers(args.teachers), outs, strict=True):
        teacher = dataclasses.replace(recipe, seed=seed, teacher_share=Recipe.teacher_share)  # the student's alone
        one_run(teacher, folder, own, args, fold, recipe.seed)
    outputs = [load_file(own / DEV) for own in outs]
    gold, groups = outputs[0]["gold"].numpy(), outputs[0]["groups"].tolist() or None
    each = [tensors["probabilities"].double().numpy() for tensors in outputs]
    (name, together), *_ = summary_of(gold, np.mean(each, axis=0), groups, recipe.right_class).items()
    alone = statistics.mean(summary_of(gold, chances, groups, recipe.right_class)[name] for chances in each)
    columns = {f"{name} ({TEACHERS[0]})": round(alone, 4), f"{name} ({TEACHERS[1]})": round(together, 4)}
    return dataclasses.replace(recipe, teachers=(*recipe.teachers, *map(str, outs))), columns


def one_run(recipe: Recipe, folder: Path, out: Path, args: argparse.Namespace, fold: int, split: int) -> Card:
    """The card of one run (:func:`trainers.runs.one_run`). ``split``: the seed of the folds."""
    from trainers.set_up import Options

    command = f"python -m trainers sweep {recipe.name}"
    options = Options(out, "cpu", args.precision, save_every=10**9, command=command)
    cut = functools.partial(part, folds=args.folds, fold=fold, seed=split) if args.folds else None
    return runs.one_run(recipe, folder, options, cut=cut)


def questions(out: Path, card: Card) -> Iterator[tuple[str, dict[str, object]]]:
    """The kinds of question of a run's dev set, each with the columns of its row."""
    tensors = load_file(out / DEV)
    if "question_words" not in tensors:
        raise RunError(f"{out} holds a run without the kinds of its questions; delete it to run it again")
    kinds = [QUESTION_KINDS[i] for i in tensors["question_words"].tolist()]
    chances = tensors["probabilities"]
    place = right_class(card)
    assert place is not None, "a ranking set has a class of right answers"
    right = tensors["gold"] == place
    rankings = by_kind(kinds, tensors["groups"].tolist(), right.tolist(), chances[:, place].tolist())
    run = {"best_epoch": card["best_epoch"], "dev": card["recipe"]["dev"]["name"]}
    for kind, ranking in rankings.items():
        yield kind, run | {"questions": ranking["questions"], **{key: round(ranking[key], 4) for key in ("map", "mrr")}}


def part(data: TrainingData, folds: int, fold: int, seed: int) -> tuple[TrainingData, np.ndarray]:
    """Training and dev rows together, split again: part ``fold`` of ``folds`` is dev. Questions stay whole.

    With it the numbers of dev's rows among all.
    """
    both = data.train.and_then(data.dev)
    units = np.array(both.groups) if both.groups else np.arange(len(both))
    order = np.random.default_rng(seed).permutation(np.unique(units))
    held = np.isin(units, order[fold::folds])
    rows = np.flatnonzero(held)
    cut = dataclasses.replace(
        data,
        train=both.rows(np.flatnonzero(~held)),
        dev=both.rows(rows),
        taught=torch.cat([data.taught, torch.ones(len(data.dev), dtype=torch.bool)])[np.flatnonzero(~held)],
        fingerprint=f"{data.fingerprint} fold {fold} of {folds}",
    )
    return cut, rows


def scores(card: JsonMapping) -> dict[str, object]:
    """The columns of a run: the kept classifier, its scores, and the best of each kind."""
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


def word_alignments(paths: Sequence[Path]) -> dict[str, Alignments]:
    """Files of word alignments by their names. Raises RunError for one of chunks."""
    files = {path.stem: read_alignments(path) for path in paths}
    for name, file in files.items():
        if file.chunked:
            raise RunError(f"--alignments: {name} has alignments of chunks; give files of word alignments")
    return files


def aligned(run: Path, files: Mapping[str, Alignments]) -> dict[str, float]:
    """F1 of a finished run's links on each file, above the threshold that is best on the first."""
    if not files:
        return {}
    checkpoint, thresholds = open_checkpoint(str(run)), dict[str, float]()
    columns = {}
    for name, file in files.items():
        attended = [*alignment.attend(checkpoint, file.pairs)]
        thresholds = thresholds or alignment.fix_thresholds(attended)
        columns[f"F1 ({name})"] = round(alignment.word_scores(attended, thresholds)["f1"], 4)
    return columns


def suites(run: Path) -> dict[str, float]:
    """The shares of the pairs of each suite that a finished run gets right."""
    checkpoint, device = open_checkpoint(str(run)), torch.device("cpu")
    results = {column: probe(checkpoint, device, suite) for suite, column in SUITE_COLUMNS.items()}
    return {column: round(result["right"] / result["total"], 4) for column, result in results.items()}


def summary(table: Path) -> Iterator[str]:
    """A line a variant of a written table: means over its runs with half their 95 % interval (Student's t)."""
    sweep = sweeps.read(table)
    assert isinstance(sweep, sweeps.Sweep)
    for varied, means in sweep.variants:
        scores = ", ".join(f"{sweep.columns[key]} {sweeps.text(mean, key)}" for key, mean in means.items())
        yield f"{sweeps.label(varied)} ({counted(means[sweep.measure].runs, 'run')}): {scores}"
