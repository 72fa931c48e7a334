"""Write the predictions of checkpoints for every row of data files: as a run for the error desk, CSV, or JSON lines.

    python -m trainers predict nli-attconv-light nli-two-sided FILE --out run/
    python -m trainers predict nli-attconv-light FOLDER --out run/ --ray auto
    python -m trainers predict nli-two-sided FILE --out run/ --words 500
    python -m trainers predict nli-attconv-light FILE --out predictions.csv
    python -m trainers predict nli-attconv-light FILE --out predictions.jsonl

FILE is a data file, a folder of them or a pattern in quotes ("shards/*.jsonl.zst"), all with the same layout,
optionally gzip, zstd or Parquet. Rows are read, predicted and written in parts of 2,048 (fewer if texts are long), so
memory does not grow with the number of rows. Labels may be missing.

--words ROWS finds the word with the largest effect in each row of a sample by dropping words, and counts how often the
rows of each word are wrong, like "Strongest words" on the Error desk: words that decide many wrong rows may be
shortcuts (Poliak et al. 2018; Gururangan et al. 2018). The first 20 are printed, and words-CHECKPOINT.csv has all.

A run is a folder: data.parquet with the texts, labels and the file's other columns, and one Parquet file of
probabilities per checkpoint. The Error desk opens it from the data sets folder, or as an upload if packed as .zip. The
same command resumes an interrupted run; another checkpoint for the same data is added to it. The result does not depend
on interruptions: it is identical to the byte on the same kind of processor with the same number of threads. The
machines of a Ray cluster (docs/cluster.md) share the work, and a lost machine does not stop it.

Each record of CSV and JSON lines: id, first, second, label, predicted, p_CLASS for each class, truncated (whether the
checkpoint read only the beginning of a text), and the file's own index and ids. CSV reproduces texts
byte for byte, quoted if commas, quotes or line ends require it, but without the apostrophe that "Rows (CSV)" on the
Error desk adds to keep spreadsheets from running texts as formulas.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from core.allocator import hand_back_large_blocks
from core.checkpoint import Checkpoint, open_checkpoints
from core.cluster import cluster, predicted_by
from core.command_line import add_class_names
from core.data import Dataset, Stream
from core.data.labels import CountsAs, Scale, graded, question
from core.data.stream import survey
from core.desk import run_folder
from core.desk.prediction import PredictParts, header_of_stream, predict_parts
from core.desk.run import MOST_MODELS, RunHeader, RunModel
from core.desk.unfinished_run import unfinished
from core.errors import RunError
from core.evaluation.parts import Part, Predicted, parts, predicted
from core.files import check_writable, write_whole
from core.progress import bar
from core.wording import counted, percent
from trainers.options import (
    add_options,
    add_ray,
    columns,
    mapped,
    mismatch,
    named_by,
    pick_device,
    scales_of,
    truncated_rows,
)
from trainers.prediction_files import FORMATS, row_file

if TYPE_CHECKING:
    from tqdm import tqdm

    from core.desk.strongest_words import WordScores


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers predict`."""
    parser.add_argument(
        "checkpoints",
        metavar="CHECKPOINT",
        nargs="+",
        help="a shipped name or a checkpoint folder; for a run up to four",
    )
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="a data file, a folder or a pattern of them, with or without labels"
    )
    parser.add_argument("--out", required=True, metavar="OUT", help="the folder/ of a run, or a .csv or .jsonl file")
    add_class_names(parser)
    add_ray(parser, "predict")
    parser.add_argument(
        "--words", type=int, metavar="ROWS", help="also count the most decisive words of a sample of that many rows"
    )
    add_options(parser, "--device", "--label", "--columns")


def run(args: argparse.Namespace) -> int:
    """Classify and write."""
    hand_back_large_blocks()
    out = Path(args.out)
    into_run = args.out.endswith(("/", os.sep)) or out.suffix not in FORMATS
    if into_run and out.suffix and not args.out.endswith(("/", os.sep)) and not out.is_dir():
        raise RunError(f"--out must end in .csv or .jsonl, or in / for the folder of a run, got {args.out}")
    if args.words is not None and not (into_run and args.words > 0):
        raise RunError("--words needs a number of rows, and a run as --out: their words are kept in its folder")
    if not into_run and len(args.checkpoints) > 1:
        raise RunError(f"{out.name} can hold the predictions of one checkpoint; a run (--out run/) holds several")
    check_writable(out, "--out", folder=into_run)
    checkpoints = open_checkpoints(list(dict.fromkeys(args.checkpoints)), args.class_names)
    if len(checkpoints) > MOST_MODELS:
        raise RunError(f"predict with up to {MOST_MODELS} checkpoints at a time, got {len(checkpoints)}")
    counts_as = mapped(args.counts_as)
    scales = scales_of(checkpoints, counts_as)
    picked = columns(args.columns)
    stream = Stream(args.file, labelled=False, named=named_by(checkpoints, counts_as), columns=picked)
    known = survey(args.file, picked)
    truncated = [0] * len(checkpoints)
    with ExitStack() as stack, bar(known[1] if known else None) as shown:
        compute = _counting(_compute(args, checkpoints, shown, stack), truncated)
        if into_run:
            _write_run(stream, checkpoints, known[0] if known else "", out, counts_as, compute, shown)
        else:
            predict_parts(parts(stream), compute, stack.enter_context(row_file(out, checkpoints[0].labels)))
    for checkpoint, scale, rows in zip(checkpoints, scales, truncated, strict=True):
        _tell_labels(checkpoint, scale, stream)
        if rows:
            print(f"note: {truncated_rows(checkpoint, rows)}", file=sys.stderr)
    print(f"{stream.summary()}; {counted(stream.rows, 'prediction')} written to {args.out}", file=sys.stderr)
    for checkpoint in checkpoints if args.words else ():
        _count_words(out, checkpoint, args.words)
    return 0


def _compute(
    args: argparse.Namespace, checkpoints: Sequence[Checkpoint], shown: tqdm[NoReturn], stack: ExitStack
) -> PredictParts:
    """How parts are predicted: on the cluster, or on the local device."""
    if args.ray:
        return lambda some: predicted_by(stack.enter_context(cluster(args.ray)), some, checkpoints, shown.update)
    device = pick_device(args.device)
    return lambda some: predicted(some, checkpoints, device, shown.update)


def _counting(compute: PredictParts, truncated: list[int]) -> PredictParts:
    """Computes parts, and adds the number of truncated rows to each checkpoint's count."""

    def counting(some: Iterator[Part]) -> Iterator[Predicted]:
        for part in compute(some):
            truncated[:] = [count + int(own.sum()) for count, own in zip(truncated, part.truncated, strict=True)]
            yield part

    return counting


def _write_run(
    stream: Stream,
    checkpoints: Sequence[Checkpoint],
    sha256: str,
    folder: Path,
    counts_as: CountsAs,
    compute: PredictParts,
    shown: tqdm[NoReturn],
) -> None:
    """Predicts the stream into the folder of a run; ``sha256``: the stream's checksum, empty for a pipe."""

    def skip(number: int, dataset: Dataset) -> None:
        run.skip(number, dataset)
        if shown.total is not None:
            shown.total -= len(dataset.rows)

    models = tuple(RunModel.named(checkpoint, counts_as) for checkpoint in checkpoints)
    header = RunHeader(run_folder.VERSION, stream.name, "", sha256, 0, (), models)
    with unfinished(folder, header, sorted(counts_as)) as run:
        for name in run.cut_off:
            print(f"{name} was cut off: its rows are predicted again", file=sys.stderr)
        count = predict_parts(parts(stream), compute, run.add, run.finished, skip)
        if sha256 not in ("", stream.sha256):
            raise RunError(f"{stream.path} changed while it was read: predict it into another folder")
        run.finish(header_of_stream(stream), count)


def _tell_labels(checkpoint: Checkpoint, scale: Scale, stream: Stream) -> None:
    """Prints on standard error why the desk cannot score the predictions."""
    unknown = scale.unknown(sorted(stream.labels))
    asked = question(stream.name, sorted(stream.labels), unknown, checkpoint.name, checkpoint.labels)
    if unknown and scale.positive and graded(stream.labels, unknown):
        if not graded(stream.labels):
            print(f"note: the Error desk reads these labels as grades; if they are classes: {asked}", file=sys.stderr)
    elif unknown and len(checkpoint.labels) > 1:
        print(f"note: the Error desk cannot score these predictions: {asked}", file=sys.stderr)
    warning = mismatch(stream.name, stream.labels, stream.task, checkpoint)
    if warning:
        print(f"warning: {warning}", file=sys.stderr)


MOST_WORDS = 20
"""Number of words printed."""


def _count_words(folder: Path, checkpoint: Checkpoint, rows: int) -> None:
    """Counts the most decisive words in a sample of the run's rows, if they have labels that can be scored."""
    # Imported here, so that streaming needs neither DuckDB nor the desk's database.
    from core.desk.strongest_words import AT_ONCE, StrongestWord, drawn, scored, strongest_words

    run = run_folder.load(folder, [str(checkpoint.card["sha256"])])
    if not run.labelled:
        raise RunError("--words needs rows with labels that are classes of the model; map them by --label")
    places, found = drawn(run.keys, (), rows), dict[str, StrongestWord]()
    with bar(len(places), what="words") as shown:
        for start in range(0, len(places), AT_ONCE):
            some = places[start : start + AT_ONCE]
            words = strongest_words(checkpoint, [run.dataset.rows[i] for i in some])
            found |= {run.keys[i]: word for i, word in zip(some, words, strict=True)}
            shown.update(len(some))
    known = scored(run, 0, found)
    write_whole(folder / f"words-{checkpoint.name}.csv", known.to_csv())
    print(words_table(known, checkpoint.name))


def words_table(known: WordScores, model: str) -> str:
    """The counts as text, words with the most wrong rows first."""
    head = f"{model}: {known.wrong:,} of {counted(known.rows, 'row')} wrong ({percent(known.share)})"
    lines = [head, "", f"{'word':<18}{'text':<14}{'rows':>6}{'wrong':>7}   {'share':<8}95 % interval"]
    for word in known.words[:MOST_WORDS]:
        share, interval = percent(word.score), f"{percent(word.low)} to {percent(word.high)}"
        name, text = word.names
        lines.append(f"{name:<18}{text:<14}{word.rows:>6,}{word.hits:>7,}   {share:<8}{interval}")
    return "\n".join(lines)
