"""Speed of generated filters: a training step against the basic CNN's, and one product against a loop of conv1d."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from core.models import build
from core.models.acnn.filters import adaptive_convolution, valid_windows
from core.reading.batch import Batch, Side
from trainers.bench.row import Row, medians, times_faster

TEXTS, WORDS, WIDTH, CLASSES = 128, 56, 100, 14
"""A batch of DBpedia's texts: the paper's batch, its mean length (table 1) and its sizes (K 100, h 5, l 100)."""


def generated_filters(quick: bool) -> list[Row]:
    """A training step of M-ACNN beside M-CNN's against their work, and one product against a loop of conv1d."""
    return [_step_by_work(5 if quick else 20), _against_loop(3 if quick else 15)]


def _step_by_work(repeats: int) -> Row:
    """Forward, loss, backward and AdamW of both models with the paper's sizes: their times by their multiply-adds."""
    torch.manual_seed(0)
    x, mask = torch.randn(TEXTS, WORDS, WIDTH), torch.ones(TEXTS, WORDS, dtype=torch.bool)
    batch, labels = Batch(Side(x, mask)), torch.randint(CLASSES, (TEXTS,))
    steps = [_step(adaptivity, batch, labels) for adaptivity in ("self", "none")]
    counts = []
    for step in steps:
        with FlopCounterMode(display=False) as counter:
            step()
        counts.append(counter.get_total_flops())
    adaptive, basic = medians(steps, repeats)
    ratio, work = adaptive / basic, counts[0] / counts[1]
    note = f"{ratio:.2f} x the time of M-CNN's step ({adaptive:.0f} and {basic:.0f} ms), {work:.2f} x its multiply-adds"
    return Row(f"step of M-ACNN, batch {TEXTS}, time by multiply-adds", ratio / work, "x", 1.3, note=note)


def _step(adaptivity: str, batch: Batch, labels: Tensor) -> Callable[[], None]:
    config = {"input_size": WIDTH, "classes": CLASSES, "adaptivity": adaptivity}
    model = build("acnn", config).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(F.cross_entropy(model(batch).logits, labels))
        optimizer.step()

    return step


def _against_loop(repeats: int) -> Row:
    """``adaptive_convolution`` against one conv1d call a text, forward and backward. Raises AssertionError when the two
    do not compute the same."""
    torch.manual_seed(0)
    words, mask = torch.randn(TEXTS, WORDS, WIDTH, requires_grad=True), torch.ones(TEXTS, WORDS, dtype=torch.bool)
    filters = nn.Parameter(torch.randn(TEXTS, 100, 5, WIDTH))

    def ours() -> Tensor:
        return adaptive_convolution(valid_windows(words, mask, 5), filters)

    def loop() -> Tensor:
        made = [F.conv1d(words[i].T[None], filters[i].transpose(1, 2))[0].T for i in range(TEXTS)]
        return torch.stack(made)

    torch.testing.assert_close(ours(), loop(), rtol=1e-3, atol=1e-3)
    return times_faster(
        f"filters of {TEXTS} texts, times faster than a loop",
        3,
        (lambda: torch.autograd.backward(ours().sum()), lambda: torch.autograd.backward(loop().sum())),
        "conv1d text by text",
        repeats,
    )
