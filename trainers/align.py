"""Measure how well a checkpoint's attention agrees with people's word alignments.

    python -m trainers align nli-attconv-light rte2_dev.json --fix-threshold --card "RTE-2 dev"
    python -m trainers align nli-attconv-light edinburgh_train_sure.json --card "Edinburgh++ train"
    python -m trainers align nli-attconv-light STSint.input.images.wa --json

A word of the target (hypothesis) links to the word of the source (premise) with its largest weight, if that is above
the threshold in the card and above the null word. --fix-threshold takes the one with the best F1 on this file instead.
Files: JSON of RTE-2 and Edinburgh++ in Jacana's layout, and the chunks of SemEval-2016 task 2 (.wa), of which the share
that holds a link is measured.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.checkpoint import Checkpoint, open_checkpoint
from core.data.alignments import Alignments, read
from core.errors import RunError
from core.evaluation import alignment
from trainers.card import add_to_card


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers align`."""
    parser.add_argument("checkpoint", help="name of a checkpoint, or its folder")
    parser.add_argument("file", type=Path, help="a file of alignments")
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    parser.add_argument("--fix-threshold", action="store_true", help="take the threshold with the best F1 on this file")
    parser.add_argument(
        "--card", metavar="NAME", help="write the figures, and a fixed threshold, into the card as NAME"
    )


def run(args: argparse.Namespace) -> int:
    """Read, align, score, print."""
    checkpoint, data = open_checkpoint(args.checkpoint), read(args.file)
    if data.chunked and (args.fix_threshold or args.card):
        raise RunError(
            f"{data.name} has alignments of chunks, which neither fix a threshold nor stand in a card: "
            "leave --fix-threshold and --card out, or give a file of word alignments"
        )
    if not args.fix_threshold:
        stored_thresholds(checkpoint)  # says what is missing before the work begins
    attended = list(alignment.attend(checkpoint, data.pairs))
    thresholds = alignment.fix_thresholds(attended) if args.fix_threshold else stored_thresholds(checkpoint)
    measure = alignment.chunk_scores if data.chunked else alignment.word_scores
    scores = measure(attended, thresholds)
    if args.card:
        write(checkpoint, args, thresholds, scores)
    head = {"checkpoint": checkpoint.name, "sha256": checkpoint.card["sha256"], "file": data.name}
    if args.json:
        print(json.dumps({**head, "broken": list(data.problems), **scores}, indent=1, ensure_ascii=False))
    else:
        print("\n".join(lines(checkpoint, data, scores)))
    return 0


def stored_thresholds(checkpoint: Checkpoint) -> dict[str, float]:
    """Those of the card by the way to make links. Raises RunError for a card without."""
    stored = checkpoint.card.get("alignment")
    if stored is None:
        raise RunError(
            f"the card of {checkpoint.name} has no threshold for links: fix it with "
            f'`python -m trainers align {checkpoint.name} rte2_dev.json --fix-threshold --card "RTE-2 dev"`'
        )
    return {alignment.WORDS: stored["threshold"], **stored.get("both_ways", {})}


def write(
    checkpoint: Checkpoint, args: argparse.Namespace, thresholds: Mapping[str, float], scores: Mapping[str, Any]
) -> None:
    """Put the figures into the card; a threshold that is fixed anew drops those that came from the one before."""
    command = ["python", "-m", "trainers", "align", checkpoint.name, args.file.name]
    command += [*["--fix-threshold"] * args.fix_threshold, "--card", args.card]
    stored = {} if args.fix_threshold else checkpoint.card["alignment"]
    if args.fix_threshold:
        both_ways = {way: threshold for way, threshold in thresholds.items() if way != alignment.WORDS}
        stored = {"threshold": thresholds[alignment.WORDS], "both_ways": both_ways, "fixed_on": args.card}
    results = {**stored.get("results", {}), args.card: {**scores, "command": shlex.join(command)}}
    add_to_card(checkpoint.folder, alignment={**stored, "results": results})


def lines(checkpoint: Checkpoint, data: Alignments, scores: Mapping[str, Any]) -> list[str]:
    """The figures for people."""
    out = [f"{checkpoint.name} on {data.name}: {scores['pairs']:,} pairs, links above {scores['threshold']:.2f}"]
    if data.problems:
        more = "; …" if len(data.problems) > 5 else ""
        out.append(f"{len(data.problems):,} broken entries were left out ({'; '.join(data.problems[:5])}{more})")
    if data.chunked:
        out.append(f"{'chunks':<16}{'pairs':>8}{'linked':>10}{'identical words':>18}")
        for kind, row in {"all": scores, **scores["kinds"]}.items():
            out.append(f"{kind:<16}{row['chunk_pairs']:>8,}{row['linked']:>10.1%}{row['identical_words']:>18.1%}")
        return out
    out.append(f"{'links':<30}{'precision':>10}{'recall':>8}{'F1':>8}{'AER':>8}{'links':>9}{'sure':>9}")
    rows = {"the target's words": scores}
    rows |= {f"{way}, above {row['threshold']:.2f}": row for way, row in (scores["both_ways"] or {}).items()}
    for name, row in {**rows, "identical words": scores["identical_words"]}.items():
        figures = "".join(
            f"{row[key]:>{width}.4f}"
            for key, width in zip(("precision", "recall", "f1", "aer"), (10, 8, 8, 8), strict=True)
        )
        out.append(f"{name:<30}{figures}{row['links']:>9,}{row['sure']:>9,}")
    if scores["both_ways"] is None:
        out.append("Words look from the target to the source alone: there are no links by both directions.")
    out.append(
        f"{scores['content_on_function']:.1%} of content words look most at a function word or a sign; mean entropy of "
        f"a row {scores['entropy']:.2f} nats"
    )
    return out
