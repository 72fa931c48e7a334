"""Write the items of the pointing game beside the data: pairs of which the word is known that people changed.

    python -m trainers.paper pointing --data DATA

From SNLI-86k and its counterfactual revision ("train", changed premises apart), from SNLI dev ("dev"), and from made
pairs whose hypothesis is the premise with one word replaced ("replaced", so many of each kind). Each set is a file of
made/ in the layout of SNLI, with the changed word's place beside; none is committed, as their sentences are the data's.
`python -m trainers point CHECKPOINT FILE` plays.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from core.data import read
from core.evaluation.pointing import Item, natural_items, replaced_items
from core.files import json_text, write_whole
from core.wording import counted

TRAIN = ("snli/snli_1.0_train_86k.jsonl", "snli/cad_revised_train.jsonl")
DEV = "snli/snli_1.0_dev.jsonl"
MADE = "made/pairs.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.paper pointing`."""
    parser.add_argument("--data", type=Path, required=True, help="the data folder; the files go to its folder made")
    parser.add_argument("--of-each", type=int, default=60, help="made pairs of each kind (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Write the files and print how many items each has."""
    train = [item for name in TRAIN for item in read(args.data / name).rows]
    natural = list(natural_items(train))
    sets = {
        "train": [item for item in natural if item.set == "natural"],
        "train-premise": [item for item in natural if item.set == "premise"],
        "dev": list(natural_items(read(args.data / DEV).rows)),
        "replaced": of_each(replaced_items(read(args.data / MADE).rows), args.of_each),
    }
    for name, items in sets.items():
        path = args.data / "made" / f"pointing-{name}.jsonl"
        write_whole(path, "".join(json_text(as_row(item), indent=None) for item in items))
        print(f"{path.name}: {counted(len(items), 'item')}")
    return 0


def of_each(items: Iterable[Item], count: int) -> list[Item]:
    """So many items of each kind, drawn with a fixed seed."""
    kinds: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        kinds[item.kind].append(item)
    drawn = random.Random(0)
    return [item for kind in sorted(kinds) for item in drawn.sample(kinds[kind], min(count, len(kinds[kind])))]


def as_row(item: Item) -> dict[str, object]:
    """An item as a line of the file."""
    return {
        "pairID": item.id,
        "sentence1": item.premise,
        "sentence2": item.hypothesis,
        "gold_label": item.label,
        "changed": item.index,
        "set": item.set,
        "kind": item.kind,
    }
