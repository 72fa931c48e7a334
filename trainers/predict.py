"""Write what checkpoints predict for every row of data files: as CSV, as JSON lines, or as a run of the error desk.

    python -m trainers predict nli-attconv-light FILE --out predictions.csv
    python -m trainers predict nli-attconv-light FILE --out predictions.jsonl
    python -m trainers predict nli-attconv-light nli-two-sided FILE --out run.parquet
    python -m trainers predict nli-attconv-light FOLDER --out DIR/
    python -m trainers predict nli-attconv-light FOLDER --out DIR/ --ray auto
    torchrun --nproc-per-node 2 -m trainers predict nli-attconv-light FILE --out run.parquet

FILE is a data file, a folder of them or a pattern in quotes ("shards/*.jsonl.zst"), all of one layout; gzip, zstd and
Parquet are unpacked. Rows are read, predicted and written in parts of 2,048 (fewer where texts are long), so that a
million takes no more memory than a thousand; only FEVER's rows, which depend on each other, are read at once.

Labels may be missing from the file. Every record of a CSV or JSON file: id, first, second, label, predicted and p_CLASS
for each class. CSV gives texts back byte for byte: quoted where commas, quotes or line ends ask for it, but without the
apostrophe that keeps a spreadsheet from running them as formulas, which "Rows (CSV)" of the page Error desk has. A run,
of one to four checkpoints, also holds the file's other columns; the page Error desk opens it. DIR/ (it ends in a slash,
or is there already) gets a file for each part, a run in parts where --format is parquet; the same command, begun again
after it was stopped, writes the parts that are missing, and the result is byte for byte that of an unbroken run on one
kind of processor with as many threads (elsewhere the last digits of a probability may be others).
Several processes of torchrun, on one machine or more, share the parts and write the same files; so do the machines of a
Ray cluster (docs/cluster.md), of which one may be lost on the way.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path

import torch

from core.checkpoint import Checkpoint, open_checkpoints
from core.cluster import cluster, predicted_by
from core.command_line import add_class_names
from core.data import Stream
from core.data.labels import Scale, question
from core.data.stream import survey
from core.errors import RunError
from core.evaluation.parts import Part, agreed, parts, predicted, rank_of
from core.files import check_writable
from core.memory import hand_back_large_blocks
from core.progress import bar
from core.wording import counted
from trainers.options import add_options, add_ray, columns, mapped, mismatch, pick_device, scales_of
from trainers.prediction_files import FORMATS, Output, folder_of_parts, one_file

MOST = 4
"""Checkpoints of one run."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers predict`."""
    parser.add_argument(
        "checkpoints",
        metavar="CHECKPOINT",
        nargs="+",
        help="a shipped name or a checkpoint folder; of a run up to four",
    )
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="a data file, a folder or a pattern of them, with or without labels"
    )
    parser.add_argument(
        "--out", required=True, metavar="OUT", help="a file ending in .csv, .jsonl or .parquet, or a folder of parts/"
    )
    add_class_names(parser)
    add_ray(parser, "predict")
    parser.add_argument("--format", choices=FORMATS, help="of the parts in a folder (default: parquet)")
    add_options(parser, "--device", "--label", "--columns")


def run(args: argparse.Namespace) -> int:
    """Classify and write."""
    hand_back_large_blocks()
    out, into_folder = Path(args.out), args.out.endswith(("/", os.sep))
    format = _format(args, out, into_folder)
    check_writable(out, "--out", folder=into_folder)
    checkpoints = open_checkpoints(args.checkpoints, args.class_names)
    counts_as = mapped(args.counts_as)
    scales = scales_of(checkpoints, counts_as)
    picked = columns(args.columns)
    stream = Stream(args.file, labelled=False, mapped=counts_as, columns=picked)
    known = survey(args.file, picked)
    if into_folder and known is None:
        raise RunError(f"{args.file} is a pipe, which can be read only once; give a file, or a file as --out")
    if rank_of():
        output: AbstractContextManager[Output] = nullcontext(Output())
    elif into_folder:
        assert known is not None, "pipes are refused"
        output = folder_of_parts(out, checkpoints, args.file, known[0], format, args.counts_as, counts_as)
    else:
        output = one_file(out, checkpoints, format, counts_as)
    _write(stream, checkpoints, args, output, known[1] if known else None)
    if rank_of() == 0:
        for checkpoint, scale in zip(checkpoints, scales, strict=True):
            _tell_labels(checkpoint, scale, stream)
        print(f"{stream.summary()}; {counted(stream.rows, 'prediction')} written to {args.out}", file=sys.stderr)
    if torch.distributed.is_initialized():
        torch.distributed.barrier()  # a process that ends while another still talks to it takes that one down
        torch.distributed.destroy_process_group()
    return 0


def _tell_labels(checkpoint: Checkpoint, scale: Scale, stream: Stream) -> None:
    """What keeps the predictions from being scored, on standard error."""
    unknown = scale.unknown(sorted(stream.labels))
    if unknown and len(checkpoint.labels) > 1:
        asked = question(stream.name, sorted(stream.labels), unknown, checkpoint.name, checkpoint.labels)
        print(f"note: the Error desk cannot score these predictions: {asked}", file=sys.stderr)
    warning = mismatch(stream.name, stream.labels, stream.task, checkpoint)
    if warning:
        print(f"warning: {warning}", file=sys.stderr)


def _format(args: argparse.Namespace, out: Path, into_folder: bool) -> str:
    """The format of what is written. Raises RunError for options that do not go together."""
    format = (args.format or "parquet") if into_folder else out.suffix[1:]
    if format not in FORMATS or (args.format and not into_folder):
        raise RunError(
            f"--out must end in .csv, .jsonl or .parquet, or in / for a folder of parts with --format, got {args.out}"
        )
    most = MOST if format == "parquet" else 1
    if len(args.checkpoints) > most:
        raise RunError(
            f"{out.name} can hold the predictions of {most} checkpoint{'s' * (most > 1)}, got "
            f"{len(args.checkpoints)}; a run (--out run.parquet) holds those of up to {MOST}"
        )
    return format


def _write(
    stream: Stream,
    checkpoints: Sequence[Checkpoint],
    args: argparse.Namespace,
    output: AbstractContextManager[Output],
    rows: int | None,
) -> None:
    """All parts of the stream into the output, those left out that are there."""
    device, seen = pick_device(args.device), 0

    def missing(there: Mapping[int, int]) -> Iterator[Part]:
        nonlocal seen
        for part in parts(stream):
            seen, rows = part.number + 1, len(part.dataset.rows)
            if there.get(part.number) != rows:
                yield part
            elif shown.total is not None:
                shown.total -= rows

    with ExitStack() as stack, output as file, bar(rows) as shown:
        some = missing(agreed(file.there))
        if args.ray:
            ray = stack.enter_context(cluster(args.ray))
            done = predicted_by(ray, some, checkpoints, shown.update)
        else:
            done = predicted(some, checkpoints, device, shown.update)
        for part in done:
            file.add(part)
        file.finish(stream, seen)
