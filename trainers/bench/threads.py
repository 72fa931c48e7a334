"""Speed of training on all cores, alone and beside a busy process, by how long the threads spin before they sleep."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from core.openmp import SPINS

MODEL = "nli-two-sided"
LIBGOMP = "300000"
"""What libgomp takes where neither GOMP_SPINCOUNT nor OMP_WAIT_POLICY is set: some 3 ms."""
_ANSWER = "from trainers.bench import threads; threads.answer({seconds})"


class Rates(NamedTuple):
    """Pairs a second, medians."""

    quiet: float
    busy: float
    """Beside one process that computes all the time."""


def rates(turns: int, seconds: float) -> tuple[Rates, Rates]:
    """With PairLens's own number of spins and with libgomp's, measured in turns in two processes that both stay."""
    times: dict[tuple[str, bool], list[float]] = {}
    with ExitStack() as stack:
        trainings = {spins: stack.enter_context(training(spins, seconds)) for spins in (SPINS, LIBGOMP)}
        for _ in range(turns):
            for busy in (False, True):
                for spins, process in trainings.items():
                    with ExitStack() as beside:
                        if busy:
                            beside.enter_context(computing())
                        times.setdefault((spins, busy), []).append(_asked(process))
    own, theirs = (
        Rates(*(statistics.median(times[spins, busy]) for busy in (False, True))) for spins in (SPINS, LIBGOMP)
    )
    return own, theirs


@contextmanager
def training(spins: str, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """A process that has trained its first steps on as many threads as there are cores, and waits."""
    command = [sys.executable, "-c", _ANSWER.format(seconds=seconds)]
    own = {"GOMP_SPINCOUNT": spins, "OMP_NUM_THREADS": str(os.cpu_count() or 1)}
    inherited = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    pipe, root = subprocess.PIPE, Path(__file__).resolve().parents[2]
    process = subprocess.Popen(command, cwd=root, env=inherited | own, stdin=pipe, stdout=pipe, text=True)
    try:
        _asked(process)
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def computing() -> Iterator[None]:
    """A process that takes one core."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.5)  # until it runs
        yield
    finally:
        process.kill()
        process.wait()


def _asked(process: subprocess.Popen[str]) -> float:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def answer(seconds: float) -> None:
    """For each line on standard input train so many seconds, and print pairs a second."""
    from trainers import loop, set_up
    from trainers import recipe as recipes
    from trainers.bench.benchmarks import made_up

    recipe = recipes.load(MODEL)
    words, data = made_up(20 * recipe.batch_size)
    with tempfile.TemporaryDirectory() as folder:
        run = loop.ready(recipe, data, words, set_up.Options(Path(folder), device="cpu"))
    run.net.train()
    batches = run.batches(0)
    for _ in sys.stdin:
        started, pairs, steps = time.perf_counter(), 0, 0
        while time.perf_counter() < started + seconds:
            rows = batches[steps % len(batches)]
            run.step(rows)
            pairs, steps = pairs + len(rows), steps + 1
        print(pairs / (time.perf_counter() - started), flush=True)
