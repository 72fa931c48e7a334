"""Play the pointing game: is the word with the largest effect the one that people changed?

    python -m trainers point nli-two-sided DATA/made/pointing-dev.jsonl
    python -m trainers point nli-esim DATA/made/pointing-train.jsonl --rows 350 --json

FILE is written by `python -m trainers.paper pointing`. Items count that the model judges right. Beside every way stand
chance, a rule that asks no model, and the same way on the same architecture with untrained weights.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm

from core.checkpoint import open_checkpoint
from core.data import DataError
from core.effects.why import METHODS
from core.errors import RunError
from core.evaluation.pointing import LEAST_ATTENDED, MOST_ATTENDED, Item, judged_right, play, untrained
from core.files import parse_json

WAYS = (*METHODS, LEAST_ATTENDED, MOST_ATTENDED)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers point`."""
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="a shipped name or a checkpoint folder")
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="items, as `python -m trainers.paper pointing` writes them"
    )
    parser.add_argument("--rows", type=int, default=0, help="play a sample of so many items, drawn with --seed; 0: all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample and of untrained weights (default: 1)")
    parser.add_argument("--way", action="append", choices=WAYS, help="play with this way alone; may be given again")
    parser.add_argument("--untrained", action="store_true", help="the same ways on untrained weights, too")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Play and print."""
    checkpoint = open_checkpoint(args.checkpoint)
    items = read_items(args.file)
    if args.rows:
        items = random.Random(args.seed).sample(items, min(args.rows, len(items)))
    if unknown := {item.label for item in items} - {*checkpoint.labels}:
        raise RunError(f"{checkpoint.name} has no class {sorted(unknown)[0]!r}; choose a model of the items' task")
    right = judged_right(checkpoint, items)
    if not right:
        raise RunError(f"{checkpoint.name} judges none of {args.file.name} right, and only such items count")
    models = {"trained": checkpoint} | ({"untrained": untrained(checkpoint, args.seed)} if args.untrained else {})
    result: dict[str, Any] = {"checkpoint": checkpoint.name, "sha256": checkpoint.card["sha256"]}
    result |= {"file": args.file.name, "items": len(items), "judged_right": len(right), "seed": args.seed}
    for name, model in models.items():
        with tqdm(total=len(right), unit="item", desc=name, disable=not sys.stderr.isatty()) as bar:
            game = play(model, right, args.way or WAYS, progress=lambda done, bar=bar: bar.update(done - bar.n))  # type: ignore[misc]
        result[name] = game.to_dict()
    print(json.dumps(result, indent=1) if args.json else table(result))
    return 0


def read_items(path: Path) -> list[Item]:
    """Items of a file. Raises DataError for a file that is none."""
    items = []
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = parse_json(line)
            texts = (row["pairID"], row["sentence1"], row["sentence2"], row["gold_label"])
            items.append(Item(*texts, int(row["changed"]), row["set"], row.get("kind", "")))
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(
            f"{path.name} holds no items of the pointing game; write them with `python -m trainers.paper pointing`"
        ) from None
    return items


def table(result: Mapping[str, Any]) -> str:
    """The result as text for people."""
    lines = [f"{result['checkpoint']}: {result['judged_right']:,} of {result['items']:,} items judged right", ""]
    lines.append(f"{'way':<24}{'all':>22}{'rule of no use':>24}" + ("   untrained" if "untrained" in result else ""))
    own = result["trained"]
    for way, score in sorted(own["ways"].items(), key=lambda pair: -pair[1]["share"]):
        hard = own["rule_of_no_use"].get(way)
        fresh = result.get("untrained", {}).get("ways", {}).get(way)
        lines.append(f"{way:<24}{_share(score):>22}{_share(hard):>24}" + (f"   {fresh['share']:.2f}" if fresh else ""))
    return "\n".join(lines)


def _share(score: Mapping[str, Any] | None) -> str:
    if not score or not score["items"]:
        return "–"
    low, high = score["interval"]
    return f"{score['share']:.3f} ({low:.3f}–{high:.3f})"
