"""Generate pairs whose sentences differ in one respect, from SNLI's training premises, WordNet and short lists.

    python -m trainers.paper make-pairs --data DATA
    python -m trainers.paper make-pairs --data DATA --out pairs.jsonl --seed 2

Three mechanisms: exchanging, dropping or negating words in premises with a simple clause ("A tall man is playing a
guitar"); families of short statements and scenes with known entailments (absence, opposites, quantity; who did what to
whom in every voice and clause, whose colour and place, what was managed or forgotten); and determiners and verbs over
narrower and wider words. No sentence from the suites of `python -m trainers probe` is generated, ignoring capitals and
the final full stop.

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
from core.evaluation.probe import SUITES
from core.files import check_writable, whole_file
from core.linguistics.word_lists import WordLists
from core.linguistics.wordnet import lexicon
from trainers.options import data_folder
from trainers.paper.make_pairs import premises
from trainers.paper.make_pairs.families import Families
from trainers.paper.make_pairs.kinds import Maker
from trainers.paper.make_pairs.quantities import Quantities

PREMISES = "snli/snli_1.0_train_86k.jsonl"
OUT = "made/pairs.jsonl"
COMMON = 5
"""Minimum number of occurrences in the premises of each word of a premise: typing errors are rarer."""
ROUNDS = 4
"""Number of passes over the premises."""


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


def make(texts: list[str], seed: int, scale: float = 1.0) -> list[tuple[str, str, str, str]]:
    """(kind, label, premise, hypothesis) from premises, in random order."""
    lists = WordLists(lexicon())
    maker = Maker(lists, seed, scale)
    counts = Counter(word.lower() for text in texts for word in text.rstrip(".").split())
    read_premises = [
        sentence
        for text in texts
        if (sentence := premises.read(text))
        and all(counts[word.lower()] >= COMMON or word == "," for word in sentence.words)
    ]
    for _ in range(ROUNDS):
        maker.random.shuffle(read_premises)
        for sentence in read_premises:
            maker.take(sentence)
    families = Families(lists, seed, [text for text in texts if len(text.split()) < 16])
    made = [*maker.pairs, *families.pairs(scale), *Quantities(lists, seed).pairs(scale)]
    suites = {plain(text) for path in SUITES.values() for row in read(path).rows for text in (row.first, row.second)}
    # Sentences in the test suites stay unseen.
    pairs = [pair for pair in made if not suites & set(map(plain, pair[2:]))]
    random.Random(seed).shuffle(pairs)
    return pairs


def plain(text: str) -> str:
    """A sentence normalised for capitals and the final full stop."""
    return text.lower().rstrip(". ")
