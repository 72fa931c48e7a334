"""Predictions of a stream: memory by its length, time by its forward passes, and a cluster of two workers by one."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from core.checkpoint import load_named
from core.cluster import on_loopback
from core.data import Stream
from core.errors import RunError
from core.evaluation.parts import parts
from core.evaluation.predict import logits, prepare_rows
from core.json_types import JsonObject
from trainers.__main__ import main
from trainers.bench.row import Row
from trainers.bench.tokens import sentences

MODEL = "nli-attconv-light"
LABELS = ("entailment", "neutral", "contradiction")
FEW, MANY = 1_000, 100_000
_RUN = """
import re, sys
from pathlib import Path
from trainers.__main__ import main
status = main(sys.argv[1:])
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
sys.exit(status)
"""
"""Not ru_maxrss, which begins with what the process that started this one took."""


def streaming(quick: bool) -> list[Row]:
    """Memory of `predict` for ``FEW`` and ``MANY`` rows, each in a process of its own; the time of ``MANY`` from the
    first row read to the last part written by that of the forward passes alone; and a Ray cluster of two workers by one
    of one, each with the checkpoint loaded. All with one thread for the passes."""
    rows, threads = MANY // 10 if quick else MANY, torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            few, many = (_file(folder / f"{count}.jsonl", count) for count in (FEW, rows))
            return [*_memory(few, many, rows), *_by_passes(many, rows), *_by_workers(few, many, rows)]
    finally:
        torch.set_num_threads(threads)


def _memory(few: Path, many: Path, rows: int) -> list[Row]:
    small, large = (_megabytes(file) for file in (few, many))
    return [
        Row(f"predict, memory for {FEW:,} rows", small, "MB", 650),
        Row(f"predict, memory for {rows:,} rows", large, "MB", 650),
        Row("the same, more than for the few", large - small, "MB", 50),
    ]


def _megabytes(file: Path) -> float:
    """The most that a process took."""
    command = [sys.executable, "-c", _RUN, "predict", MODEL, str(file), "--out", f"{file}-parts/", "--device", "cpu"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def _by_passes(file: Path, rows: int) -> list[Row]:
    checkpoint, alone = load_named(MODEL), 0.0
    for part in parts(Stream(file, labelled=False)):
        ready = prepare_rows(checkpoint, part.dataset)
        assert len(ready.vectors)  # read before the clock starts
        started = time.perf_counter()
        logits(ready)
        alone += time.perf_counter() - started
    whole = _seconds(file)
    note = f"{rows / whole:,.0f} rows/s; forward passes alone {rows / alone:,.0f}"
    return [Row(f"predict {rows:,} rows, time by forward passes", whole / alone, "x", 1.3, note=note)]


def _by_workers(few: Path, many: Path, rows: int) -> list[Row]:
    name, bar = "predict --ray, two workers by one", 1.7
    if importlib.util.find_spec("ray") is None:
        return [Row(name, None, "x", bar, False, "no Ray here: make cluster")]
    one, two = (_in_cluster(workers, few, many) for workers in (1, 2))
    return [Row(name, one / two, "x", bar, False, f"{rows / two:,.0f} rows/s; one worker {rows / one:,.0f}")]


def _in_cluster(workers: int, few: Path, many: Path) -> float:
    """Seconds for the many rows in a cluster on this machine, after the few, which load the checkpoint."""
    on_loopback()
    from ray.cluster_utils import Cluster

    node: JsonObject = {"object_store_memory": 200_000_000, "node_ip_address": "127.0.0.1", "num_cpus": 1}
    nodes = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        for _ in range(workers - 1):
            nodes.add_node(**node)
        _seconds(few, "--ray", nodes.address)
        return _seconds(many, "--ray", nodes.address)
    finally:
        nodes.shutdown()  # type: ignore[no-untyped-call]


def _seconds(file: Path, *more: str) -> float:
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as told:
        started = time.perf_counter()
        status = main(["predict", MODEL, str(file), "--out", f"{folder}/parts/", "--device", "cpu", *more])
        seconds = time.perf_counter() - started
    if status:
        raise RunError(told.getvalue().strip().splitlines()[-1])
    return seconds


def _file(path: Path, rows: int) -> Path:
    """Made-up pairs, each with an id of its own; the same sentences come again."""
    texts = sentences(20_100)
    with path.open("w", encoding="utf-8") as file:
        for i in range(rows):
            pair = {"sentence1": texts[2 * i % 20_000], "sentence2": texts[(2 * i + 1) % 20_000]}
            file.write(json.dumps({"gold_label": LABELS[i % 3], **pair, "pairID": f"row-{i}"}) + "\n")
    return path
