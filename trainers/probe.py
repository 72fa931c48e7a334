"""Evaluate a checkpoint on hand-written pairs, by kind; --against compares it with another one, kind by kind.

    python -m trainers probe nli-attconv-light
    python -m trainers probe nli-attconv-light --suite order --json
    python -m trainers probe pretrained/nli-attconv-light --card
    python -m trainers probe runs/nli-two-sided --against nli-two-sided
    python -m trainers probe runs/nli-two-sided --against nli-two-sided --file DATA/snli/snli_1.0_dev.jsonl

Without --suite all suites are used. For a model that counts crossings, it also reports how many verdicts change without
them (q = 0), over all pairs with the same words in another order and by kind. Training writes the same figures to the
card; --card writes them to the card of a folder that lacks them.

--against prints each kind's pairs that the other checkpoint and this one get right, with the p of McNemar's exact
test, the same for every --file (by its column `kind`, else by label), and the figures of both cards. A kind falls if
the test finds a difference (p < 0.05), or if it loses more than two pairs: a checkpoint with such a kind is not
shipped. The exit status is 1 if a kind falls.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from core.checkpoint import Checkpoint, open_checkpoint
from core.data import read
from core.effects.words import TAKEN_AWAY
from core.errors import RunError
from core.evaluation.probe import Answers, KindChange, answers, changes, figures, probe
from core.evaluation.suites import SUITES
from core.json_types import JsonMapping, JsonObject
from core.wording import percent
from trainers.card import add_to_card
from trainers.options import add_options, check_labels, mapped, pick_device, scales_of
from trainers.tables import told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers probe`."""
    add_options(parser, "checkpoint")
    about = "; ".join(f"{name}: {suite.about[:1].lower()}{suite.about[1:]}" for name, suite in SUITES.items())
    parser.add_argument("--suite", action="append", choices=tuple(SUITES), help=f"repeatable, default all. {about}")
    parser.add_argument("--against", metavar="CHECKPOINT", help="compare with this checkpoint, kind by kind")
    parser.add_argument(
        "--file", action="append", type=Path, default=[], metavar="FILE", help="with --against: further labelled pairs"
    )
    parser.add_argument("--card", action="store_true", help="also write the figures to the checkpoint's card")
    add_options(parser, "--label", "--json", "--device")


def run(args: argparse.Namespace) -> int:
    """Classify the suites, print, and write the card if requested."""
    if args.file and not args.against:
        raise RunError("--file goes with --against; use evaluate to score a file")
    if args.card and args.against:
        raise RunError("--card and --against do not go together: write the card first")
    checkpoint = open_checkpoint(args.checkpoint, args.class_names)
    device, suites = pick_device(args.device), [SUITES[name] for name in args.suite or SUITES]
    if args.against:
        return _compare(args, checkpoint, open_checkpoint(args.against, ()), device)
    results = {suite.name: probe(checkpoint, device, suite) for suite in suites}
    if args.card:
        kept = {**checkpoint.card.get("suites", {}), **{name: figures(result) for name, result in results.items()}}
        add_to_card(checkpoint.folder, suites={name: kept[name] for name in SUITES if name in kept})
    texts = [table(checkpoint.name, SUITES[name].title, result) for name, result in results.items()]
    told_as = {"checkpoint": checkpoint.name, "sha256": checkpoint.card["sha256"], "suites": results}
    print(told(told_as, "\n\n".join(texts), args.json))
    return 0


def crossings_line(without: JsonMapping) -> str:
    """How often a verdict depends on crossing words."""
    turned, total = without["turned"], without["total"]
    share = percent(turned / total) if total else "none"
    return f"without crossings (q = 0) {turned} of {total} pairs with the same words in another order turn ({share})"


def table(checkpoint: str, title: str, result: JsonMapping) -> str:
    """The result as text: overall, by kind, and each misclassified pair with its verdict."""
    lines = [f"{checkpoint}: {title}, {result['right']} of {result['total']} pairs right"]
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


def _compare(args: argparse.Namespace, new: Checkpoint, old: Checkpoint, device: torch.device) -> int:
    """Prints both checkpoints' pairs by kind and the figures of their cards; 1 if a kind falls."""
    sets: dict[str, list[KindChange]] = {}
    for name in args.suite or SUITES:
        suite = SUITES[name]
        both = [answers(one, suite.pairs, suite.scale(one.labels), device) for one in (old, new)]
        sets[suite.title] = [*changes(*both)]
    for path in args.file:
        sets[path.name] = [*changes(*_on_file(path, args, (old, new), device))]
    told_figures = [*card_figures(old.card, new.card)]
    falls = [f"{name}, {change.kind}" for name, kinds in sets.items() for change in kinds if change.falls]
    lines = [f"{args.checkpoint} against {args.against}: pairs right, before and after"]
    for name, kinds in sets.items():
        lines += ["", name, *map(change_line, kinds)]
    lines += [
        "",
        "on the cards",
        *(f"{name:<48}{was:>8.4f} {now:>8.4f} {now - was:>+8.4f}" for name, was, now in told_figures),
    ]
    lines += ["", f"falls: {'; '.join(falls)}" if falls else "no kind falls"]
    result: JsonObject = {
        "checkpoint": new.name,
        "against": old.name,
        "sets": {
            name: [change._asdict() | {"falls": change.falls} for change in kinds] for name, kinds in sets.items()
        },
        "cards": [{"figure": name, "old": was, "new": now} for name, was, now in told_figures],
        "falls": falls,
    }
    print(told(result, "\n".join(lines), args.json))
    return int(bool(falls))


def change_line(change: KindChange) -> str:
    """A kind's pairs before and after, and whether it falls."""
    p = "" if change.old == change.new else f"  p = {change.p:.3f}"
    return (
        f"{change.kind:<40} of {change.total:>5}: {change.old:>5} {change.new:>5}{p}{'  FALLS' if change.falls else ''}"
    )


def _on_file(path: Path, args: argparse.Namespace, both: Sequence[Checkpoint], device: torch.device) -> list[Answers]:
    """Both checkpoints' answers to the labelled rows of a file."""
    pairs, scales = read(path), scales_of(both, mapped(args.counts_as))
    for one, scale in zip(both, scales, strict=True):
        check_labels(one, scale, path.name, pairs.labels)
    labelled = replace(pairs, rows=tuple(row for row in pairs.rows if scales[0].of([row.label])[0] >= 0))
    return [answers(one, labelled, scale, device) for one, scale in zip(both, scales, strict=True)]


def card_figures(old: JsonMapping, new: JsonMapping) -> Iterator[tuple[str, float, float]]:
    """The figures that both cards have: accuracy by data set, F1 of the alignment, and the share of pointing-game items
    and of people's words found by taking words away."""
    before, after = _figures(old), _figures(new)
    yield from ((name, before[name], after[name]) for name in before if name in after)


def _figures(card: JsonMapping) -> dict[str, float]:
    results = {f"{name}, accuracy": score["accuracy"] for name, score in card.get("results", {}).items()}
    aligned = card.get("alignment", {}).get("results", {})
    results |= {f"{name}, alignment F1": score["f1"] for name, score in aligned.items()}
    games = card.get("pointing", {}).items()
    results |= {f"{name}, pointing game": game["trained"]["ways"][TAKEN_AWAY]["share"] for name, game in games}
    for name, read_by in card.get("people", {}).items():
        for side, labels in read_by["sides"].items():
            mean = labels["all labels"]["at_1"][TAKEN_AWAY]["mean"]
            results[f"{name}, people's words in the {side}"] = mean
    return results
