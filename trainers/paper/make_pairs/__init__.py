"""Generate pairs whose sentences differ in one respect, from templates, short lists and SNLI's training premises.

    python -m trainers.paper make-pairs --data DATA
    python -m trainers.paper make-pairs --data DATA --out pairs.jsonl --seed 2

Families of templates list the sentences that describe one scene and the relations between them: words exchanged,
dropped or negated; absence, opposites and quantity; who did what to whom in every voice and clause, whose colour and
place, what was managed or forgotten; determiners and verbs over narrower and wider words. SNLI's premises are the
scenes of one family. No sentence from the suites of `python -m trainers probe` is generated, ignoring capitals and the
final full stop.

The file has SNLI's jsonl layout; a pair's id names its kind (``cohyponym-17``), so that a recipe's ``part_weights`` can
weight the kinds. The same seed gives the same bytes. The shipped checkpoints were trained on pairs from an earlier
version, named on their cards.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path

from core.data import DataError, read
from core.evaluation.suites import SUITES
from core.files import check_writable, whole_file
from trainers.options import data_folder
from trainers.paper.make_pairs.families import Families

PREMISES = "snli/snli_1.0_train_86k.jsonl"
OUT = "made/pairs.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.paper make-pairs`."""
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="the data folder (default: $PAIRLENS_DATA)")
    parser.add_argument(
        "--out", type=Path, metavar="FILE.jsonl", help=f"file to write (default: {OUT} in the data folder)"
    )
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")


def run(args: argparse.Namespace) -> int:
    """Generate the pairs and write them."""
    data = data_folder(args.data)
    if not (data / PREMISES).is_file():
        raise DataError(f"SNLI's training pairs are not at {PREMISES} in the data folder; give another --data")
    out = args.out or data / OUT
    if args.out is None:
        check_writable(out.parent, "--out", folder=True)
        out.parent.mkdir(exist_ok=True)
    check_writable(out, "--out")
    pairs = make(sorted({row.first for row in read(data / PREMISES).rows}), args.seed)
    with whole_file(out) as scratch, scratch.open("w", encoding="utf-8", newline="\n") as file:
        for number, (kind, label, premise, hypothesis) in enumerate(pairs):
            record = {"gold_label": label, "sentence1": premise, "sentence2": hypothesis, "pairID": f"{kind}-{number}"}
            file.write(json.dumps(record) + "\n")
    for (kind, label), count in sorted(Counter((kind, label) for kind, label, *_ in pairs).items()):
        print(f"{kind:<12}{label:<15}{count:>7,}")
    print(f"{len(pairs):,} pairs written to {out}")
    return 0


def make(scenes: list[str], seed: int, scale: float = 1.0) -> list[tuple[str, str, str, str]]:
    """(kind, label, premise, hypothesis) in random order; ``scenes`` are premises."""
    made = Families(seed, scenes).pairs(scale)
    suites = {plain(text) for suite in SUITES.values() for row in suite.pairs.rows for text in (row.first, row.second)}
    # Sentences in the test suites stay unseen.
    pairs = [pair for pair in made if not suites & set(map(plain, pair[2:]))]
    random.Random(seed).shuffle(pairs)
    return pairs


def plain(text: str) -> str:
    """A sentence normalised for capitals and the final full stop."""
    return text.lower().rstrip(". ")
