r"""Measure how well a checkpoint's attention agrees with human word alignments.

    python -m trainers align nli-attconv-light rte2_dev.json --fix-threshold --card "RTE-2 dev"
    python -m trainers align nli-attconv-light edinburgh_train_sure.json --card "Edinburgh++ train"
    python -m trainers align guest-minilm rte2_dev.json --heads --card "RTE-2 dev" \
        --also edinburgh_train_sure.json "Edinburgh++ train"

A word of the target (hypothesis) links to the word of the source (premise) with its largest weight, if that is above
the threshold in the card and above the null word. --fix-threshold uses the threshold with the best F1 on this file
instead. --heads first measures each head of a transformer at its best threshold, and continues with the best one;
--card writes the results to its card (for an external model its pairlens.json). Files: RTE-2 and Edinburgh++ as JSON in
Jacana's layout.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from core.card import AlignmentScores, CardAlignment, CardWordScores, MeasuredHeads
from core.checkpoint import Checkpoint, open_checkpoint
from core.data.alignments import Alignments, read
from core.errors import RunError
from core.evaluation import alignment, alignment_table
from core.json_types import JsonMapping
from core.layers.heads import MEAN, ROLLOUT, Head, title_of
from core.progress import bar
from trainers.card import add_to_card
from trainers.commands import as_typed
from trainers.options import add_options
from trainers.tables import text, told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers align`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", type=Path, help="a file of alignments")
    parser.add_argument("--fix-threshold", action="store_true", help="use the threshold with the best F1 on this file")
    parser.add_argument("--shares", action="store_true", help="with --fix-threshold, for a bi-encoder: link by the "
                        "shares of its similarity, not by cosines")  # fmt: skip
    parser.add_argument("--heads", action="store_true", help="for a transformer, also choose the head with the best F1")
    parser.add_argument("--also", nargs=2, default=(), metavar=("FILE", "NAME"), help="with --heads, another file, on "
                        "which the chosen head and threshold are measured")  # fmt: skip
    add_options(parser, "--card", "--json")


def run(args: argparse.Namespace) -> int:
    """Read, align, evaluate, print."""
    checkpoint, data = open_checkpoint(args.checkpoint, args.class_names), read(args.file)
    if args.heads:
        return _run_heads(checkpoint, data, args)
    if args.also:
        raise RunError("--also measures the head that --heads chooses: add --heads, or give one file after the other")
    if not args.fix_threshold:
        stored_threshold(checkpoint)  # fails early if the card has none
        args.shares = checkpoint.card["alignment"].get("shares", False)
    attended = list(alignment.attend(checkpoint, data.pairs, shares=args.shares))
    threshold = alignment.fixed_threshold(attended) if args.fix_threshold else stored_threshold(checkpoint)
    scores = alignment.word_scores(attended, threshold)
    if args.card:
        write(checkpoint, args, scores)
    head = {"checkpoint": checkpoint.name, "sha256": checkpoint.card["sha256"], "file": data.name}
    record = {**head, "broken": list(data.problems), **scores}
    print(told(record, "\n".join(lines(checkpoint, data, scores)), args.json))
    return 0


def _run_heads(checkpoint: Checkpoint, data: Alignments, args: argparse.Namespace) -> int:
    """Chooses a head and its threshold on one file, and measures them on that file and the other."""
    name = args.card or data.name
    files = {name: data} | ({args.also[1]: read(Path(args.also[0]))} if args.also else {})
    if len(files) < 1 + bool(args.also):
        raise RunError("--heads needs files of two names: give others")
    f1 = head_scores(checkpoint, data)
    head = max(f1, key=f1.__getitem__)
    attended = {of: list(alignment.attend(checkpoint, some.pairs, head)) for of, some in files.items()}
    threshold = alignment.fixed_threshold(attended[name])
    also = args.given.pop("also", None)
    command = as_typed("trainers align", checkpoint.name, args.file.name, **args.given)
    command += f" --also {shlex.join([Path(also[0]).name, also[1]])}" if also else ""
    results: dict[str, AlignmentScores] = {
        of: {**alignment.word_scores(some, threshold), "command": command} for of, some in attended.items()
    }
    heads: MeasuredHeads = {"head": head, "f1": f1}
    stored: CardAlignment = {"threshold": threshold, "fixed_on": name, "results": results, "heads": heads}
    if args.card:
        add_to_card(checkpoint.folder, head=head, alignment=stored)
    record = {"checkpoint": checkpoint.name, "sha256": checkpoint.card["sha256"], **stored}
    print(told(record, "\n".join(head_lines(checkpoint, files, stored)), args.json))
    return 0


def head_scores(checkpoint: Checkpoint, data: Alignments) -> dict[str, float]:
    """F1 of each head ("7.4"), of their mean and of rollout, each at its best threshold. Raises RunError for a model
    without heads, and without pairs."""
    config: Any = checkpoint.model.config
    if checkpoint.model.knockouts is None or not data.pairs:
        raise RunError(f"{checkpoint.name} has no heads to choose from: leave --heads out, or choose a transformer")
    groups = [[str(Head(layer, number)) for number in range(config.heads)] for layer in range(config.layers)]
    scores = {}
    # One layer at a time: one pass per head would take long, and all layers' maps gigabytes.
    with bar(len(groups) + 1, "layer") as shown:
        for names in (*groups, [MEAN, ROLLOUT]):
            maps = list(alignment.attend_heads(checkpoint, data.pairs, names))
            for name in names:
                attended = [of[name] for of in maps]
                scores[name] = alignment.word_scores(attended, alignment.fixed_threshold(attended))["f1"]
            shown.update()
    return scores


def head_lines(checkpoint: Checkpoint, files: Mapping[str, Alignments], stored: CardAlignment) -> list[str]:
    """The head results as text, with the figures of the best one."""
    heads = stored["heads"]
    assert heads is not None, "they were measured"
    most = sorted(heads["f1"].items(), key=lambda item: -item[1])
    out = [f"{checkpoint.name} on {stored['fixed_on']}: F1 of {len(most)} maps, each at its best threshold"]
    out += [f"  {title_of(name):<30}{f1:.4f}" for name, f1 in most[:5]]
    out += [f"  {title_of(name):<30}{f1:.4f}" for name, f1 in most[5:] if name in (MEAN, ROLLOUT)]
    for name, scores in stored["results"].items():
        out += ["", f"{title_of(heads['head'])} on {name}:", *lines(checkpoint, files[name], scores)]
    return [*out, "", alignment_table.in_one_line(stored)]


def stored_threshold(checkpoint: Checkpoint) -> float:
    """The card's threshold. Raises RunError for a card without one."""
    stored = checkpoint.card.get("alignment")
    if stored is None:
        raise RunError(
            f"the card of {checkpoint.name} has no threshold for links: fix it with "
            f'`python -m trainers align {checkpoint.name} rte2_dev.json --fix-threshold --card "RTE-2 dev"`'
        )
    return stored["threshold"]


def write(checkpoint: Checkpoint, args: argparse.Namespace, scores: CardWordScores) -> None:
    """Writes the figures to the card; a new threshold discards the figures for the previous one."""
    command = as_typed("trainers align", checkpoint.name, args.file.name, **args.given)
    stored = checkpoint.card.get("alignment")
    if args.fix_threshold or stored is None:
        stored = {"threshold": scores["threshold"], "fixed_on": args.card, "results": {}}
    if args.shares:
        stored["shares"] = True
    results = {**stored["results"], args.card: {**scores, "command": command}}
    add_to_card(checkpoint.folder, alignment={**stored, "results": results})


def lines(checkpoint: Checkpoint, data: Alignments, scores: JsonMapping) -> list[str]:
    """The figures as text."""
    out = [f"{checkpoint.name} on {data.name}: {scores['pairs']:,} pairs, links above {scores['threshold']:.2f}"]
    if data.problems:
        more = "; …" if len(data.problems) > 5 else ""
        out.append(f"{len(data.problems):,} broken entries were left out ({'; '.join(list(data.problems)[:5])}{more})")
    return [*out, text(alignment_table.table({data.name: cast(CardWordScores, scores)}))]
