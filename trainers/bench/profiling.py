"""What the time of a training step is spent on, by kind of operation."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Sequence

import torch
from torch.profiler import ProfilerActivity, profile

from core.reading.word_table import WordTable
from trainers.bench.row import Row
from trainers.bench.training import BATCH, made_up, ready, work
from trainers.training_data import TrainingData

NAMES = ("nli-two-sided", "nli-attconv-light")
"""The shipped default, and the one whose step is nearest to a product's rate."""
KINDS = {
    "products": ("mm", "addmm", "bmm", "baddbmm", "mv", "dot", "mkldnn_", "convolution", "_slow_conv"),
    "dropout masks": ("bernoulli_", "native_dropout", "rand"),
    "copies and fills": (
        *("copy_", "cat", "clone", "fill_", "zero_", "masked_fill", "index", "gather", "scatter", "embedding"),
        *("constant_pad", "as_strided", "empty", "slice", "select"),
    ),
    "sums and maxima": (
        "sum",
        "mean",
        "max",
        "amax",
        "argmax",
        "norm",
        "linalg_",
        "_softmax",
        "_log_softmax",
        "cumsum",
    ),
    "optimizer and running mean": ("_fused_", "_foreach_", "lerp"),
}
"""Beginnings of the names of torch's operations by kind; what is none of them works number by number, or is told as
Python's and autograd's own."""
ELEMENTWISE, REST = "number by number", "Python and autograd"


def step_profile(quick: bool) -> list[Row]:
    """Shares of the time of a training step of ``NAMES`` in float32 on one thread, by torch's profiler, and the rate of
    the products alone as a share of that of a 1024³ product: what a step would have if all else took no time."""
    words, data = made_up((6 if quick else 14) * BATCH)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [row for name in NAMES for row in _rows(name, words, data)]
    finally:
        torch.set_num_threads(threads)


def _rows(name: str, words: WordTable, data: TrainingData) -> list[Row]:
    run = ready(name, words, data)
    batches = run.batches(0)
    for rows in batches[:3]:
        run.step(rows)
        run.progress.step += 1
    product = _product()
    with profile(activities=[ProfilerActivity.CPU]) as found:
        for rows in batches[3:]:
            run.step(rows)
    spent = by_kind([(event.key, event.self_cpu_time_total / 1e6) for event in found.key_averages()])
    total, largest_first = sum(spent.values()), sorted(spent.items(), key=lambda item: -item[1])
    rate = sum(work(run, rows) for rows in batches[3:]) / spent["products"]
    out = [Row(f"step of {name}: {kind}", 100 * seconds / total, "%", None) for kind, seconds in largest_first]
    note = f"{rate / 1e9:.0f} of {product / 1e9:.0f} GFLOP/s; the rest of the step left out"
    return [*out, Row(f"products of {name} alone, of a 1024³ product", 100 * rate / product, "%", None, note=note)]


def by_kind(spent: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Seconds of operations by kind."""
    out: defaultdict[str, float] = defaultdict(float)
    for name, seconds in spent:
        operation = name.removeprefix("aten::")
        kind = next((kind for kind, own in KINDS.items() if operation.startswith(own)), None)
        out[kind or (ELEMENTWISE if name.startswith("aten::") else REST)] += seconds
    return out


def _product() -> float:
    """FLOP a second of a 1024³ product."""
    a, b, times = torch.randn(1024, 1024), torch.randn(1024, 1024), list[float]()
    for _ in range(12):
        started = time.perf_counter()
        torch.mm(a, b)
        times.append(time.perf_counter() - started)
    return 2.0 * 1024**3 / statistics.median(times)
