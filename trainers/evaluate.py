"""Score a checkpoint on a data file; the file's layout is recognised from its head.

    python -m trainers evaluate nli-attconv-light ../shared/data/snli/snli_1.0_dev.jsonl
    python -m trainers evaluate runs/mine FILE --against nli-attconv-light --json
    python -m trainers evaluate models/my-roberta FILE --card "SNLI dev"

CHECKPOINT is a shipped name (see `python -m core models`) or a folder. Layouts of pairs: SNLI and MultiNLI jsonl, SICK,
WikiQA, TrecQA, SelQA, MSRP, Quora, and any CSV or TSV whose header names premise,hypothesis,label or
sentence1,sentence2,label or question,answer,label; of single texts: jsonl with text and label, 20 Newsgroups, SST-5,
the headerless class CSV of DBpedia, AG and Yelp, and any table whose header names text,label. Each may be gzipped.
Sets of questions with candidate answers are scored by MAP and MRR.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import torch

from core.card import ranked_by
from core.checkpoint import Checkpoint, open_checkpoint, read_card
from core.data import Dataset, read
from core.errors import RunError
from core.evaluation.intervals import wilson
from core.evaluation.predict import check_texts, classify
from core.evaluation.scores import by_question_word, classification, paired_bootstrap, ranking
from core.files import check_writable, whole_file
from core.wording import counted
from trainers.card import add_to_card
from trainers.recipe import kind_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers evaluate`."""
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="a shipped name or a checkpoint folder")
    parser.add_argument("file", metavar="FILE", type=Path, help="a data file")
    parser.add_argument("--json", action="store_true", help="print all scores as JSON")
    parser.add_argument(
        "--kinds",
        action="store_true",
        help="also the accuracy of each kind that rows' ids name (kind-NUMBER) and label",
    )
    parser.add_argument("--out", type=Path, metavar="CSV", help="also write every row's prediction")
    parser.add_argument(
        "--card", metavar="NAME", help="write the scores into the card, or pairlens.json, as those of NAME"
    )
    parser.add_argument("--against", metavar="OTHER", help="a second checkpoint, compared by a paired bootstrap")
    parser.add_argument(
        "--positive", metavar="CLASS", help="the model's class that ranks answers (default: its card's)"
    )
    add_shared_arguments(parser)


def add_shared_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that evaluate and predict have in common."""
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: cuda where it is")
    parser.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="FILE=MODEL",
        dest="translate",
        help="call a label of the file by the model's name, such as entails=entailment; may be given again",
    )


def run(args: argparse.Namespace) -> int:
    """Classify, score, print."""
    if args.out:
        check_writable(args.out, "--out")
    checkpoint = open_checkpoint(args.checkpoint)
    dataset = translate(read(args.file), args.translate)
    check_texts(checkpoint, dataset)
    if not dataset.ranking:
        check_labels(checkpoint, dataset)
    device = pick_device(args.device)
    probabilities = classify(checkpoint, dataset, device)
    scores = score(checkpoint, dataset, probabilities, args.positive)
    if args.kinds and not dataset.ranking:
        scores["kinds"] = by_kind(checkpoint, dataset, probabilities)
    if args.against:
        other = open_checkpoint(args.against)
        scores["against"] = compare(checkpoint, other, dataset, probabilities, classify(other, dataset, device))
    if args.card:
        known = read_card(checkpoint.folder).get("results") or {}
        add_to_card(checkpoint.folder, results={**known, args.card: for_card(scores)})
    if args.out:
        with whole_file(args.out) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
            write_predictions(file, checkpoint.labels, dataset, probabilities)
    print(json.dumps(scores, indent=1, ensure_ascii=False) if args.json else table(scores))
    return 0


def for_card(scores: Mapping[str, Any]) -> dict[str, float]:
    """What a card holds of scores."""
    names = ("map", "mrr", "questions") if "map" in scores else ("accuracy", "macro_f1", "items")
    return {name: scores[name] for name in names}


def pick_device(name: str) -> torch.device:
    """The device of --device. Raises RunError for CUDA where there is none."""
    if name == "cuda" and not torch.cuda.is_available():
        raise RunError("no CUDA device is available; use --device cpu")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def translate(dataset: Dataset, pairs: Sequence[str]) -> Dataset:
    """The data set with its labels renamed as ``file=model`` pairs say."""
    names = {}
    for pair in pairs:
        ours, sign, theirs = pair.partition("=")
        if not sign or not ours or not theirs:
            raise RunError(f"--label wants FILE=MODEL, such as entails=entailment, got {pair!r}")
        names[ours.strip().lower()] = theirs.strip()
    return dataset.relabelled(names) if names else dataset


def check_labels(checkpoint: Checkpoint, dataset: Dataset) -> None:
    """Raises RunError when the file has labels that are no classes of the model."""
    strange = [label for label in dataset.labels if label not in checkpoint.labels]
    if strange:
        raise RunError(
            f"{dataset.name} has the labels {', '.join(strange)}, but the classes of {checkpoint.name} are "
            f"{', '.join(checkpoint.labels)}; add --label {strange[0]}={checkpoint.labels[0]} or choose another model"
        )


def score(
    checkpoint: Checkpoint, dataset: Dataset, probabilities: np.ndarray, positive: str | None = None
) -> dict[str, Any]:
    """All scores of ``probabilities [N, C]`` as plain values. Raises RunError when no class ranks answers."""
    head: dict[str, Any] = {
        "checkpoint": checkpoint.name,
        "sha256": checkpoint.card["sha256"],
        "file": dataset.name,
        "layout": dataset.layout,
        "rows": len(dataset.rows),
        "dropped_without_gold_label": dataset.dropped,
        "broken": [asdict(problem) for problem in dataset.problems],
    }
    if dataset.ranking:
        answer = positive or ranked_by(checkpoint.card)
        if answer not in checkpoint.labels:
            raise RunError(
                f"{dataset.name} asks for answers to be ranked, and no class of {checkpoint.name} "
                f"({', '.join(checkpoint.labels)}) is named {positive or '1'}; say which one with --positive CLASS"
            )
        column = checkpoint.labels.index(answer)
        groups = [row.group or "" for row in dataset.rows]
        right, chances = right_answers(dataset, answer), probabilities[:, column].tolist()
        ranked = ranking(groups, right, chances)
        words = by_question_word([row.first for row in dataset.rows], groups, right, chances)
        return {**head, "ranked_by": answer, **asdict(ranked), "question_words": words}
    gold = np.array([checkpoint.labels.index(row.label or "") for row in dataset.rows])
    return {**head, **classification(gold, probabilities.argmax(1), checkpoint.labels)}


def right_answers(dataset: Dataset, answer: str | None) -> list[bool]:
    """Which rows of a set of questions are right answers: those labelled 1, as such sets do, or ``answer``, as the
    model does."""
    return [row.label in ("1", answer) for row in dataset.rows]


def by_kind(checkpoint: Checkpoint, dataset: Dataset, probabilities: np.ndarray) -> dict[str, dict[str, Any]]:
    """By kind, the part of a row's id before its last hyphen, and by gold label: rows, accuracy and its 95 % interval
    (:func:`core.evaluation.intervals.wilson`)."""
    predicted = np.array(checkpoint.labels)[probabilities.argmax(1)]
    right: dict[tuple[str, str], list[bool]] = {}
    for row, label in zip(dataset.rows, predicted, strict=True):
        right.setdefault((kind_of(row.id), row.label or ""), []).append(label == row.label)
    out: dict[str, dict[str, Any]] = {}
    for (kind, label), flags in sorted(right.items()):
        low, high = wilson(sum(flags), len(flags))
        out.setdefault(kind, {})[label] = {
            "rows": len(flags),
            "accuracy": sum(flags) / len(flags),
            "interval": [low, high],
        }
    return out


def compare(ours: Checkpoint, theirs: Checkpoint, dataset: Dataset, *probabilities: np.ndarray) -> dict[str, object]:
    """Paired bootstrap of the accuracies of two checkpoints on the same rows, from their ``probabilities [N, C]``."""
    if dataset.ranking:
        raise RunError("--against compares accuracies; the file is a ranking set")
    check_labels(theirs, dataset)
    gold = np.array([row.label for row in dataset.rows])
    right = [np.array(c.labels)[p.argmax(1)] == gold for c, p in zip((ours, theirs), probabilities, strict=True)]
    return {"checkpoint": theirs.name, "accuracy": float(right[1].mean()), **paired_bootstrap(right[0], right[1])}


def write_predictions(file: TextIO, labels: Sequence[str], dataset: Dataset, probabilities: np.ndarray) -> None:
    """A CSV row for every row of the data set: id, both sentences, gold label, prediction, probabilities."""
    rows = list(predictions(labels, dataset, probabilities))
    writer = csv.DictWriter(file, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)


def predictions(labels: Sequence[str], dataset: Dataset, probabilities: np.ndarray) -> list[dict[str, object]]:
    """One flat record a row: id, first, second, label (empty where none), predicted, and p_CLASS for each class."""
    out = []
    for row, chances in zip(dataset.rows, probabilities, strict=True):
        record = {"id": row.id, "first": row.first, "second": row.second, "label": row.label or ""}
        record["predicted"] = labels[int(chances.argmax())]
        out.append({**record, **{f"p_{label}": float(f"{p:.6g}") for label, p in zip(labels, chances, strict=True)}})
    return out


def table(scores: Mapping[str, Any]) -> str:
    """The scores as text for people."""
    lines = [f"{scores['checkpoint']} on {scores['file']} ({scores['layout']}): {counted(scores['rows'], 'row')}"]
    if scores["dropped_without_gold_label"]:
        lines.append(f"dropped for having no gold label: {counted(scores['dropped_without_gold_label'], 'row')}")
    broken = scores["broken"]
    if broken:
        shown = "; ".join(f"line {b['line']}: {b['what']}" for b in broken[:5])
        lines.append(f"left out: {counted(len(broken), 'broken row')} ({shown}{'; …' if len(broken) > 5 else ''})")
    if "map" in scores:
        lines.append(
            f"MAP {scores['map']:.4f}   MRR {scores['mrr']:.4f}   ranked by the chance of {scores['ranked_by']}"
        )
        lines.append(
            f"{counted(scores['questions'], 'question')}; {scores['skipped']:,} without a right answer skipped"
        )
        for word, part in scores["question_words"].items():
            lines.append(
                f"  {word:>6}  MAP {part['map']:.4f}   MRR {part['mrr']:.4f}   {part['questions']:>5,} questions"
            )
        return "\n".join(lines)
    lines.append(f"accuracy {scores['accuracy']:.2%}   macro-F1 {scores['macro_f1']:.4f}   n = {scores['items']:,}")
    for kind, of_labels in scores.get("kinds", {}).items():
        for label, part in of_labels.items():
            low, high = part["interval"]
            lines.append(
                f"  {kind:<14} {label:<14} {part['accuracy']:.3f}  [{low:.3f}, {high:.3f}]  {part['rows']:>6,} rows"
            )
    labels, counts = scores["confusion"]["labels"], scores["confusion"]["gold_by_predicted"]
    width = max(len(label) for label in labels) + 2
    heads = "".join(f"{'→ ' + label:>{width + 2}}" for label in labels)
    lines.append(f"\n{'gold':<{width}}{'precision':>10}{'recall':>8}{'F1':>8}{'items':>8}{heads}")
    for label, row in zip(labels, counts, strict=True):
        c = scores["classes"][label]
        cells = "".join(f"{n:>{width + 2},}" for n in row)
        lines.append(
            f"{label:<{width}}{c['precision']:>10.4f}{c['recall']:>8.4f}{c['f1']:>8.4f}{c['items']:>8,}{cells}"
        )
    if "against" in scores:
        b = scores["against"]
        low, high = b["interval_95"]
        lines.append(
            f"\nagainst {b['checkpoint']} ({b['accuracy']:.2%}): {b['difference']:+.2%}, 95 % interval {low:+.2%} to "
            f"{high:+.2%} (paired bootstrap over {b['items']:,} items, {b['resamples']:,} resamples)"
        )
    return "\n".join(lines)
