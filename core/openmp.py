"""How the threads of a parallel loop wait for each other. Imports nothing: libgomp reads this as torch loads."""

from __future__ import annotations

import os

SPINS = "2000"
"""Rounds of about 20 µs in all: longer than the gap between two loops of a training step, far shorter than a process's
time slice."""


def wait_asleep() -> None:
    """Let libgomp's threads soon sleep at a barrier, unless the environment already sets how they wait. Entry points
    call it before they import torch; a plain ``import core`` changes nothing.

    By default they spin for about 3 ms, and a training step has hundreds of barriers: where another process holds one
    of the cores, the thread that all wait for gets no time while the others spin. Next to a busy process, training was
    1.5 times as fast with this (measured on two cores, 2026-11-24).
    """
    if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
        os.environ["GOMP_SPINCOUNT"] = SPINS
