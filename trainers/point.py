"""Play the pointing game: does the word that people changed have the largest effect?

    python -m trainers point nli-two-sided DATA/snli/snli_1.0_dev.jsonl
    python -m trainers point nli-esim DATA/snli/snli_1.0_train_86k.jsonl DATA/snli/cad_revised_train.jsonl --rows 350
    python -m trainers point pretrained/nli-esim DATA/snli/snli_1.0_dev.jsonl --card "SNLI dev"

Items are pairs for which another pair in the files differs in one word of the hypothesis and in the label. Only
correctly classified items count. Every method is compared with chance and with a model-free rule. --card writes the
figures to the checkpoint's card under this data set name.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.checkpoint import open_checkpoint
from core.data import DataError, read
from core.effects.methods import MEASURED
from core.effects.pointing import Item, items_of, judged_right, play
from core.effects.words import TAKEN_AWAY
from core.errors import RunError
from core.json_types import JsonMapping, JsonObject
from core.progress import bar
from trainers.card import report
from trainers.commands import as_typed
from trainers.options import add_options, check_labels, mapped, scales_of
from trainers.tables import text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers point`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", metavar="FILE", nargs="+", type=Path, help="data files of pairs, read together")
    parser.add_argument("--rows", type=int, default=0, help="sample size, drawn with --seed; 0: all items")
    parser.add_argument("--seed", type=int, default=1, help="for the sample (default: 1)")
    parser.add_argument("--way", action="append", choices=MEASURED, help="use only this method; repeatable")
    add_options(parser, "--label", "--card", "--json")


def run(args: argparse.Namespace) -> int:
    """Play and print."""
    checkpoint = open_checkpoint(args.checkpoint, args.class_names)
    items, (scale,) = read_items(args.file), scales_of([checkpoint], mapped(args.counts_as))
    if args.rows:
        items = random.Random(args.seed).sample(items, min(args.rows, len(items)))
    if scale.several:
        raise RunError("an item is judged by one class: give each --label one")
    check_labels(checkpoint, scale, args.file[0].name, {item.label for item in items})
    places = scale.of([item.label for item in items])
    scored = zip(items, places.tolist(), strict=True)
    items = [replace(item, label=checkpoint.labels[scale.members[place][0]]) for item, place in scored if place >= 0]
    right = judged_right(checkpoint, items)
    if not right:
        raise RunError(f"{checkpoint.name} judges none of {args.file[0].name} right, and only such items count")
    with bar(len(right), "item") as shown:
        game = play(checkpoint, right, args.way or MEASURED, progress=lambda done: shown.update())
    figures: JsonObject = {"items": len(items), "judged_right": len(right), "seed": args.seed}
    figures["trained"] = game.to_dict()
    names = checkpoint.name, *(path.name for path in args.file)
    figures["command"] = as_typed("trainers point", *names, **args.given)
    return report(checkpoint, args, "pointing", figures, table)


def read_items(paths: Sequence[Path]) -> list[Item]:
    """Items from all data files. Raises DataError if there are none."""
    items = [*items_of(row for path in paths for row in read(path).rows)]
    if not items:
        raise DataError(f"{paths[0].name} holds no items of the pointing game: give pairs that differ in one word")
    return items


def rows(figures: JsonMapping) -> list[dict[str, str]]:
    """One row per method, best first: how often it points right, over all items and over those the rule cannot solve,
    and how much more often combined removal does."""
    own = figures["trained"]
    beyond = own.get("taken_away_beyond", {})
    return [
        {
            "way": way,
            "all items": _share(score),
            "rule of no use": _share(own["rule_of_no_use"].get(way)),
            "taken away beyond it": _more(beyond.get(way)),
        }
        for way, score in sorted(own["ways"].items(), key=lambda pair: -pair[1]["share"])
    ]


def summary(name: str, data: str, figures: JsonMapping) -> dict[str, str]:
    """One row per model: how often "taken away" points right, and the best method of this version."""
    own = figures["trained"]
    ways, beyond = own["ways"], own.get("taken_away_beyond", {})
    single = max((way for way in MEASURED if way in ways and way != TAKEN_AWAY), key=lambda way: ways[way]["share"])
    return {
        "model": f"`{name}`",
        "data": data,
        "judged right": f"{figures['judged_right']:,} of {figures['items']:,}",
        "taken away": _share(ways[TAKEN_AWAY]),
        "where the rule is of no use": _share(own["rule_of_no_use"].get(TAKEN_AWAY)),
        "best single way": f"{single} {ways[single]['share']:.3f}",
        "taken away beyond it": _more(beyond.get(single)),
    }


def table(result: JsonMapping) -> str:
    """The result as text."""
    head = f"{result['checkpoint']}: {result['judged_right']:,} of {result['items']:,} items judged right"
    return f"{head}\n\n{text(rows(result))}"


def _more(difference: JsonMapping | None) -> str:
    if difference is None:
        return "–"
    low, high = difference["interval"]
    return f"{difference['mean']:+.3f} ({low:+.3f} to {high:+.3f})"


def _share(score: JsonMapping | None) -> str:
    if not score or not score["items"]:
        return "–"
    low, high = score["interval"]
    return f"{score['share']:.3f} ({low:.3f}–{high:.3f})"
