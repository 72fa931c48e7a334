"""The CPU's native precision for matrix products."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import torch

SIDE, TURNS = 256, 5


@functools.cache
def native_bf16() -> bool:
    """Whether the CPU computes bf16 products natively, faster than float32: with AMX or AVX-512 BF16. Determined once
    per process. Asks oneDNN, which computes the products: its answer respects ONEDNN_MAX_CPU_ISA, unlike
    torch.cpu.get_capabilities(). It also says yes for AVX-512 without BF16, where it emulates bf16; so a yes is
    verified by timing a few products, in some milliseconds."""
    built = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if not built or not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return False
    single = torch.ones(SIDE, SIDE)
    half = single.bfloat16()
    with torch.autocast("cpu", enabled=False):
        return fastest(lambda: half @ half) < fastest(lambda: single @ single)


def fastest(product: Callable[[], object]) -> float:
    """Seconds taken by the fastest of a few calls, after one warm-up call."""
    product()
    times = []
    for _ in range(TURNS):
        started = time.perf_counter()
        product()
        times.append(time.perf_counter() - started)
    return min(times)
