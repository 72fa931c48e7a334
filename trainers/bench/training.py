"""Speed of a training step of light beside that of one large product."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.evaluation.encoding import Encoded, Ragged, Vocabulary
from core.models import build
from core.reading.batch import Batch
from core.reading.tokens import tokenize
from core.reading.word_table import WordTable
from trainers import loop, set_up
from trainers import recipe as recipes
from trainers.bench.row import Row
from trainers.recipe import Recipe
from trainers.training_data import TrainingData

BATCH = 256


def training(quick: bool) -> list[Row]:
    """Rate of a training step of light as a share of the rate of a 1024³ float32 product, measured in turns.

    Work is counted by torch's flop counter, forward and backward, on real tokens only: what padding costs is lost.
    Lengths are drawn like SNLI's (premise 14 words, hypothesis 8). The time is that of the whole step: batch, loss,
    backward, clipping, optimizer and running mean.
    """
    recipe = recipes.load("nli-attconv-light", [f"batch_size={BATCH}"])
    words, data = made_up(40 * BATCH if quick else 150 * BATCH)
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
    pairs = BATCH * len(rates) / sum(t for _, t in rates)
    note = f"{rate / 1e9:.0f} of {product_rate / 1e9:.0f} GFLOP/s, {pairs:,.0f} pairs/s"
    return [Row("training light, batch 256, of a 1024³ product", 100 * rate / product_rate, "%", 60, False, note)]


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
    return words, TrainingData(
        encoded, encoded, {}, vocabulary, torch.ones(len(encoded.labels), dtype=torch.bool), (), "made up"
    )


def counted_work(recipe: Recipe, width: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """FLOP of a pair, forward and backward, as a function of its lengths x and y.

    Every product of the model is bilinear in the two lengths, so four counts by torch's flop counter on single pairs
    without padding give the work of all: a + b·x + c·y + d·x·y.
    """
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
