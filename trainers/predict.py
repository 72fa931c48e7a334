"""Write a checkpoint's prediction for every row of a data file, as CSV or as JSON lines.

    python -m trainers predict nli-attconv-light FILE --out predictions.csv
    python -m trainers predict nli-attconv-light FILE --out predictions.jsonl

Labels may be missing from the file. Every record: id, first, second, label, predicted and p_CLASS for each class.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from core.checkpoint import open_checkpoint
from core.data import read
from core.errors import RunError
from core.evaluation.predict import classify
from core.files import check_writable, whole_file
from trainers.evaluate import add_shared_arguments, pick_device, predictions, translate, write_predictions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers predict`."""
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="a shipped name or a checkpoint folder")
    parser.add_argument("file", metavar="FILE", type=Path, help="a data file, with or without labels")
    parser.add_argument("--out", type=Path, required=True, metavar="OUT", help="a file ending in .csv or .jsonl")
    add_shared_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Classify and write."""
    if args.out.suffix not in (".csv", ".jsonl"):
        raise RunError(f"--out must end in .csv or .jsonl, got {args.out.name}")
    check_writable(args.out, "--out")
    checkpoint = open_checkpoint(args.checkpoint)
    dataset = translate(read(args.file, labelled=False), args.translate)
    probabilities = classify(checkpoint, dataset, pick_device(args.device))
    with whole_file(args.out) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
        if args.out.suffix == ".csv":
            write_predictions(file, checkpoint.labels, dataset, probabilities)
        else:
            for record in predictions(checkpoint.labels, dataset, probabilities):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
    print(f"{dataset.summary()}; {len(dataset.rows):,} predictions written to {args.out}", file=sys.stderr)
    return 0
