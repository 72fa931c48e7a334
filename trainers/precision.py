"""The precision of a training run: the requested one, and its meaning on this machine."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence

import torch

from core.errors import RunError
from core.processor import native_bf16
from trainers.processes import number

PRECISIONS = ("32", "bf16", "16")
"""The precisions of a run; bf16 and 16 use mixed precision (AMP)."""
AUTO = "auto"
EMULATED = "bf16 is emulated on this processor; measured on AVX2, nli-esim trains at a quarter of float32's speed"


def add_precision(
    parser: argparse.ArgumentParser, precisions: Sequence[str] = PRECISIONS, with_option: str = ""
) -> None:
    """Adds the option --precision; ``with_option`` names the option it depends on."""
    before = f"with {with_option}: " if with_option else ""
    parser.add_argument(
        "--precision",
        choices=(AUTO, *precisions),
        default=AUTO,
        help=f"{before}all but 32 are mixed (AMP); auto, the default, is bf16 where the device has it, else 32",
    )


def used_precision(asked: str, device: str) -> str:
    """One of :data:`PRECISIONS` for ``cpu`` or ``cuda``; ``auto`` is bf16 on a device with native bf16 products, else
    32. Warns once if bf16 is requested explicitly but emulated; raises RunError for 16 on a CPU."""
    if asked == AUTO:
        native = torch.cuda.is_bf16_supported(including_emulation=False) if device == "cuda" else native_bf16()
        return "bf16" if native else "32"
    if device == "cpu" and asked == "16":
        raise RunError("--precision 16 needs CUDA; leave it out on the CPU, or choose 32 or bf16")
    if device == "cpu" and asked == "bf16" and not native_bf16():
        warn_of_emulation()
    return asked


@functools.cache
def warn_of_emulation() -> None:
    """Warns once, in the first process only."""
    if number() == 0:
        print(EMULATED, file=sys.stderr)
