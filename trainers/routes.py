"""Measure by which parts of a model one exchanged word changes its verdict, on hand-written pairs by kind.

    python -m trainers routes nli-attconv-light
    python -m trainers routes nli-two-sided --suite one_word --json
    python -m trainers routes nli-attconv-light nli-two-sided nli-esim --card

Each pair is compared with (premise, premise), so that the words that differ are exchanged back, if both texts have as
many words and the log-odds of the verdict differ by at least 1. The figures are medians over the pairs of a kind: a
route's share of the difference (its Shapley value) with a 95 % bootstrap interval over the pairs; “alone”, what changes
if only this route is taken from the other version; and “last”, what changes if it is taken after all others. --card
writes them to the cards of the checkpoints.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from core.checkpoint import Checkpoint, open_checkpoint
from core.evaluation import routes
from core.evaluation.suites import SUITES
from core.evidence.routes import signed_percent
from core.json_types import JsonMapping, JsonObject
from core.progress import progress_bar
from trainers.card import add_to_card
from trainers.options import add_options
from trainers.tables import text, told

USUAL = ("simple", "one_word")
"""The suites whose pairs mostly differ by an exchange of words."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers routes`."""
    parser.add_argument("checkpoints", nargs="+", metavar="CHECKPOINT", help="names, or folders of checkpoints")
    parser.add_argument("--suite", action="append", choices=tuple(SUITES), help="repeatable; default: simple, one_word")
    parser.add_argument("--card", action="store_true", help="also write the figures to the checkpoints' cards")
    add_options(parser, "--json")


def run(args: argparse.Namespace) -> int:
    """Divide the differences, print, and write the cards if requested."""
    results: JsonObject = {}
    for name in args.checkpoints:
        checkpoint = open_checkpoint(name, ())
        measured = measure(checkpoint, args.suite or USUAL)
        results[checkpoint.name] = measured
        if args.card:
            add_to_card(checkpoint.folder, routes={**checkpoint.card.get("routes", {}), **measured})
    print(told(results, "\n\n".join(f"{name}\n{text([*lines(own)])}" for name, own in results.items()), args.json))
    return 0


def measure(checkpoint: Checkpoint, suites: list[str] | tuple[str, ...]) -> JsonObject:
    """The figures by suite."""
    measured = {}
    for name in suites:
        with progress_bar("pair", f"{checkpoint.name}, {name}") as progress:
            measured[name] = routes.by_kind(routes.divided(checkpoint, SUITES[name].pairs, progress))
    return measured


def lines(measured: JsonMapping) -> Iterator[dict[str, object]]:
    """One row per suite and kind."""
    for suite, kinds in measured.items():
        for kind, own in kinds.items():
            cells = {route: cell(numbers) for route, numbers in own["routes"].items()}
            yield {"suite": suite, "kind": kind, "n": own["pairs"], **cells}


def cell(numbers: JsonMapping) -> str:
    """A route's share with its interval, alone and last."""
    low, high = map(signed_percent, numbers["interval"])
    alone, last = signed_percent(numbers["alone"]), signed_percent(numbers["last"])
    return f"{signed_percent(numbers['share'])} ({low} to {high}); {alone}, {last}"
