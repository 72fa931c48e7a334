"""The processes that train one model together: here with ``--devices``, on several machines with torchrun."""

from __future__ import annotations

import hashlib
import os
from typing import Any

import torch

from core.errors import RunError

_BY_TORCHRUN = "TORCHELASTIC_RUN_ID"
"""Set if torchrun started this process."""


def started(devices: int) -> tuple[int, int]:
    """Processes per machine and number of machines: as set by torchrun if it started this process, else ``devices`` on
    one. Raises RunError if the two contradict each other, or machines differ."""
    if _BY_TORCHRUN not in os.environ:
        return devices, 1
    here, all_of_them = (int(os.environ[name]) for name in ("LOCAL_WORLD_SIZE", "WORLD_SIZE"))
    if devices not in (1, here):
        raise RunError(f"torchrun started {here} processes here and --devices is {devices}; leave --devices out")
    if all_of_them != here * int(os.environ["GROUP_WORLD_SIZE"]):
        raise RunError("torchrun started more processes on one machine than on another; give --nproc-per-node once")
    return here, all_of_them // here


def number() -> int:
    """The rank of this process, 0 for the first one, which prints and writes."""
    return int(os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or 0)


def launcher(devices: int) -> list[str]:
    """The command before ``-m``."""
    if _BY_TORCHRUN not in os.environ:
        return ["python"]
    here, machines = started(devices)
    return ["torchrun", "--nnodes", str(machines), "--nproc-per-node", str(here)]


def check_agreement(fabric: Any, fingerprint: str, step: int) -> None:
    """All processes call this before their first step. Raises RunError in each of them if they differ in data, words or
    precision, or resume from different states: they would silently train a mixture."""
    own = list(hashlib.sha256(f"{fingerprint} {step}".encode()).digest())
    total = fabric.all_reduce(torch.tensor(own, dtype=torch.int32, device=fabric.device), reduce_op="sum")
    if total.tolist() != [fabric.world_size * byte for byte in own]:
        raise RunError(
            "the machines differ in what they train: give all of them the same data, recipe and --precision, and an "
            "--out folder that they share"
        )
