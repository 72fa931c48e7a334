"""The processor's native precision for products."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

SIDE, TURNS = 256, 5


_native: bool | None = None


def native_bf16() -> bool:
    """Whether products in bf16 are computed as such on the CPU, faster than in float32: with AMX or AVX-512 BF16.
    Found out once a process."""
    global _native
    # Not functools.cache, which torch.compile looks through: it would take the measurement into the model.
    if _native is None:
        _native = _multiplies_in_bf16()
    return _native


def _multiplies_in_bf16() -> bool:
    """oneDNN, which computes the products, is asked: its answer follows ONEDNN_MAX_CPU_ISA, unlike
    torch.cpu.get_capabilities(). It says yes to AVX-512 without BF16 too, though it emulates bf16 there; so a
    yes is put to the test by a few products, in some milliseconds."""
    built = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if not built or not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return False
    single = torch.ones(SIDE, SIDE)
    half = single.bfloat16()
    with torch.autocast("cpu", enabled=False):
        return fastest(lambda: half @ half) < fastest(lambda: single @ single)


def fastest(product: Callable[[], object]) -> float:
    """Seconds of the fastest of a few calls, after one that prepares the kernel."""
    product()
    times = []
    for _ in range(TURNS):
        started = time.perf_counter()
        product()
        times.append(time.perf_counter() - started)
    return min(times)
