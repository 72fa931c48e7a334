"""Speed of generated filters: a training step against the basic CNN's, and one product against a loop of conv1d."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from core.models import build
from core.models.acnn.filters import adaptive_convolution, valid_windows
from core.reading.batch import Batch, Side

TEXTS, WORDS, WIDTH, CLASSES = 128, 56, 100, 14
"""A batch of DBpedia's texts: the paper's batch, its mean length (table 1) and its sizes (K 100, h 5, l 100)."""


class StepRatio(NamedTuple):
    """A training step of M-ACNN beside M-CNN's on the same batch."""

    time: float
    """How many times as long it takes (median over pairs of steps measured in turns)."""
    work: float
    """How many times as many multiply-adds it needs, forward and backward."""
    adaptive_ms: float
    basic_ms: float


def step_ratio(repeats: int) -> StepRatio:
    """Forward, loss, backward and AdamW of both models with the paper's sizes."""
    torch.manual_seed(0)
    x, mask = torch.randn(TEXTS, WORDS, WIDTH), torch.ones(TEXTS, WORDS, dtype=torch.bool)
    batch, labels = Batch(Side(x, mask)), torch.randint(CLASSES, (TEXTS,))
    steps = [_step(adaptivity, batch, labels) for adaptivity in ("self", "none")]
    work = []
    for step in steps:
        with FlopCounterMode(display=False) as counter:
            step()
        work.append(counter.get_total_flops())
    adaptive, basic = _in_turns(steps, repeats)
    ratio = statistics.median(a / b for a, b in zip(adaptive, basic, strict=True))
    return StepRatio(ratio, work[0] / work[1], statistics.median(adaptive), statistics.median(basic))


def _step(adaptivity: str, batch: Batch, labels: Tensor) -> Callable[[], Any]:
    config = {"input_size": WIDTH, "classes": CLASSES, "adaptivity": adaptivity}
    model = build("acnn", config).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(F.cross_entropy(model(batch).logits, labels))
        optimizer.step()

    return step


def against_loop(repeats: int) -> tuple[float, float, float]:
    """How many times faster ``adaptive_convolution`` is than one conv1d call a text, forward and
    backward, and both times in ms. Raises AssertionError when the two do not compute the same."""
    torch.manual_seed(0)
    words, mask = torch.randn(TEXTS, WORDS, WIDTH, requires_grad=True), torch.ones(TEXTS, WORDS, dtype=torch.bool)
    filters = nn.Parameter(torch.randn(TEXTS, 100, 5, WIDTH))

    def ours() -> Tensor:
        return adaptive_convolution(valid_windows(words, mask, 5), filters)

    def loop() -> Tensor:
        made = [F.conv1d(words[i].T[None], filters[i].transpose(1, 2))[0].T for i in range(TEXTS)]
        return torch.stack(made)

    torch.testing.assert_close(ours(), loop(), rtol=1e-3, atol=1e-3)
    fast, slow = _in_turns(
        [lambda: torch.autograd.backward(ours().sum()), lambda: torch.autograd.backward(loop().sum())], repeats
    )
    ratio = statistics.median(s / f for f, s in zip(fast, slow, strict=True))
    return ratio, statistics.median(fast), statistics.median(slow)


def _in_turns(forms: list[Callable[[], Any]], repeats: int) -> list[list[float]]:
    """Milliseconds of each form, measured in turns so that a busy moment falls on all of them."""
    times: list[list[float]] = [[] for _ in forms]
    for round_ in range(repeats + 2):
        for taken, compute in zip(times, forms, strict=True):
            started = time.perf_counter()
            compute()
            if round_ >= 2:
                taken.append((time.perf_counter() - started) * 1000)
    return times
