"""Write the mean and spread over several seeds into a checkpoint's card.

    python -m trainers.paper seeds pretrained/nli-attconv-light runs/light-2 runs/light-3

The first folder's card gets the line; the others must be runs of the same recipe with another seed. The spread is the
standard deviation over seeds (n - 1 in the denominator).
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

from core.checkpoint import read_card
from core.errors import RunError
from core.json_types import JsonMapping, JsonObject
from trainers.card import add_to_card

NAMES = {"accuracy": "", "map": "MAP "}
"""What stands before a measure's value."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.paper seeds`."""
    parser.add_argument("checkpoint", type=Path, help="the folder whose card is written")
    parser.add_argument("others", type=Path, nargs="+", help="folders of the same recipe trained with other seeds")


def run(args: argparse.Namespace) -> int:
    """Check that the runs belong together, write, print."""
    cards = [read_card(folder) for folder in (args.checkpoint, *args.others)]
    summary = summarise(cards)
    add_to_card(args.checkpoint, seeds=summary)
    for name, values in summary["results"].items():
        mean, spread = (
            format(values[key], ".4f" if values["measure"] == "map" else ".2%") for key in ("mean", "spread")
        )
        print(f"{name}: {NAMES[values['measure']]}{mean} ± {spread} over seeds {summary['seeds']}")
    return 0


def summarise(cards: Sequence[JsonMapping]) -> JsonObject:
    """The deciding measure (accuracy, of rankers MAP) by data set over the cards' seeds, its mean and spread; ``mean``
    and ``spread`` of the dev set too.

    Raises RunError when the cards are of different recipes or words, two share a seed, or one is not of a training run.
    """
    for card in cards:
        lacking = [key for key in ("recipe", "seed", "results") if key not in card]
        if lacking:
            raise RunError(f"the card of {card['name']} has no {lacking[0]}; give folders that `trainers train` wrote")
    made = [{**card["recipe"], "seed": 0, "words": card["words"]["sha256"]} for card in cards]
    if any(recipe != made[0] for recipe in made):
        raise RunError("the folders were trained with different recipes; give runs that differ in their seed alone")
    seeds = [card["seed"] for card in cards]
    if len(set(seeds)) < len(seeds):
        raise RunError(f"two of the folders have the same seed ({seeds}); give runs of different seeds")
    names = [name for name in cards[0]["results"] if all(name in card["results"] for card in cards)]
    results = {name: _over_seeds([card["results"][name] for card in cards]) for name in names}
    dev = results[cards[0]["recipe"]["dev"]["name"]]
    return {"seeds": seeds, "mean": dev["mean"], "spread": dev["spread"], "results": results}


def _over_seeds(results: list[dict[str, float]]) -> JsonObject:
    measure = "map" if "map" in results[0] else "accuracy"
    values = [result[measure] for result in results]
    return {"measure": measure, "values": values, "mean": statistics.mean(values), "spread": statistics.stdev(values)}
