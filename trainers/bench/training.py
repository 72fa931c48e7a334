"""Speed of a training step of each model for entailment beside that of one large product."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.checkpoint import PRETRAINED
from core.evaluation.encoding import Encoded, Ragged, Vocabulary
from core.reading.word_table import WordTable
from trainers import loop, set_up
from trainers import recipe as recipes
from trainers.bench.row import Row
from trainers.loop import TrainingRun
from trainers.training_data import TrainingData

BATCH = 256
SHARES = {"nli-attconv-light": 60, "nli-two-sided": 67}
"""What is asked of two: the share of light, and one and a half times what two-sided had in float32 on one thread."""


def training(quick: bool) -> list[Row]:
    """Rate of a training step of every recipe for entailment whose checkpoint is shipped, as a share of the rate of a
    1024³ float32 product, measured in turns.

    Work is counted by torch's flop counter, forward and backward. Batches are planned by length as in every training,
    so few of the words are pads. Lengths are drawn like SNLI's (premise 14 words, hypothesis 8). The time is that of
    the whole step: batch, loss, backward, clipping, optimizer and running mean.
    """
    words, data = made_up((12 if quick else 40) * BATCH)
    return [share(name, words, data) for name in shipped()]


def shipped() -> list[str]:
    """The recipes ``nli-*`` that have a checkpoint of their name, by name."""
    return [name for name in recipes.names() if name.startswith("nli-") and (PRETRAINED / name / "card.json").is_file()]


def share(name: str, words: WordTable, data: TrainingData) -> Row:
    """The row of one recipe, on these pairs."""
    recipe = recipes.load(name, [f"batch_size={BATCH}", "init=''", "init_classifier=false"])
    with tempfile.TemporaryDirectory() as folder:
        run = loop.ready(recipe, data, words, set_up.Options(Path(folder), device="cpu", precision="32"))
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    run.net.train()
    steps, products = [], []
    for i, rows in enumerate(run.batches(0)):
        started = time.perf_counter()
        run.step(rows)
        taken = time.perf_counter() - started
        run.progress.step += 1
        started = time.perf_counter()
        torch.mm(a, b)
        product = time.perf_counter() - started
        if i >= 3:
            steps.append((rows, taken))
            products.append(2 * 1024**3 / product)
    # Counted afterwards and once for each pair of lengths, as counting takes time of its own.
    rate = sum(work(run, rows) for rows, _ in steps) / sum(taken for _, taken in steps)
    product_rate = statistics.median(products)
    pairs = BATCH * len(steps) / sum(taken for _, taken in steps)
    note = f"{rate / 1e9:.0f} of {product_rate / 1e9:.0f} GFLOP/s, {pairs:,.0f} pairs/s"
    return Row(
        f"training {name}, batch {BATCH}, of a 1024³ product",
        100 * rate / product_rate,
        "%",
        SHARES.get(name),
        False,
        note,
    )


def made_up(pairs: int) -> tuple[WordTable, TrainingData]:
    """A word table of 20,000 random rows (160 wide) and pairs of random words with lengths like SNLI's."""
    random = np.random.default_rng(0)
    names = [f"w{i}" for i in range(20_000)]
    words = WordTable.from_vectors(names, torch.randn(len(names), 160) * 0.3, 1.0, "random words")
    vocabulary = Vocabulary()
    vocabulary.ids = {name: i + 1 for i, name in enumerate(names)}

    def side(mean: float) -> Ragged:
        lengths = np.clip(random.gamma(6.0, mean / 6.0, pairs).round().astype(int), 2, 80)
        return Ragged.of(random.integers(1, len(names) + 1, n) for n in lengths)

    encoded = Encoded(side(14.1), (side(8.3),), torch.from_numpy(random.integers(0, 3, pairs)), torch.ones(pairs))
    return words, TrainingData(
        encoded, encoded, {}, vocabulary, torch.ones(len(encoded.labels), dtype=torch.bool), (), "made up"
    )


def work(run: TrainingRun, rows: np.ndarray) -> int:
    """FLOP of a step's products on these rows, forward and backward."""
    rnn = torch.ops.aten.mkldnn_rnn_layer, torch.ops.aten.mkldnn_rnn_layer_backward
    counter = FlopCounterMode(display=False, custom_mapping={rnn[0]: _recurrent, rnn[1]: _recurrent_backward})
    with counter:
        run.step(rows)
    return counter.get_total_flops()


def _recurrent(words: Sequence[int], inputs: Sequence[int], states: Sequence[int], *args: object, **_: object) -> int:
    """FLOP of oneDNN's recurrent layer by the shapes of its arguments: words ``[T, B, D]``, weights of the inputs
    ``[G, D]`` and of the states ``[G, H]``; torch counts none."""
    steps, batch, _width = words
    return 2 * steps * batch * (inputs[0] * inputs[1] + states[0] * states[1])


def _recurrent_backward(*shapes: Sequence[int], **_: object) -> int:
    """Twice the forward pass's: the gradients of its inputs and of its weights."""
    return 2 * _recurrent(*shapes)
