"""Write what checkpoints predict for every row of a data file: as CSV, as JSON lines, or as a run of the error desk.

    python -m trainers predict nli-attconv-light FILE --out predictions.csv
    python -m trainers predict nli-attconv-light FILE --out predictions.jsonl
    python -m trainers predict nli-attconv-light nli-two-sided FILE --out run.parquet
    torchrun --nproc-per-node 2 -m trainers predict nli-attconv-light FILE --out run.parquet

Labels may be missing from the file. Every record of a CSV or JSON file: id, first, second, label, predicted and p_CLASS
for each class. CSV gives texts back byte for byte: quoted where commas, quotes or line ends ask for it, but without the
apostrophe that keeps a spreadsheet from running them as formulas, which "Rows (CSV)" of the page Error desk has. A run,
of one to four checkpoints, also holds the file's other columns; the page Error desk opens it. Several processes of
torchrun, on one machine or more, share the batches and write the same file.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch

from core.checkpoint import Checkpoint, open_checkpoint
from core.data import Dataset, read
from core.errors import RunError
from core.evaluation.predict import classify, rank_of
from core.files import check_writable, whole_file
from core.wording import counted
from trainers.evaluate import add_shared_arguments, pick_device, predictions, translate, write_predictions

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
    parser.add_argument("file", metavar="FILE", type=Path, help="a data file, with or without labels")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="OUT", help="a file ending in .csv, .jsonl or .parquet"
    )
    add_shared_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Classify and write."""
    if args.out.suffix not in (".csv", ".jsonl", ".parquet"):
        raise RunError(f"--out must end in .csv, .jsonl or .parquet, got {args.out.name}")
    most = MOST if args.out.suffix == ".parquet" else 1
    if len(args.checkpoints) > most:
        raise RunError(
            f"{args.out.name} can hold the predictions of {most} checkpoint{'s' * (most > 1)}, got "
            f"{len(args.checkpoints)}; a run (--out run.parquet) holds those of up to {MOST}"
        )
    check_writable(args.out, "--out")
    checkpoints = [open_checkpoint(name) for name in args.checkpoints]
    dataset = translate(read(args.file, labelled=False), args.translate)
    if args.out.suffix == ".parquet":
        from core.desk.run import fitting  # here, so that the other files need no Arrow

        dataset = fitting(dataset)
    device = pick_device(args.device)
    probabilities = [classify(checkpoint, dataset, device, shared=True) for checkpoint in checkpoints]
    if rank_of() == 0:
        _write(args.out, checkpoints, dataset, probabilities)
        print(f"{dataset.summary()}; {counted(len(dataset.rows), 'prediction')} written to {args.out}", file=sys.stderr)
    if torch.distributed.is_initialized():
        torch.distributed.barrier()  # a process that ends while another still talks to it takes that one down
        torch.distributed.destroy_process_group()
    return 0


def _write(out: Path, checkpoints: list[Checkpoint], dataset: Dataset, probabilities: list[np.ndarray]) -> None:
    if out.suffix == ".parquet":
        from core.desk.run import Predictions, Run, save  # here, so that the other files need no Arrow

        models = tuple(Predictions.of(*both) for both in zip(checkpoints, probabilities, strict=True))
        save(Run(dataset, models), out)
        return
    labels = checkpoints[0].labels
    with whole_file(out) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
        if out.suffix == ".csv":
            write_predictions(file, labels, dataset, probabilities[0])
        else:
            for record in predictions(labels, dataset, probabilities[0]):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
