"""Compare two groups of runs on the same dev set, by a paired bootstrap over items and seeds.

    python -m trainers compare --ours runs/sweep/…kmin-seed=* --theirs runs/sweep/…kmax-seed=*
    python -m trainers compare --ours … --theirs … --named "M-ACNN against M-CNN" --csv comparisons.csv

Each resample draws items (questions in a ranking set) and, for each group, seeds, all with replacement. Hard items are
hard for both groups, so both use the same resampled items. The folders are those written by `sweep`; the folds of a
seed count as one run over all rows, in the order of the combined training and dev data. --csv adds the result to a
table, as a row named --named; the Models page shows tables in a checkpoint's folder.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from core.card import right_class
from core.checkpoint import read_card
from core.errors import RunError
from core.evaluation.scores import per_item
from core.files import check_writable
from core.json_types import JsonObject
from trainers.options import add_options
from trainers.runs import DEV
from trainers.tables import read_rows, told, write_rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers compare`."""
    parser.add_argument("--ours", type=Path, nargs="+", required=True, metavar="FOLDER", help="runs of one variant")
    parser.add_argument("--theirs", type=Path, nargs="+", required=True, metavar="FOLDER", help="runs of another")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="keep the result in this table")
    parser.add_argument("--named", default="", metavar="NAME", help="what is compared, for --csv")
    add_options(parser, "--json")


def run(args: argparse.Namespace) -> int:
    """Read, compare, print."""
    if bool(args.csv) != bool(args.named):
        raise RunError("--csv and --named go together: a row of the table has a name")
    if args.csv:
        check_writable(args.csv, "--csv")
    ours, theirs = scored(args.ours), scored(args.theirs)
    if not (np.array_equal(ours.rows, theirs.rows) and np.array_equal(ours.gold, theirs.gold)):
        raise RunError("the two groups were scored on other rows; compare runs of one dev set, each with all its folds")
    result = compare(ours.scores, theirs.scores)
    if args.csv:
        keep(args.csv, {"comparison": args.named, **dev_of(args.ours[0]), **result})
    (low, high), seeds = result["interval_95"], result["seeds"]
    text = (
        f"{result['ours']:.4f} against {result['theirs']:.4f}: {result['difference']:+.4f}, 95 % interval {low:+.4f} "
        f"to {high:+.4f}, not above zero in {result['share_of_resamples_not_above_zero']:.1%} of "
        f"{result['resamples']:,} resamples over {result['items']:,} items and {seeds[0]} and {seeds[1]} seeds"
    )
    print(told(result, text, args.json))
    return 0


def dev_of(folder: Path) -> dict[str, str]:
    """The metric and the dev set (or folds) of a run's scores, from its card."""
    card = read_card(folder)
    dev = card["recipe"]["dev"]["name"]
    folds = re.search(r"-fold=\d+of(\d+)$", folder.resolve().name)
    parts = f"{folds[1]} folds of {card['recipe']['train'][0]['name']} and {dev}" if folds else dev
    return {"measure": next(iter(card["results"][dev])), "dev": parts}


def keep(path: Path, result: JsonObject) -> None:
    """Writes a comparison to a table: it replaces the row with the same name or is appended."""
    low, high = result["interval_95"]
    row = {key: result[key] for key in ("comparison", "measure", "dev")}
    row |= {key: f"{result[key]:.4f}" for key in ("ours", "theirs", "difference")}
    row |= {"low": f"{low:.4f}", "high": f"{high:.4f}", "items": result["items"]}
    row |= dict(zip(("seeds", "seeds_theirs"), result["seeds"], strict=True))
    known = read_rows(path)
    if path.is_file() and (not known or list(known[0]) != list(row)):
        raise RunError(f"{path} is another table than one of comparisons; give another --csv")
    rows = {old["comparison"]: old for old in known} | {row["comparison"]: row}
    write_rows(path, [*rows.values()])


class Scored(NamedTuple):
    """One or more runs on one dev set, or on all of its folds."""

    scores: np.ndarray
    """[N], or [S, N] for S runs on N items."""
    rows: np.ndarray
    """Indices of the evaluated rows, in order."""
    gold: np.ndarray
    """Their gold classes."""


def scored(folders: Sequence[Path]) -> Scored:
    """Scores of runs on the items of one dev set, or of all folds. Raises RunError if the sets differ."""
    runs: dict[str, list[Path]] = {}
    for folder in folders:
        runs.setdefault(re.sub(r"-fold=\d+of\d+$", "", folder.resolve().name), []).append(folder)
    scored = {parts[0]: _joined(parts) for parts in runs.values()}
    for folder, own in scored.items():
        if not np.array_equal(own.gold, scored[folders[0]].gold):
            raise RunError(f"{folder} was scored on another dev set than {folders[0]}; compare runs of one set")
    first = scored[folders[0]]
    return Scored(np.stack([own.scores for own in scored.values()]), first.rows, first.gold)


def _joined(parts: Sequence[Path]) -> Scored:
    """A run with its folds combined, items and rows in the order of the data."""
    loaded = [_read(folder) for folder in parts]
    for number, part in enumerate(loaded):
        part["groups"] = part["groups"] + (number << 32)  # each fold numbers its questions from 0
    whole = {name: np.concatenate([part[name] for part in loaded]) for name in loaded[0]}
    order = np.argsort(whole["rows"], kind="stable")
    rows, gold = whole["rows"][order], whole["gold"][order]
    if (np.diff(rows) == 0).any():
        raise RunError(f"{parts[0].name} and its like hold the same rows twice; give each fold once")
    groups = whole["groups"][order].tolist() if len(whole["groups"]) else None
    right = right_class(read_card(parts[0])) if groups else None
    return Scored(per_item(gold, whole["probabilities"][order], groups, right), rows, gold)


def _read(folder: Path) -> dict[str, np.ndarray]:
    try:
        tensors = load_file(folder / DEV)
        return {name: tensors[name] for name in ("rows", "gold", "probabilities", "groups")}
    except (OSError, SafetensorError, KeyError):
        raise RunError(f"{folder} has no readable {DEV}; give folders written by `trainers sweep`") from None


def compare(ours: np.ndarray, theirs: np.ndarray, resamples: int = 10_000, seed: int = 0) -> JsonObject:
    """Difference between the means of two score tables ``[S, N]`` and ``[R, N]``, with a 95 % percentile interval."""
    if ours.shape[1] != theirs.shape[1]:
        raise RunError(f"the two groups have {ours.shape[1]} and {theirs.shape[1]} items; compare runs of one set")
    random = np.random.default_rng(seed)
    items = ours.shape[1]
    drawn = np.empty(resamples)
    for i in range(resamples):
        at = random.integers(0, items, items)
        mean = [side[random.integers(0, len(side), len(side))].mean(0)[at].mean() for side in (ours, theirs)]
        drawn[i] = mean[0] - mean[1]
    low, high = np.percentile(drawn, [2.5, 97.5])
    return {
        "ours": float(ours.mean()),
        "theirs": float(theirs.mean()),
        "difference": float(ours.mean() - theirs.mean()),
        "interval_95": [float(low), float(high)],
        "items": items,
        "seeds": [len(ours), len(theirs)],
        "share_of_resamples_not_above_zero": float((drawn <= 0).mean()),
        "resamples": resamples,
        "seed": seed,
    }
