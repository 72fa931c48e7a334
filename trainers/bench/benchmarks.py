"""Measure the speeds that PairLens promises; prints a table and writes JSON.

    python -m trainers.bench
    python -m trainers.bench training explain-light --json speeds.json
    python -m trainers.bench load --json docs/speed.json --add

It is a measurement, not a test: on a busy machine its times are of no use. Benchmarks:
explain-light, explain-advanced and explain-phrases (one pair of 30 x 30 words; the first two also of 60 x 60), verdict
(explain-phrases without a record), phrases
(phrase states against rotated copies read by torch.nn.GRU), filters (a training step of M-ACNN against M-CNN's, and the
convolution with each text's own filters against a loop of conv1d), tokens (against the same rules by one pattern for
all scripts, without memory), training (a step of each shipped nli-* model at batch 256 by a large product), profile
(what kinds of operations the step of nli-two-sided is made of), threads (training on all cores, alone and beside a busy
process, with threads that sleep soon and as libgomp has them), rivals (steps of ESIM and ABCNN against plain forms,
explanations of a pair), effects (what words and links do to a verdict of nli-two-sided), app (first page, visits, click
and verdict beside an empty Streamlit page, and memory), map (a new text on the filter map), predict (10,000 pairs from
file to run against the forward passes alone), guests (a model in Hugging Face's format explained against its own
library's forward pass), desk (the Error desk's answer to a filter and to a click, with 10,000 rows), load (where it is
named: 1, 20, 50 and 100 visitors that each type a sentence every five seconds, their answers against serial ones, and
the server's memory), pairs (where it is named: that memory over 5,000 different pairs), peers (where it is named:
models beside those that PAIRLENS_PEERS names, on the same batches), streaming (predict's memory by the number of rows,
its time by the forward passes alone, a Ray cluster of two workers by one).
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Callable
from datetime import date
from pathlib import Path

import torch

from core.errors import RunError
from core.files import check_writable, json_text, write_whole
from core.json_types import JsonObject
from trainers.bench.app import filter_map, pages
from trainers.bench.desk import answers, prediction
from trainers.bench.effects import effects
from trainers.bench.explaining import by_time
from trainers.bench.filters import generated_filters
from trainers.bench.guests import guests
from trainers.bench.load import load, pairs_tried
from trainers.bench.peers import peers
from trainers.bench.phrases import phrase_states
from trainers.bench.profiling import step_profile
from trainers.bench.rivals import rivals
from trainers.bench.row import Row
from trainers.bench.runs import MeasuredRun, kept_runs
from trainers.bench.streaming import streaming
from trainers.bench.threads import threads
from trainers.bench.tokens import tokens
from trainers.bench.training import training
from trainers.card import device_name
from trainers.tables import text

BENCHMARKS: dict[str, Callable[[bool], list[Row]]] = {
    "explain-light": lambda quick: by_time("nli-attconv-light", quick),
    "explain-advanced": lambda quick: by_time("nli-attconv-advanced", quick),
    "explain-phrases": lambda quick: by_time("te-phrases-kmin", quick, ((30, 60),)),
    "verdict": lambda quick: by_time("te-phrases-kmin", quick, ((30, 20),), records=()),
    "phrases": phrase_states,
    "filters": generated_filters,
    "tokens": tokens,
    "effects": effects,
    "training": training,
    "profile": step_profile,
    "threads": threads,
    "rivals": rivals,
    "guests": guests,
    "app": pages,
    "map": filter_map,
    "predict": prediction,
    "desk": answers,
    "streaming": streaming,
    "load": load,
    "pairs": pairs_tried,
    "peers": peers,
}
"""What measures the rows of each, with fewer repetitions where it is called with True."""
BY_NAME_ALONE = ("load", "pairs", "peers")
"""Half an hour of work, or beside others: only where it is asked for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.bench`."""
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--json", type=Path, default=Path("bench.json"), metavar="FILE", help="default: bench.json")
    parser.add_argument(
        "--add",
        action="store_true",
        help="leave the file's other benchmarks as they are: those measured now take the place of their own kind",
    )
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")


def run(args: argparse.Namespace) -> int:
    """Measure, print, write."""
    for name in args.names:
        if name not in BENCHMARKS:
            raise RunError(f"there is no benchmark {name!r}; choose from {', '.join(BENCHMARKS)}")
    check_writable(args.json, "--json")
    runs = kept_runs(args.json) if args.add and args.json.exists() else []
    load = os.getloadavg()[0]
    names = args.names or [name for name in BENCHMARKS if name not in BY_NAME_ALONE]
    measured = {name: BENCHMARKS[name](args.quick) for name in names}
    machine: JsonObject = {
        "device": device_name(torch.device("cpu")),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "load_before": load,
        "date": date.today().isoformat(),
    }
    print(f"{machine['device']}, {machine['threads']} threads, torch {machine['torch']}")
    if machine["load_before"] > 0.5 * (machine["cores"] or 1):
        print(f"the machine was busy (load {machine['load_before']:.1f}): these times say little")
    print()
    print(text([row.cells for rows in measured.values() for row in rows]))
    runs = [run.without(names) for run in runs] + [MeasuredRun(machine, measured)]
    write_whole(args.json, json_text({"runs": [run.to_dict() for run in runs if run.benchmarks]}))
    return 0
