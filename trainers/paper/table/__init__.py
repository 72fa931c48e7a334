"""Rebuild a results table of the AttConv paper from runs of this project, next to the paper's numbers.

    python -m trainers.paper table nli --runs runs/nli --out runs/nli-table
    python -m trainers.paper table nli --train comparison-nli --data DATA --runs runs/nli --out runs/nli-table

Writes OUT.csv and OUT.md. Our numbers are the dev accuracies on the runs' cards, several seeds as mean ± half their 95
% interval; the paper's are in a separate column that names their data set. All runs in a table must have been trained
and evaluated on the same data; systems that are not run here give the reason. Baselines without a network are in the
folder's baselines.csv, the output of `python -m trainers.paper baselines --csv`. ``--train`` first trains the missing
systems of the table on a recipe's data, all with its sizes and epochs and with each of the ``--seeds``, and its
baselines; the recipes are comparison-nli, comparison-fever, and for the sentiment table comparison-sst5 and
comparison-imdb.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from core.card import Card
from core.checkpoint import read_card
from core.errors import RunError
from core.evaluation.intervals import half_width
from core.files import check_writable, write_whole
from trainers.commands import as_typed
from trainers.options import add_options, add_ray, data_folder, out_files, use_threads
from trainers.paper import markdown
from trainers.paper.table.systems import TABLES, PaperTable
from trainers.precision import add_precision
from trainers.tables import read_rows, write_rows

BASELINES = "baselines.csv"
"""File of baselines in the folder of runs; --train writes it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.paper table`."""
    parser.add_argument("table", choices=tuple(TABLES), help="which table")
    parser.add_argument("--runs", type=Path, required=True, metavar="FOLDER", help="the folder of the runs' folders")
    parser.add_argument("--train", metavar="RECIPE", help="first train the systems that have no run, on this data")
    parser.add_argument("--seeds", default="1", metavar="1,2,3", help="with --train: seeds of every system")
    add_precision(parser, with_option="--train")
    add_options(parser, "--data", "--threads")
    add_ray(parser, "with --train: train the runs, each as a task of --threads processors,")
    parser.add_argument("--out", type=Path, required=True, metavar="NAME", help="NAME.csv and NAME.md are written")


def run(args: argparse.Namespace) -> int:
    """Read the cards, write both files, print the Markdown."""
    paths = out_files(args.out, "csv", "md")
    failed = train_systems(args) if args.train else 0
    rows = lines(TABLES[args.table], cards(args.runs), scored(args.runs / BASELINES))
    shown = markdown.table(rows)
    write_rows(paths[0], rows)
    write_whole(paths[1], f"{shown}\n")
    print(shown)
    return int(failed > 0)


def train_systems(args: argparse.Namespace) -> int:
    """Trains the missing runs and baselines of the table. Returns how many runs failed."""
    from trainers import recipe
    from trainers.paper import baselines
    from trainers.paper.table import training
    from trainers.runs import shared_out
    from trainers.sweep import whole_numbers

    use_threads(args.threads)
    seeds = whole_numbers(args.seeds)
    base, folder = recipe.load(args.train), data_folder(args.data)
    check_writable(args.runs, "--runs", folder=True)
    command = as_typed("trainers.paper table", args.table, data="DATA", **args.given | {"train": base.name})
    with shared_out(args.ray, args.threads) as calls:
        systems = [system for system in TABLES[args.table].systems if system.architecture]
        recipes = [training.recipe_of(system, base, seed) for seed in seeds for system in systems]
        failed = training.train(recipes, folder, args.runs, args.precision, command, calls)
    if not (args.runs / BASELINES).is_file():
        baselines.run(argparse.Namespace(recipe=args.train, data=folder, csv=args.runs / BASELINES))
    return failed


def cards(folder: Path) -> Sequence[Card]:
    """The cards of all runs in a folder. Raises RunError if there are none."""
    out = [read_card(path.parent) for path in sorted(folder.glob("*/card.json"))]
    if not out:
        raise RunError(f"{folder.name} holds no finished run: name the folder that holds the runs' folders")
    return out


def scored(path: Path) -> Sequence[Mapping[str, str]]:
    """The rows of a table of baselines; none without a file. Raises RunError for any other file."""
    rows = read_rows(path)
    if path.exists() and not (rows and {"baseline", "dev", "accuracy"} <= rows[0].keys()):
        raise RunError(f"{path.name} holds no scores: give what `python -m trainers.paper baselines --csv` wrote")
    return rows


def lines(table: PaperTable, runs: Sequence[Card], baselines: Sequence[Mapping[str, str]] = ()) -> list[dict[str, str]]:
    """The lines of the table, with our numbers if there are runs. Raises RunError for runs on different data."""
    used = [(system, [card for card in runs if system.made(card)]) for system in table.systems]
    members = [card for _, own in used for card in own]
    if not members:
        raise RunError("none of the runs is of a system of this table: name the folder of the runs that are")
    same_data(members)
    recipe = members[0]["recipe"]
    dev, train = recipe["dev"]["name"], " + ".join(source["name"] for source in members[0]["data"])
    head = f"ours: {dev}, trained on {train}"
    out = []
    for system, own in used:
        results = [card["results"][dev] for card in own]
        plain = [float(row["accuracy"]) for row in baselines if (row["baseline"], row["dev"]) == (system.baseline, dev)]
        row = {
            "system": system.name,
            head: percent(plain or [result["accuracy"] for result in results]),
            "runs": str(len(own)) if own else "–",
            "weights": f"{own[0]['parameters']['model']:,}" if own else "–",
            f"the paper: {table.of}": "–" if system.paper is None else f"{system.paper:g}",
        }
        for key, name in (("accuracy_with_evidence", "two classes with evidence"), ("evidence_cut", "evidence cut")):
            if any(key in card["results"][dev] for card in members):
                row[name] = percent([result[key] for result in results if key in result])
        out.append(row | {"not run": system.why if not own else ""})
    return out


def same_data(runs: Sequence[Card]) -> None:
    """Raises RunError if the runs to compare were trained or evaluated on different data."""
    seen = {
        repr(
            [
                [(s["name"], s["rows"]) for s in card["data"]],
                card["recipe"]["dev"]["name"],
                [[s.get(key) for key in ("path", "rows", "block", "part_weights")] for s in card["recipe"]["train"]],
            ]
        ): card["name"]
        for card in runs
    }
    if len(seen) > 1:
        first, other, *_ = seen.values()
        raise RunError(f"{first} and {other} were trained or scored on unlike data: compare runs of the same data")


def percent(values: Sequence[float]) -> str:
    """A mean in per cent, with half its 95 % interval if there are several runs; a dash for none."""
    if not values:
        return "–"
    mean = f"{100 * fmean(values):.2f}"
    return f"{mean} ± {100 * half_width(values):.2f}" if len(values) > 1 else mean
