"""Evaluate a checkpoint on data files, whose layout is recognised automatically.

    python -m trainers evaluate nli-attconv-light ../shared/data/snli/snli_1.0_dev.jsonl
    python -m trainers evaluate runs/mine FILE --json
    python -m trainers evaluate models/my-roberta FILE --card "SNLI dev"
    python -m trainers evaluate nli-attconv-light "shards/*.parquet"

FILE is a data file, a folder of them or a pattern in quotes, all with the same layout. CHECKPOINT is a shipped name
(see `python -m core models`) or a folder. Layouts of pairs: SNLI and MultiNLI jsonl, SICK, WikiQA, TrecQA, SelQA, MSRP,
Quora, and any CSV, TSV or .xlsx with a header like premise,hypothesis,label or sentence1,sentence2,label or
question,answer,label, or JSON, Parquet and XML with such keys; of single texts: jsonl with text and label, 20
Newsgroups, SST-5, the headerless class CSV of DBpedia, AG and Yelp, and any table with a header text,label. Files may
be compressed with gzip or zstd. Sets of questions with candidate answers are evaluated by MAP and MRR, graded labels by
Pearson's r and Spearman's ρ (--grades, if all are whole numbers). --label maps labels that are not classes of the
model, to several classes if necessary (--label non-entailment=neutral,contradiction); --columns names the columns of
any other table.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from core.allocator import hand_back_large_blocks
from core.card import ranked_by
from core.checkpoint import Checkpoint, open_checkpoint, read_card
from core.data import Dataset, Stream
from core.data.labels import Scale, graded, is_number, proposed
from core.data.stream import survey
from core.errors import RunError
from core.evaluation.parts import Part, parts, predicted
from core.evaluation.predict import check_texts
from core.evaluation.scores import MEASURES
from core.external.bi_encoder import BiEncoder
from core.json_types import JsonMapping, JsonObject
from core.progress import bar
from core.wording import counted, with_label
from trainers.card import add_to_card
from trainers.options import (
    add_options,
    check_labels,
    columns,
    mapped,
    mismatch,
    named_by,
    pick_device,
    scales_of,
    truncated_rows,
)
from trainers.tables import text, told
from trainers.tally import Graded, Rankings, Verdicts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers evaluate`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", metavar="FILE", type=Path, help="a data file, a folder or a pattern of them")
    parser.add_argument(
        "--positive", metavar="CLASS", help="the model's class that ranks answers (default: its card's)"
    )
    parser.add_argument(
        "--grades", action="store_true", help="the labels are grades, although all are whole numbers, such as 1 to 5"
    )
    add_options(parser, "--card", "--json", "--device", "--label", "--columns")


def run(args: argparse.Namespace) -> int:
    """Classify, evaluate, print."""
    hand_back_large_blocks()
    checkpoint = open_checkpoint(args.checkpoint, args.class_names)
    (scale,) = scales_of([checkpoint], mapped(args.counts_as))
    picked = columns(args.columns)
    stream = Stream(args.file, named=named_by([checkpoint], scale.counts_as), columns=picked)
    known = survey(args.file, picked)
    some = parts(stream)
    first = next(some)
    tally = tally_of(checkpoint, scale, first.dataset, args)
    checked = (_checked(part, checkpoint, tally, some) for part in itertools.chain([first], some))
    device = pick_device(args.device)
    truncated = 0
    with bar(known[1] if known else None) as shown:
        for part in predicted(checked, [checkpoint], device, shown.update):
            tally.add(part.part.dataset, part.probabilities[0])
            truncated += int(part.truncated[0].sum())
    scores = {**head(checkpoint, stream), **tally.scores(), "truncated_rows": truncated}
    if truncated:
        print(f"note: {truncated_rows(checkpoint, truncated)}", file=sys.stderr)
    if args.card:
        before = read_card(checkpoint.folder).get("results") or {}
        add_to_card(checkpoint.folder, results={**before, args.card: for_card(scores)})
    print(told(scores, table(scores), args.json))
    return 0


def for_card(scores: JsonMapping) -> dict[str, float]:
    """The scores stored on a card."""
    kinds = ("map", "mrr", "questions"), ("pearson", "spearman", "items"), ("accuracy", "macro_f1", "items")
    return {name: scores[name] for name in next(names for names in kinds if names[0] in scores)}


Tally = Verdicts | Rankings | Graded


def tally_of(checkpoint: Checkpoint, scale: Scale, dataset: Dataset, args: argparse.Namespace) -> Tally:
    """An empty tally for a checkpoint's scores on such rows. Raises RunError if no class ranks answers."""
    labels, only = checkpoint.labels, len(checkpoint.labels) == 1
    answer = labels[0] if only else args.positive or ranked_by(checkpoint.card)
    ranking = dataset.ranking and not args.grades
    if not ranking and not only and not args.grades and not graded(dataset.labels):
        return Verdicts(scale)
    if ranking and answer in labels:
        return Rankings(answer, labels.index(answer), scale)
    if ranking:
        raise RunError(
            f"{dataset.name} is a ranking set, and no class of {checkpoint.name} "
            f"({', '.join(labels)}) is named {args.positive or '1'}; choose one with --positive CLASS"
        )
    similar = isinstance(checkpoint.model, BiEncoder) and checkpoint.model.config.threshold is not None
    return Graded(_graded_by(checkpoint, answer, dataset.name), log_odds=similar)


def _graded_by(checkpoint: Checkpoint, answer: str | None, file: str) -> int:
    """The index of the class whose probability is the model's score. Raises RunError if there is none."""
    labels = checkpoint.labels
    if len(labels) == 2 and answer is None:
        answer = next(iter(proposed("1", ("0", "1"), labels)), None)
    if answer not in labels or len(labels) > 2:
        raise RunError(
            f"the labels of {file} are grades, and no class of {checkpoint.name} ({', '.join(labels)}) gives a score; "
            "choose a model with one output, or one for paraphrases or answers"
        )
    return labels.index(answer)


def _checked(part: Part, checkpoint: Checkpoint, tally: Tally, rest: Iterator[Part]) -> Part:
    """The part, after checking that the checkpoint can score it; a question about labels also covers the ``rest``."""
    name, labels = part.dataset.name, {*part.dataset.labels}
    check_texts(checkpoint, part.dataset)
    if isinstance(tally, Graded):
        strange = [label for label in labels if not is_number(label)]
        if strange:
            raise RunError(f"{name} has grades and the label {strange[0]}: give a file with grades only")
        return part
    ranking = isinstance(tally, Rankings)
    if not ranking and tally.scale.unknown(labels):
        labels |= {label for more in rest for label in more.dataset.labels}
    check_labels(checkpoint, tally.scale, name, labels, ranking=ranking)
    warning = mismatch(name, part.dataset.labels, part.dataset.task, checkpoint)
    if part.number == 0 and warning:
        print(f"warning: {warning}", file=sys.stderr)
    return part


def head(checkpoint: Checkpoint, stream: Stream) -> JsonObject:
    """The model and the data of the scores, as plain values."""
    return {
        "checkpoint": checkpoint.name,
        "sha256": checkpoint.card["sha256"],
        "file": stream.name,
        "layout": stream.layout,
        "rows": stream.rows,
        "dropped_without_gold_label": stream.dropped,
        "broken": [asdict(problem) for problem in stream.problems],
        "broken_rows": stream.broken,
        "notes": stream.notes,
    }


def _correlations(scores: JsonMapping) -> list[str]:
    lines = []
    for name, shown in (("pearson", "Pearson r"), ("spearman", "Spearman ρ")):
        if scores[name] is None:
            return ["no correlation: all grades, or all scores, are the same"]
        low, high = scores[f"{name}_interval_95"]
        lines.append(f"{shown} {scores[name]:.4f}   95 % interval {low:.4f} to {high:.4f}   n = {scores['items']:,}")
    return lines


def _others(scores: JsonMapping) -> str:
    """The measures other than accuracy."""
    others = ((name, one.title) for name, one in MEASURES.items() if name != "accuracy")
    return "".join(f"   {title} {scores[name]:.4f}" for name, title in others)


def table(scores: JsonMapping) -> str:
    """The scores as text."""
    lines = [f"{scores['checkpoint']} on {scores['file']} ({scores['layout']}): {counted(scores['rows'], 'row')}"]
    if scores["dropped_without_gold_label"]:
        lines.append(with_label(scores["rows"], scores["rows"] + scores["dropped_without_gold_label"]))
    broken = scores["broken"]
    if broken:
        shown, count = "; ".join(f"line {b['line']}: {b['what']}" for b in broken[:5]), scores["broken_rows"]
        lines.append(f"left out: {counted(count, 'broken row')} ({shown}{'; …' if count > 5 else ''})")
    lines += scores["notes"]
    if "map" in scores:
        low, high = scores["map_interval_95"]
        lines.append(
            f"MAP {scores['map']:.4f} (95 % interval {low:.4f} to {high:.4f})   MRR {scores['mrr']:.4f}   "
            f"ranked by the chance of {scores['ranked_by']}"
        )
        lines.append(
            f"{counted(scores['questions'], 'question')}; {scores['skipped']:,} without a right answer skipped"
        )
        if scores["questions_apart"]:
            apart = counted(scores["questions_apart"], "question")
            lines.append(f"the answers to {apart} do not stand together in the file; they were ranked together")
        return "\n".join(lines)
    if "pearson" in scores:
        return "\n".join([*lines, *_correlations(scores)])
    low, high = scores["accuracy_interval_95"]
    accuracy = f"accuracy {scores['accuracy']:.2%} (95 % interval {low:.2%} to {high:.2%})"
    lines.append(f"{accuracy}{_others(scores)}   n = {scores['items']:,}")
    for label, names in scores.get("counts_as", {}).items():
        lines.append(f"  label {label}: {' + '.join(names) or 'not scored'}")
    if "unscored" in scores:
        lines.append(f"not scored: {counted(scores['unscored'], 'row')}")
    if "likeliest_class_first" in scores:
        first = scores["likeliest_class_first"]
        by_class = f"accuracy {first['accuracy']:.2%}{_others(first)}"
        lines.append(f"by summed probabilities; taking the likeliest class first: {by_class}")
    labels, counts = scores["confusion"]["labels"], scores["confusion"]["gold_by_predicted"]
    rows = []
    for label, row in zip(labels, counts, strict=True):
        own = scores["classes"][label]
        cells = {"gold": label, **{name: f"{own[name.lower()]:.4f}" for name in ("precision", "recall", "F1")}}
        said = {f"→ {other}": f"{count:,}" for other, count in zip(labels, row, strict=True)}
        rows.append(cells | {"items": f"{own['items']:,}"} | said)
    lines += ["", text(rows)]
    return "\n".join(lines)
