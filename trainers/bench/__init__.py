"""Measure the speeds that PairLens promises; prints a table and writes JSON.

    python -m trainers bench
    python -m trainers bench training explain --json speeds.json
    python -m trainers bench load --json docs/speed.json

Whenever possible, a speed is the ratio of two times measured alternately, so that it is comparable across machines.
These are measurements, not tests: on a busy machine the numbers are useless. Measurements:

    explain      the explanation of a pair, by a 1024³ float32 product
    verdict      in a browser, from Enter to the verdict and to the words, by the explanation and an empty rerun
    effects      what words and attention links do to a verdict, by the same product
    routes       which parts of a model carry the difference between two versions of a pair
    training     the FLOP rate of a training step of every shipped nli-* model, as a share of the product's
    streaming    predict: its memory by the number of rows, its time by the forward passes alone
    load         1, 20, 50 and 100 visitors that each open a pair every five seconds (half an hour: only by name)
    first-page   pages of a new server and of a second visitor, by an empty Streamlit page
    motion       the longest frame while a lesson's numbers travel
    api          word effects over HTTP while other clients keep the server busy, by those alone
    crowd        a newcomer's answer and page while twenty clients keep forty long requests open; the server's memory
    room         a class of a hundred phones in a room, alone and with one that floods; the server's memory
    adapt        adapting a model to 200 and 3,000 pairs; the memory of a fit to 50,000
    desk         the Error desk's filters, slices, matrix and labelling of 10,000 and a million rows, and its memory
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path

import torch

from core.errors import RunError
from core.files import check_writable, json_text, write_whole
from core.json_types import JsonObject
from trainers.bench import adapting, app, crowd, desk, models, room, visitors
from trainers.bench.models import Measurement, Unmeasured
from trainers.card import device_name
from trainers.tables import text

MEASUREMENTS: dict[str, Callable[[bool], Sequence[Measurement]]] = {
    "explain": models.explanations,
    "verdict": app.verdict,
    "effects": models.effects,
    "routes": models.routes,
    "training": models.training,
    "streaming": models.streaming,
    "load": visitors.load,
    "first-page": app.first_page,
    "motion": app.motion,
    "api": visitors.shared,
    "crowd": crowd.crowd,
    "room": room.room,
    "adapt": adapting.adapting,
    "desk": desk.desk,
}
"""The function for each measurement; its argument True reduces the repetitions."""
ONLY_BY_NAME = ("load",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers bench`."""
    known = f"which ones: {', '.join(MEASUREMENTS)} (default: all but {', '.join(ONLY_BY_NAME)})"
    parser.add_argument("names", nargs="*", metavar="NAME", help=known)
    help_json = "where to write; other measurements in the file are kept (default: bench.json)"
    parser.add_argument("--json", type=Path, default=Path("bench.json"), metavar="FILE", help=help_json)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")


def run(args: argparse.Namespace) -> int:
    """Measure, print, write."""
    for name in args.names:
        if name not in MEASUREMENTS:
            raise RunError(f"unknown measurement {name!r}; choose from {', '.join(MEASUREMENTS)}")
    check_writable(args.json, "--json")
    earlier = stored_runs(args.json) if args.json.exists() else []
    load = os.getloadavg()[0]
    names = args.names or [name for name in MEASUREMENTS if name not in ONLY_BY_NAME]
    measured = {name: _measured(name, args.quick) for name in names}
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
    if load > 0.5 * (machine["cores"] or 1):
        print(f"the machine was busy (load {load:.1f}): these numbers say little")
    print()
    print(text([row.cells for rows in measured.values() for row in rows]))
    rows = {name: [{**asdict(row), "met": row.met} for row in measured[name]] for name in measured}
    for stored in earlier:
        stored["benchmarks"] = {name: old for name, old in stored["benchmarks"].items() if name not in measured}
    runs = [stored for stored in earlier if stored["benchmarks"]] + [{"machine": machine, "benchmarks": rows}]
    write_whole(args.json, json_text({"runs": runs}))
    return 0


def _measured(name: str, quick: bool) -> Sequence[Measurement]:
    try:
        return MEASUREMENTS[name](quick)
    except Unmeasured as error:
        return [Measurement(name, None, "", None, note=str(error))]


def stored_runs(path: Path) -> list[JsonObject]:
    """The runs in a file written by this command, each with its ``machine`` and, by measurement, its ``benchmarks``.
    Raises RunError for any other file."""
    try:
        runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
        for stored in runs:
            _ = stored["machine"], [row_of(row) for rows in stored["benchmarks"].values() for row in rows]
        return list(runs)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise RunError(f"{path.parent.name}/{path.name} is not a readable JSON of speeds: make it again") from None


def row_of(stored: JsonObject) -> Measurement:
    """A row as stored in the file."""
    return Measurement(**{key: value for key, value in stored.items() if key != "met"})
