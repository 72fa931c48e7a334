"""Put pairs written by hand to a checkpoint: how many of a suite in core/evaluation it gets right, by kind.

    python -m trainers probe nli-attconv-light
    python -m trainers probe nli-attconv-light --suite order
    python -m trainers probe nli-attconv-light --json
    python -m trainers probe pretrained/nli-attconv-light --card

Training ends with the same figures in the card; --card writes them into the card of a folder that lacks them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from core.checkpoint import open_checkpoint
from core.evaluation.probe import SUITES, figures, probe
from core.wording import percent
from trainers.card import add_to_card
from trainers.evaluate import pick_device

CARD_KEYS = {"simple": "probe", "order": "probe_order"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers probe`."""
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="a shipped name or a checkpoint folder")
    parser.add_argument(
        "--suite",
        choices=tuple(SUITES),
        default="simple",
        help="simple: one difference a pair; order: who did what to whom, how many, and whose (default: simple)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--card", action="store_true", help="write the figures into the checkpoint's card too")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")


def run(args: argparse.Namespace) -> int:
    """Classify the suite, print, and write the card if asked to."""
    checkpoint = open_checkpoint(args.checkpoint)
    result = probe(checkpoint, pick_device(args.device), args.suite)
    if args.card:
        add_to_card(checkpoint.folder, **{CARD_KEYS[args.suite]: figures(result)})
    result = {"checkpoint": checkpoint.name, "sha256": checkpoint.card["sha256"], "suite": args.suite, **result}
    print(json.dumps(result, indent=1, ensure_ascii=False) if args.json else table(result))
    return 0


def table(result: Mapping[str, Any]) -> str:
    """The result as text for people: in all, by kind, and each pair that went wrong with its verdict."""
    lines = [f"{result['checkpoint']}: {result['right']} of {result['total']} {result['suite']} pairs right"]
    lines += [f"{percent(share)} of the verdicts stay {how}" for how, share in result["typing"].items()] + [""]
    width = max(map(len, result["kinds"]))
    lines += [f"{kind:<{width}}  {n['right']:>3} of {n['total']:>3}" for kind, n in result["kinds"].items()]
    lines += ["", "wrong:"] if result["wrong"] else []
    for pair in result["wrong"]:
        verdict = f"{pair['verdict']} {percent(pair['probability'])}, not {pair['label']}"
        lines.append(f"{pair['kind']:<{width}}  {pair['premise']} | {pair['hypothesis']} → {verdict}")
    return "\n".join(lines)
