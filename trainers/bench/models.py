"""Speed of models and commands: explanations, effects, training steps, and predictions of a stream."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.checkpoint import PRETRAINED, Checkpoint, load_named
from core.data import Example, Stream
from core.effects import Question
from core.effects.words import DROPPED, TAKEN_AWAY
from core.errors import RunError
from core.evaluation.encoding import Encoded, Ragged, Vocabulary
from core.evaluation.parts import parts
from core.evaluation.predict import logits, prepare_rows
from core.explain import explain
from core.reading.word_table import WordTable, default_table
from trainers import loop, set_up
from trainers import recipe as recipes
from trainers.__main__ import main
from trainers.loop import TrainingRun
from trainers.training_data import TrainingData


class Unmeasured(Exception):
    """Nothing could be measured; the message names in a few words what is missing."""


@dataclass(frozen=True)
class Measurement:
    """A measured value and its threshold."""

    name: str
    value: float | None
    """None if it could not be measured; ``note`` gives the reason."""
    unit: str
    bar: float | None
    """None for a value without a threshold."""
    at_most: bool = True
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the threshold is met; None without a measurement or a threshold."""
        if self.value is None or self.bar is None:
            return None
        return self.value <= self.bar if self.at_most else self.value >= self.bar

    @property
    def cells(self) -> dict[str, str]:
        """The cells of a table row."""
        measured = "-" if self.value is None else f"{self.value:.3g} {self.unit}"
        bar = "–" if self.bar is None else f"{'≤' if self.at_most else '≥'} {self.bar:g} {self.unit}"
        kept = {True: "yes", False: "no", None: "not measured" if self.value is None else "–"}[self.met]
        return {"what": self.name, "measured": measured, "bar": bar, "kept": kept, "note": self.note}


def medians(forms: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """Median time of each callable in ms. They are measured alternately, so that load affects all of them equally,
    after one warm-up round."""
    times: list[list[float]] = [[] for _ in forms]
    for turn in range(repeats + 1):
        for taken, compute in zip(times, forms, strict=True):
            started = time.perf_counter()
            compute()
            if turn:
                taken.append((time.perf_counter() - started) * 1000)
    return [statistics.median(taken) for taken in times]


def by_product(name: str, bar: float, compute: Callable[[], object], repeats: int) -> Measurement:
    """The time of a computation relative to a 1024³ float32 product."""
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    ours, product = medians((compute, lambda: torch.mm(a, b)), repeats)
    return Measurement(name, ours / product, "x", bar, note=f"{ours:.1f} and {product:.1f} ms, medians of {repeats}")


EXPLAINED = ("nli-two-sided", "nli-attconv-light", "nli-attconv-advanced", "nli-esim", "nli-abcnn", "fever-attconv")
PHRASES = "te-phrases-kmin"
"""Its threshold is higher: 30 words have 435 phrases."""
EFFECTS = "nli-two-sided"


def explanations(quick: bool) -> list[Measurement]:
    """Explaining a pair of 30 + 30 words with all records."""
    rows = []
    for model in (*EXPLAINED, PHRASES):
        compute = functools.partial(explain, load_named(model), *word_pair(load_named(model), 30, 30))
        name, bar = f"explain 30 x 30 words, {model}", 5 if model == PHRASES else 2
        rows.append(by_product(name, bar, compute, 5 if quick else 40))
    return rows


def effects(quick: bool) -> list[Measurement]:
    """Dropping the words of a pair, the combined removal method, and the links of its maps."""
    checkpoint = load_named(EFFECTS)
    pair, long_pair = word_pair(checkpoint, 20, 12), word_pair(checkpoint, 40, 40)
    cases = (
        ("20 + 12 words dropped", 4, lambda: Question(checkpoint, *pair).words(DROPPED)),
        ("20 + 12 words taken away", 30, lambda: Question(checkpoint, *pair).words(TAKEN_AWAY)),
        ("all links of 20 x 12 words", 22, lambda: Question(checkpoint, *pair).links()),
        (
            "all links of 40 x 40 words",
            300,
            lambda: Question(checkpoint, *long_pair).links(),
        ),
    )
    return [by_product(f"{name}, {EFFECTS}", bar, compute, 2 if quick else 8) for name, bar, compute in cases]


ROUTED = ("nli-two-sided", "nli-attconv-advanced", "nli-esim", "nli-word-by-word", "snli-phrases-kmin")
LAYERED = "guest-minilm"


def routes(quick: bool) -> list[Measurement]:
    """The routes of the difference between two versions of a pair of 12 + 10 words."""
    rows = []
    for name, bar in (*((name, 12) for name in ROUTED), (LAYERED, 400)):  # 150 ms and 5 s on two quiet cores
        checkpoint = load_named(name)
        first, second = word_pair(checkpoint, 12, 10)
        asked, (word, other) = Question(checkpoint, first, second), first.split()[:2]
        compute = functools.partial(asked.routes, first, second.replace(word, other, 1))
        rows.append(by_product(f"routes of 12 + 10 words, {name}", bar, compute, 2 if quick else 8))
    return rows


def word_pair(checkpoint: Checkpoint, words: int, others: int) -> tuple[str, str]:
    """Two texts of ``words`` and ``others`` words. The second consists of every other word from the most frequent ones,
    so half of its first words also occur in the first text."""
    vocabulary = [word for word in checkpoint.words.words[:400] if word.isalpha()]
    return " ".join(vocabulary[:words]), " ".join(vocabulary[: 2 * others : 2])


def sentences(count: int) -> list[str]:
    """Distinct synthetic sentences with English-like word frequencies, clitics and full stops."""
    random = np.random.default_rng(0)
    words = default_table().words
    # Zipf's law: the n-th word is sampled with probability proportional to 1 / n.
    chances = 1 / np.arange(1, len(words) + 1)
    drawn = random.choice(words, size=(count, 12), p=chances / chances.sum()).tolist()
    texts = (f"{' '.join(row[:6]).capitalize()}, {' '.join(row[6:])} doesn't." for row in drawn)
    return list(dict.fromkeys(texts))


BATCH = 256
SHARES = {"nli-attconv-light": 60, "nli-two-sided": 67}
"""Thresholds in per cent; the other models have none."""


def training(quick: bool) -> list[Measurement]:
    """FLOP rate of a training step for every entailment recipe with a shipped checkpoint, relative to the rate of a
    1024³ float32 product.

    torch's flop counter counts the work, forward and backward. Batches are planned by length as in training, so there
    is little padding. Lengths are sampled like SNLI's (premise 14 words, hypothesis 8). The time covers the whole step:
    batch, loss, backward, clipping, optimizer and running mean.
    """
    words, data = made_up((12 if quick else 40) * BATCH)
    shipped = [name for name in recipes.names() if (PRETRAINED / name / "card.json").is_file()]
    return [training_share(name, words, data) for name in shipped if name.startswith("nli-")]


def training_share(name: str, words: WordTable, data: TrainingData) -> Measurement:
    """The rate of a recipe's training step, in per cent of the product's."""
    recipe = recipes.load(name, [f"batch_size={BATCH}", "init=''", "init_classifier=false", "teachers=[]"])
    with tempfile.TemporaryDirectory() as folder:
        run = loop.ready(recipe, data, words, set_up.Options(Path(folder), device="cpu", precision="32"))
    run.net.train()
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    steps, products = [], []
    for i, rows in enumerate(run.batches(0)):
        started = time.perf_counter()
        run.step(rows)
        between = time.perf_counter()
        run.progress.step += 1
        torch.mm(a, b)
        if i >= 3:
            steps.append((rows, between - started))
            products.append(2 * 1024**3 / (time.perf_counter() - between))
    # Counted afterwards, because counting takes time.
    seconds = sum(taken for _, taken in steps)
    rate, product = sum(work(run, rows) for rows, _ in steps) / seconds, statistics.median(products)
    note = f"{rate / 1e9:.0f} of {product / 1e9:.0f} GFLOP/s, {BATCH * len(steps) / seconds:,.0f} pairs/s"
    what = f"training {name}, batch {BATCH}, of a 1024³ product"
    return Measurement(what, 100 * rate / product, "%", SHARES.get(name), False, note)


def made_up(pairs: int) -> tuple[WordTable, TrainingData]:
    """A word table of 20,000 random rows (160 dimensions), and pairs of random words with SNLI-like lengths."""
    random = np.random.default_rng(0)
    names = [f"w{i}" for i in range(20_000)]
    words = WordTable.from_vectors(names, torch.randn(len(names), 160) * 0.3, 1.0, "random words")
    vocabulary = Vocabulary()
    vocabulary.ids = {name: i + 1 for i, name in enumerate(names)}

    def side(mean: float) -> Ragged:
        lengths = np.clip(random.gamma(6.0, mean / 6.0, pairs).round().astype(int), 2, 80)
        return Ragged.of(random.integers(1, len(names) + 1, n) for n in lengths)

    labels = random.integers(0, 3, pairs)
    encoded = Encoded(side(14.1), (side(8.3),), torch.from_numpy(labels), torch.ones(pairs))
    classes = ("entailment", "neutral", "contradiction")
    rows = tuple(Example(str(number), "", "", classes[label]) for number, label in enumerate(labels))
    taught = torch.ones(pairs, dtype=torch.bool)
    return words, TrainingData(encoded, encoded, rows, rows, {}, vocabulary, taught, (), "made up")


def work(run: TrainingRun, rows: np.ndarray) -> int:
    """FLOPs of the products in a step on these rows, forward and backward."""
    rnn = torch.ops.aten.mkldnn_rnn_layer, torch.ops.aten.mkldnn_rnn_layer_backward
    counter = FlopCounterMode(display=False, custom_mapping={rnn[0]: _recurrent, rnn[1]: _recurrent_backward})
    with counter:
        run.step(rows)
    return counter.get_total_flops()


def _recurrent(words: Sequence[int], inputs: Sequence[int], states: Sequence[int], *args: object, **_: object) -> int:
    """FLOPs of oneDNN's recurrent layer from its argument shapes: words ``[T, B, D]``, input weights ``[G, D]`` and
    state weights ``[G, H]``; torch does not count them."""
    steps, batch, _width = words
    return 2 * steps * batch * (inputs[0] * inputs[1] + states[0] * states[1])


def _recurrent_backward(*shapes: Sequence[int], **_: object) -> int:
    """Twice the forward pass: the gradients of its inputs and of its weights."""
    return 2 * _recurrent(*shapes)


STREAMED = "nli-attconv-light"
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
"""Not ru_maxrss, which starts from the memory of the parent process."""


def streaming(quick: bool) -> list[Measurement]:
    """Memory of `predict` for ``FEW`` and ``MANY`` rows, each in a separate process; and the time for ``MANY``, from
    reading the first row to writing the last part, relative to the forward passes alone. All forward passes use one
    thread."""
    rows, threads = MANY // 10 if quick else MANY, torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as name:
            few, many = (pairs_file(Path(name, f"{count}.jsonl"), count) for count in (FEW, rows))
            small, large = _megabytes(few), _megabytes(many)
            return [
                Measurement(f"predict, memory for {FEW:,} rows", small, "MB", 650),
                Measurement(f"predict, memory for {rows:,} rows", large, "MB", 650),
                Measurement("the same, more than for the few", large - small, "MB", 50),
                _by_passes(many, rows),
            ]
    finally:
        torch.set_num_threads(threads)


def _megabytes(file: Path) -> float:
    """The peak memory of a process."""
    command = [sys.executable, "-c", _RUN, "predict", STREAMED, str(file), "--out", f"{file}-parts/", "--device", "cpu"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def _by_passes(file: Path, rows: int) -> Measurement:
    checkpoint, alone = load_named(STREAMED), 0.0
    for part in parts(Stream(file, labelled=False)):
        ready = prepare_rows(checkpoint, part.dataset)
        assert len(ready.vectors)  # loaded before the clock starts
        started = time.perf_counter()
        logits(ready)
        alone += time.perf_counter() - started
    whole = _seconds(file)
    note = f"{rows / whole:,.0f} rows/s; forward passes alone {rows / alone:,.0f}"
    return Measurement(f"predict {rows:,} rows, time by forward passes", whole / alone, "x", 1.3, note=note)


def _seconds(file: Path) -> float:
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as told:
        started = time.perf_counter()
        status = main(["predict", STREAMED, str(file), "--out", f"{folder}/parts/", "--device", "cpu"])
        seconds = time.perf_counter() - started
    if status:
        raise RunError(told.getvalue().strip().splitlines()[-1])
    return seconds


def pairs_file(path: Path, rows: int) -> Path:
    """Writes synthetic pairs in SNLI's layout, each with a unique id; sentences repeat after 20,000."""
    texts = sentences(20_100)
    with path.open("w", encoding="utf-8") as file:
        for i in range(rows):
            pair = {"sentence1": texts[2 * i % 20_000], "sentence2": texts[(2 * i + 1) % 20_000]}
            file.write(json.dumps({"gold_label": LABELS[i % 3], **pair, "pairID": f"row-{i}"}) + "\n")
    return path
