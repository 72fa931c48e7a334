"""Score a checkpoint on data files; their layout is recognised from a file's head.

    python -m trainers evaluate nli-attconv-light ../shared/data/snli/snli_1.0_dev.jsonl
    python -m trainers evaluate runs/mine FILE --against nli-attconv-light --json
    python -m trainers evaluate models/my-roberta FILE --card "SNLI dev"
    python -m trainers evaluate nli-attconv-light "shards/*.parquet"

FILE is a data file, a folder of them or a pattern in quotes, all of one layout. CHECKPOINT is a shipped name (see
`python -m core models`) or a folder. Layouts of pairs: SNLI and MultiNLI jsonl, SICK, WikiQA, TrecQA, SelQA, MSRP,
Quora, and any CSV or TSV whose header names premise,hypothesis,label or sentence1,sentence2,label or
question,answer,label, or JSON lines and Parquet with such keys; of single texts: jsonl with text and label, 20
Newsgroups, SST-5, the headerless class CSV of DBpedia, AG and Yelp, and any table whose header names text,label. Each
may be packed by gzip or zstd. Sets of questions with candidate answers are scored by MAP and MRR.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import numpy as np

from core.card import ranked_by
from core.checkpoint import Checkpoint, open_checkpoints, read_card
from core.data import Dataset, Stream
from core.data.stream import survey
from core.errors import RunError
from core.evaluation.parts import Part, parts, predicted
from core.evaluation.predict import check_texts
from core.evaluation.scores import paired_bootstrap
from core.files import check_writable
from core.json_types import JsonMapping, JsonObject
from core.memory import hand_back_large_blocks
from core.progress import bar
from core.wording import counted
from trainers.card import add_to_card
from trainers.options import add_options, pick_device, translation
from trainers.prediction_files import Output, one_file
from trainers.tables import text, told
from trainers.tally import Rankings, Verdicts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers evaluate`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", metavar="FILE", type=Path, help="a data file, a folder or a pattern of them")
    parser.add_argument(
        "--kinds",
        action="store_true",
        help="also the accuracy of each kind that rows' ids name (kind-NUMBER) and label",
    )
    parser.add_argument("--out", type=Path, metavar="CSV", help="also write every row's prediction")
    parser.add_argument("--against", metavar="OTHER", help="a second checkpoint, compared by a paired bootstrap")
    parser.add_argument(
        "--positive", metavar="CLASS", help="the model's class that ranks answers (default: its card's)"
    )
    add_options(parser, "--card", "--json", "--device", "--label")


def run(args: argparse.Namespace) -> int:
    """Classify, score, print."""
    hand_back_large_blocks()
    if args.out:
        check_writable(args.out, "--out")
    checkpoints = open_checkpoints([name for name in (args.checkpoint, args.against) if name], args.class_names)
    stream, known = Stream(args.file), survey(args.file)
    some = parts(stream, translation(args.translate))
    first = next(some)
    tallies = [tally_of(checkpoint, first.dataset, args) for checkpoint in checkpoints]
    checked = (_checked(part, checkpoints, tallies[0]) for part in itertools.chain([first], some))
    output = one_file(args.out, checkpoints, "csv") if args.out else nullcontext(Output())
    device = pick_device(args.device)
    with output as file, bar(known[1] if known else None) as shown:
        for part in predicted(checked, checkpoints, device, shown.update):
            for tally, probabilities in zip(tallies, part.probabilities, strict=True):
                tally.add(part.part.dataset, probabilities)
            file.add(part)
    scores = score(checkpoints, stream, tallies)
    if args.card:
        before = read_card(checkpoints[0].folder).get("results") or {}
        add_to_card(checkpoints[0].folder, results={**before, args.card: for_card(scores)})
    print(told(scores, table(scores), args.json))
    return 0


def for_card(scores: JsonMapping) -> dict[str, float]:
    """What a card holds of scores."""
    names = ("map", "mrr", "questions") if "map" in scores else ("accuracy", "macro_f1", "items")
    return {name: scores[name] for name in names}


def tally_of(checkpoint: Checkpoint, dataset: Dataset, args: argparse.Namespace) -> Verdicts | Rankings:
    """What counts a checkpoint's scores on such rows. Raises RunError when no class ranks answers."""
    if not dataset.ranking:
        return Verdicts(checkpoint.labels, args.kinds)
    if args.against:
        raise RunError("--against compares accuracies; the file is a ranking set")
    answer = args.positive or ranked_by(checkpoint.card)
    if answer not in checkpoint.labels:
        raise RunError(
            f"{dataset.name} asks for answers to be ranked, and no class of {checkpoint.name} "
            f"({', '.join(checkpoint.labels)}) is named {args.positive or '1'}; say which one with --positive CLASS"
        )
    return Rankings(answer, checkpoint.labels.index(answer))


def _checked(part: Part, checkpoints: Sequence[Checkpoint], tally: Verdicts | Rankings) -> Part:
    """The part, where every checkpoint can be scored on it."""
    for checkpoint in checkpoints:
        check_texts(checkpoint, part.dataset)
        if isinstance(tally, Verdicts):
            check_labels(checkpoint, part.dataset)
    return part


def check_labels(checkpoint: Checkpoint, dataset: Dataset) -> None:
    """Raises RunError when the file has labels that are no classes of the model."""
    strange = [label for label in dataset.labels if label not in checkpoint.labels]
    if strange:
        raise RunError(
            f"{dataset.name} has the labels {', '.join(strange)}, but the classes of {checkpoint.name} are "
            f"{', '.join(checkpoint.labels)}; add --label {strange[0]}={checkpoint.labels[0]} or choose another model"
        )


def score(checkpoints: Sequence[Checkpoint], stream: Stream, tallies: Sequence[Verdicts | Rankings]) -> JsonObject:
    """All scores of the first checkpoint as plain values, and of a second one how it compares."""
    checkpoint, tally = checkpoints[0], tallies[0]
    head: JsonObject = {
        "checkpoint": checkpoint.name,
        "sha256": checkpoint.card["sha256"],
        "file": stream.name,
        "layout": stream.layout,
        "rows": stream.rows,
        "dropped_without_gold_label": stream.dropped,
        "broken": [asdict(problem) for problem in stream.problems],
        "broken_rows": stream.broken,
    }
    if isinstance(tally, Rankings):
        return {**head, "ranked_by": tally.answer, **tally.scores(), "questions_apart": len(tally.apart)}
    scores = {**head, **tally.scores()}
    if tally.kinds:
        scores["kinds"] = tally.by_kind()
    for other, theirs in zip(checkpoints[1:], tallies[1:], strict=True):
        assert isinstance(theirs, Verdicts), "ranking sets are not compared"
        scores["against"] = compare(other, tally.rights(), theirs.rights())
    return scores


def compare(theirs: Checkpoint, *right: np.ndarray) -> dict[str, object]:
    """Paired bootstrap of the accuracies of two checkpoints on the same rows, from which rows each has right, bool
    ``[N]``."""
    return {"checkpoint": theirs.name, "accuracy": float(right[1].mean()), **paired_bootstrap(right[0], right[1])}


def table(scores: JsonMapping) -> str:
    """The scores as text for people."""
    lines = [f"{scores['checkpoint']} on {scores['file']} ({scores['layout']}): {counted(scores['rows'], 'row')}"]
    if scores["dropped_without_gold_label"]:
        lines.append(f"dropped for having no gold label: {counted(scores['dropped_without_gold_label'], 'row')}")
    broken = scores["broken"]
    if broken:
        shown, count = "; ".join(f"line {b['line']}: {b['what']}" for b in broken[:5]), scores["broken_rows"]
        lines.append(f"left out: {counted(count, 'broken row')} ({shown}{'; …' if count > 5 else ''})")
    if "map" in scores:
        lines.append(
            f"MAP {scores['map']:.4f}   MRR {scores['mrr']:.4f}   ranked by the chance of {scores['ranked_by']}"
        )
        lines.append(
            f"{counted(scores['questions'], 'question')}; {scores['skipped']:,} without a right answer skipped"
        )
        if scores["questions_apart"]:
            apart = counted(scores["questions_apart"], "question")
            lines.append(f"the answers to {apart} do not stand together in the file; they were ranked together")
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
    rows = []
    for label, row in zip(labels, counts, strict=True):
        own = scores["classes"][label]
        cells = {"gold": label, **{name: f"{own[name.lower()]:.4f}" for name in ("precision", "recall", "F1")}}
        said = {f"→ {other}": f"{count:,}" for other, count in zip(labels, row, strict=True)}
        rows.append(cells | {"items": f"{own['items']:,}"} | said)
    lines += ["", text(rows)]
    if "against" in scores:
        b = scores["against"]
        low, high = b["interval_95"]
        lines.append(
            f"\nagainst {b['checkpoint']} ({b['accuracy']:.2%}): {b['difference']:+.2%}, 95 % interval {low:+.2%} to "
            f"{high:+.2%} (paired bootstrap over {b['items']:,} items, {b['resamples']:,} resamples)"
        )
    return "\n".join(lines)
