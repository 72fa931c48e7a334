"""Evaluate a checkpoint on hand-written pairs: how many of a suite in core/evaluation it gets right, by kind.

    python -m trainers probe nli-attconv-light
    python -m trainers probe nli-attconv-light --suite order
    python -m trainers probe nli-attconv-light --json
    python -m trainers probe pretrained/nli-attconv-light --card

For a model that counts crossings, it also reports how many verdicts change without them (q = 0), over all pairs with
the same words in another order and by kind. Training writes the same figures to the card; --card writes them to the
card of a folder that lacks them.
"""

from __future__ import annotations

import argparse

from core.checkpoint import open_checkpoint
from core.evaluation.probe import CARD_KEYS, SUITES, figures, probe
from core.json_types import JsonMapping
from core.wording import percent
from trainers.card import add_to_card
from trainers.options import add_options, pick_device
from trainers.tables import told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers probe`."""
    add_options(parser, "checkpoint")
    parser.add_argument(
        "--suite",
        choices=tuple(SUITES),
        default="simple",
        help="simple: one difference per pair; order: who did what to whom, how many, and whose (default: simple)",
    )
    parser.add_argument("--card", action="store_true", help="also write the figures to the checkpoint's card")
    add_options(parser, "--json", "--device")


def run(args: argparse.Namespace) -> int:
    """Classify the suite, print, and write the card if requested."""
    checkpoint = open_checkpoint(args.checkpoint, args.class_names)
    result = probe(checkpoint, pick_device(args.device), args.suite)
    if args.card:
        add_to_card(checkpoint.folder, **{CARD_KEYS[args.suite]: figures(result)})
    result = {"checkpoint": checkpoint.name, "sha256": checkpoint.card["sha256"], "suite": args.suite, **result}
    print(told(result, table(result), args.json))
    return 0


def crossings_line(without: JsonMapping) -> str:
    """How often a verdict depends on crossing words."""
    turned, total = without["turned"], without["total"]
    share = percent(turned / total)
    return f"without crossings (q = 0) {turned} of {total} pairs with the same words in another order turn ({share})"


def table(result: JsonMapping) -> str:
    """The result as text: overall, by kind, and each misclassified pair with its verdict."""
    lines = [f"{result['checkpoint']}: {result['right']} of {result['total']} {result['suite']} pairs right"]
    lines += [f"{percent(share)} of the verdicts stay {how}" for how, share in result["typing"].items()] + [""]
    width = max(map(len, result["kinds"]))
    without = result.get("without_crossings")
    lines[-1:] = [crossings_line(without), ""] if without else [""]
    for kind, n in result["kinds"].items():
        turned = f", {without['kinds'][kind]:>2} turned without crossings" if without else ""
        lines.append(f"{kind:<{width}}  {n['right']:>3} of {n['total']:>3}{turned}")
    lines += ["", "wrong:"] if result["wrong"] else []
    for pair in result["wrong"]:
        verdict = f"{pair['verdict']} {percent(pair['probability'])}, not {pair['label']}"
        lines.append(f"{pair['kind']:<{width}}  {pair['premise']} | {pair['hypothesis']} → {verdict}")
    return "\n".join(lines)
