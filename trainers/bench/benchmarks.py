"""Measure the speeds that PairLens promises; prints a table and writes JSON.

    python -m trainers.bench
    python -m trainers.bench training explain-light --json speeds.json

It is a measurement, not a test: on a busy machine its times are of no use. Benchmarks:
explain-light, explain-advanced and explain-phrases (one pair of 30 x 30 words; the first two also of 60 x 60), verdict
(explain-phrases without a record), phrases
(phrase states against rotated copies read by torch.nn.GRU), filters (a training step of M-ACNN against M-CNN's, and the
convolution with each text's own filters against a loop of conv1d), tokens (against the same rules by one pattern for
all scripts, without memory), training (light at batch 256), threads (training on all cores, alone and beside a busy
process, with threads that sleep soon and as libgomp has them), rivals (steps of ESIM and ABCNN against plain forms,
explanations of a pair), app (first page, visits, click and verdict beside an empty Streamlit page, and memory), map (a
new text on the filter map), predict (10,000 pairs from file to run against the forward passes alone), desk (the Error
desk's answer to a filter and to a click, with 10,000 rows).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.checkpoint import available, load_named
from core.errors import RunError
from core.evaluation.encoding import Encoded, Ragged, Vocabulary
from core.evidence import Record
from core.explain import explain
from core.files import check_writable, whole_file
from core.filter_map.map import FilterMap, available_map, codes_of
from core.reading.batch import Batch
from core.reading.tokens import tokenize
from core.reading.word_table import WordTable
from trainers import recipe as recipes
from trainers.bench import app as bench_app
from trainers.bench import desk as bench_desk
from trainers.bench import filters as bench_filters
from trainers.bench import phrases as bench_phrases
from trainers.bench import rivals as bench_rivals
from trainers.bench import threads as bench_threads
from trainers.bench import tokens as bench_tokens
from trainers.bench.row import Row
from trainers.card import device_name
from trainers.recipe import Recipe
from trainers.training_data import TrainingData

TRAINING_BATCH = 256
RIVALS = ("nli-abcnn", "nli-apcnn", "nli-bicnn", "nli-decomposable", "nli-esim", "sentiment-attconv", "fever-attconv")
MAPPED = "topic-acnn"
"""The checkpoint whose filter map is measured."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.bench`."""
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--json", type=Path, default=Path("bench.json"), metavar="FILE", help="default: bench.json")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")


def run(args: argparse.Namespace) -> int:
    """Measure, print, write."""
    for name in args.names:
        if name not in BENCHMARKS:
            raise RunError(f"there is no benchmark {name!r}; choose from {', '.join(BENCHMARKS)}")
    check_writable(args.json, "--json")
    load = os.getloadavg()[0]
    rows: list[Row] = []
    for name in args.names or BENCHMARKS:
        rows += BENCHMARKS[name](args.quick)
    machine: dict[str, Any] = {
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
    print(f"{'what':<46}{'measured':>14}{'bar':>14}   kept")
    for row in rows:
        note = f"  {row.note}" if row.note else ""
        print(f"{row.name:<46}{row.measured:>14}{row.required:>14}   {row.outcome}{note}")
    record = {"machine": machine, "rows": [{**asdict(row), "met": row.met} for row in rows]}
    with whole_file(args.json) as scratch:
        scratch.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def explain_speed(
    model: str,
    quick: bool,
    bars: tuple[tuple[int, int], ...] = ((30, 20), (60, 60)),
    records: tuple[type[Record], ...] | None = None,
) -> list[Row]:
    """Median time of :func:`core.explain.explain` on one pair of so many words a side, with its bar in ms.
    ``records``: the types that are wanted, None all."""
    rows = []
    for words, bar in bars:
        what = f"explain {words} x {words} words, {model}{' alone' if records == () else ''}"
        if model not in available():
            rows.append(Row(what, None, "ms", bar, note="the checkpoint is not there"))
            continue
        checkpoint = load_named(model)
        # Every second of the most frequent words, so that the sides share half of theirs.
        vocabulary = [word for word in checkpoint.words.words[:400] if word.isalpha()]
        first, second = " ".join(vocabulary[:words]), " ".join(vocabulary[: 2 * words : 2])
        times = []
        for i in range(30 if quick else 150):
            started = time.perf_counter()
            explanation = explain(checkpoint, first, second, records=records)
            if i >= 10:
                times.append((time.perf_counter() - started) * 1000)
        assert len(explanation.second.tokens) == words
        rows.append(Row(what, statistics.median(times), "ms", bar, note=f"median of {len(times)}"))
    return rows


def training_speed(quick: bool) -> list[Row]:
    """Rate of a training step of light as a share of the rate of a 1024³ float32 product, measured in turns.

    Work is counted by torch's flop counter, forward and backward, on real tokens only: what padding costs is lost.
    Lengths are drawn like SNLI's (premise 14 words, hypothesis 8). The time is that of the whole step: batch, loss,
    backward, clipping, optimizer and running mean.
    """
    from trainers import loop, set_up

    recipe = recipes.load("nli-attconv-light", [f"batch_size={TRAINING_BATCH}"])
    words, data = made_up(40 * TRAINING_BATCH if quick else 150 * TRAINING_BATCH)
    with tempfile.TemporaryDirectory() as folder:
        run = loop.ready(recipe, data, words, set_up.Options(Path(folder), device="cpu", precision="32"))
    work = counted_work(recipe, words.width)
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    run.net.train()
    rates, products = [], []
    batches = run.batches(0)
    for i, rows in enumerate(batches):
        started = time.perf_counter()
        run.step(rows)
        run.progress.step += 1
        taken = time.perf_counter() - started
        started = time.perf_counter()
        torch.mm(a, b)
        product = time.perf_counter() - started
        if i >= 5:
            y, x = (texts.lengths[rows] for texts in (data.train.first, *data.train.contexts))
            rates.append((float(work(x, y).sum()), taken))
            products.append(2 * 1024**3 / product)
    rate, product_rate = sum(w for w, _ in rates) / sum(t for _, t in rates), statistics.median(products)
    pairs = TRAINING_BATCH * len(rates) / sum(t for _, t in rates)
    note = f"{rate / 1e9:.0f} of {product_rate / 1e9:.0f} GFLOP/s, {pairs:,.0f} pairs/s"
    return [Row("training light, batch 256, of a 1024³ product", 100 * rate / product_rate, "%", 60, False, note)]


def thread_speed(quick: bool) -> list[Row]:
    """Training on all cores with threads that soon fall asleep, by its speed with threads that spin as libgomp has it:
    on a machine that does nothing else, and beside one busy process."""
    names = ("training two-sided, times libgomp's spinning", "the same beside a busy process")
    bars = (0.9, 1.2)
    if (os.cpu_count() or 1) < 2:
        return [Row(name, None, "x", bar, False, "one core") for name, bar in zip(names, bars, strict=True)]
    own, theirs = bench_threads.rates(1 if quick else 5, 2 if quick else 4)
    return [
        Row(name, ours / spinning, "x", bar, False, f"{ours:,.0f} pairs/s; spinning {spinning:,.0f}")
        for name, bar, ours, spinning in zip(names, bars, own, theirs, strict=True)
    ]


def phrase_speed(quick: bool) -> list[Row]:
    """Phrase states of a batch against the paper's rotated copies, in one run."""
    ratio, fast, slow = bench_phrases.speed_up(3 if quick else 15)
    what = f"phrase states, {bench_phrases.PAIRS} pairs of {bench_phrases.WORDS} words, times faster"
    return [Row(what, ratio, "x", 5, False, f"{fast:.0f} ms; rotated copies by nn.GRU {slow:,.0f} ms")]


def token_speed(quick: bool) -> list[Row]:
    """Tokens of distinct sentences against the same rules written plainly, in one run."""
    ratio, fast, slow = bench_tokens.speed_up(3 if quick else 15)
    return [
        Row("tokens, times faster than plain rules", ratio, "x", 4, False, f"{fast:,.0f} a second; plainly {slow:,.0f}")
    ]


def filter_speed(quick: bool) -> list[Row]:
    """A training step of M-ACNN beside M-CNN's against their work, and one product against a loop of conv1d."""
    step = bench_filters.step_ratio(5 if quick else 20)
    ratio, fast, slow = bench_filters.against_loop(3 if quick else 15)
    note = f"{step.time:.2f} x the time of M-CNN's step ({step.adaptive_ms:.0f} and {step.basic_ms:.0f} ms), "
    texts = bench_filters.TEXTS
    return [
        Row(
            f"step of M-ACNN, batch {texts}, time by multiply-adds",
            step.time / step.work,
            "x",
            1.3,
            note=f"{note}{step.work:.2f} x its multiply-adds",
        ),
        Row(
            f"filters of {texts} texts, times faster than a loop",
            ratio,
            "x",
            3,
            False,
            f"{fast:.0f} ms; conv1d text by text {slow:,.0f} ms",
        ),
    ]


def rival_speed(quick: bool) -> list[Row]:
    """Training steps of ESIM and ABCNN against plain forms, and the rivals' explanations of a pair, each in one run."""
    repeats = 5 if quick else 25
    rows = []
    for name, measure, bar, plain in (
        ("step of ESIM, batch 128, times faster", bench_rivals.esim, 1.3, "packed nn.LSTM, a call a side"),
        ("step of ABCNN, 30 x 30 words, times faster", bench_rivals.abcnn, 3, "a loop over positions"),
    ):
        ratio, fast, slow = measure(repeats)
        rows.append(Row(name, ratio, "x", bar, False, f"{fast:.0f} ms; {plain} {slow:,.0f} ms"))
    for model in RIVALS:
        what = f"explain 30 x 30 words, {model}, of a 1024³ product"
        if model not in available():
            rows.append(Row(what, None, "x", 8, note="the checkpoint is not there"))
            continue
        ratio, taken, product = bench_rivals.explaining(load_named(model), 30, repeats)
        rows.append(Row(what, ratio, "x", 8, note=f"{taken:.1f} and {product:.1f} ms"))
    return rows


def made_up(pairs: int) -> tuple[WordTable, TrainingData]:
    """A word table of 20,000 random rows (160 wide) and pairs of random words with lengths like SNLI's."""
    random = np.random.default_rng(0)
    names = [f"w{i}" for i in range(20_000)]
    words = WordTable.from_vectors(names, torch.randn(len(names), 160) * 0.3, 1.0, "random words")
    vocabulary = Vocabulary(tokenize)
    vocabulary.ids = {name: i + 1 for i, name in enumerate(names)}

    def side(mean: float) -> Ragged:
        lengths = np.clip(random.gamma(6.0, mean / 6.0, pairs).round().astype(int), 2, 80)
        return Ragged.of(random.integers(1, len(names) + 1, n) for n in lengths)

    encoded = Encoded(side(14.1), (side(8.3),), torch.from_numpy(random.integers(0, 3, pairs)), torch.ones(pairs))
    return words, TrainingData(encoded, encoded, {}, vocabulary, (), "made up")


def counted_work(recipe: Recipe, width: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """FLOP of a pair, forward and backward, as a function of its lengths x and y.

    Every product of the model is bilinear in the two lengths, so four counts by torch's flop counter on single pairs
    without padding give the work of all: a + b·x + c·y + d·x·y.
    """
    from core.models import build

    model = build(recipe.architecture, {**recipe.model, "input_size": width, "classes": len(recipe.labels)})
    places = [(4, 4), (4, 9), (11, 4), (11, 9)]
    counts = []
    for x, y in places:
        counter = FlopCounterMode(display=False)
        with counter:
            batch = Batch.of([torch.randn(y, width)], [torch.randn(x, width)])
            model(batch).logits.sum().backward()
        counts.append(counter.get_total_flops())
    a, b, c, d = np.linalg.solve([[1, x, y, x * y] for x, y in places], counts)
    return lambda x, y: a + b * x + c * y + d * x * y


PAGES = {"": ("Explore", 1.4), "phrases": ("Phrases", 2), "filter-map": ("Filter map", 2), "models": ("Models", 2)}
"""By address: a page's name, and how many times an empty Streamlit page it may take a second visitor."""


def app_speed(quick: bool) -> list[Row]:
    """The pages beside an empty Streamlit page in the same run, and the server's memory."""
    names = ["app: first page of a new server"]
    names += [f"app: {name}, a second visitor" for name, _ in PAGES.values()]
    names += ["app: a new verdict after Enter", "app: a click shown", "app: memory of a server"]
    units, bars = ["x", *["x"] * len(PAGES), "x", "ms", "GB"], [2.2, *[bar for _, bar in PAGES.values()], 3, 100, 1.2]
    repeats = 1 if quick else 3
    try:
        times = bench_app.pages(repeats)
    except bench_app.Unmeasured as error:
        return [Row(*row, note=str(error)) for row in zip(names, [None] * len(names), units, bars, strict=True)]
    explain_time = (explain_speed("nli-two-sided", True, ((8, 20),))[0].value or 0) / 1000  # as long as the typed pairs
    values = [times.first / times.empty_first, *(times.visits[page] / times.empty_visit for page in PAGES)]
    values += [(times.verdict - times.empty_rerun) / explain_time, times.click, times.memory]
    notes = [f"{times.first:.2f} s; of an empty Streamlit page {times.empty_first:.2f} s"]
    notes += [f"{times.visits[page]:.2f} s; of the empty page {times.empty_visit:.2f} s" for page in PAGES]
    notes += [
        f"times its explanation ({1000 * explain_time:.0f} ms) beyond an empty run, {1000 * times.empty_rerun:.0f} ms",
        "median of clicks on cells",
        f"largest of {repeats}",
    ]
    return [Row(*row[:4], note=row[4]) for row in zip(names, values, units, bars, notes, strict=True)]


def map_speed(quick: bool) -> list[Row]:
    """Milliseconds to read and place a text on a filter map, seconds from Enter until a browser draws its star."""
    names = ("filter map: a new text's place", "filter map: star after Enter")
    folder = available_map(load_named(MAPPED)) if MAPPED in available() else None
    if folder is None:
        return [
            Row(name, None, unit, bar, note="the map is not there")
            for name, unit, bar in ((names[0], "ms", 500), (names[1], "s", 1))
        ]
    checkpoint = load_named(MAPPED)
    filter_map, times = FilterMap.load(folder, checkpoint), []
    layout = next(iter(filter_map.layouts))
    for text in bench_app.TEXTS * (1 if quick else 3):
        started = time.perf_counter()
        filter_map.place(codes_of(checkpoint, [text]), layout)
        times.append((time.perf_counter() - started) * 1000)
    rows = [Row(names[0], statistics.median(times), "ms", 500, note=f"among {len(filter_map.items):,}")]
    try:
        seconds = bench_app.star(MAPPED)
    except bench_app.Unmeasured as error:
        return [*rows, Row(names[1], None, "s", 1, note=str(error))]
    return [*rows, Row(names[1], seconds, "s", 1, note=f"median of {len(bench_app.TEXTS)}")]


def predict_speed(quick: bool) -> list[Row]:
    """10,000 pairs from the file to the written run, by the time of the model's own forward passes on them."""
    times = [bench_desk.predicting("nli-attconv-light") for _ in range(1 if quick else 3)]
    whole, forward = (statistics.median(part) for part in zip(*times, strict=True))
    what = f"predicting {bench_desk.ROWS:,} pairs, time by forward passes"
    return [Row(what, whole / forward, "x", 3, note=f"{whole:.1f} s; forward passes alone {forward:.1f} s")]


def desk_speed(quick: bool) -> list[Row]:
    """The Error desk's answers with 10,000 rows; the bar is 3 x an empty Streamlit rerun + 200 ms."""
    names = ("error desk: rows of a filter", "error desk: rows of a matrix's cell")
    try:
        *times, empty = bench_desk.answers("nli-attconv-light")
    except bench_app.Unmeasured as error:
        return [Row(name, None, "ms", 200, note=str(error)) for name in names]
    note = f"an empty rerun {empty:.0f} ms"
    return [Row(name, value, "ms", round(3 * empty + 200), note=note) for name, value in zip(names, times, strict=True)]


BENCHMARKS: dict[str, Callable[[bool], list[Row]]] = {
    "explain-light": lambda quick: explain_speed("nli-attconv-light", quick),
    "explain-advanced": lambda quick: explain_speed("nli-attconv-advanced", quick),
    "explain-phrases": lambda quick: explain_speed("te-phrases-kmin", quick, ((30, 60),)),
    "verdict": lambda quick: explain_speed("te-phrases-kmin", quick, ((30, 20),), records=()),
    "phrases": phrase_speed,
    "filters": filter_speed,
    "tokens": token_speed,
    "training": training_speed,
    "threads": thread_speed,
    "rivals": rival_speed,
    "app": app_speed,
    "map": map_speed,
    "predict": predict_speed,
    "desk": desk_speed,
}
