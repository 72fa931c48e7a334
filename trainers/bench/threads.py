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

from core.openmp import SPINS
from trainers.bench.row import Row

MODEL = "nli-two-sided"
LIBGOMP = "300000"
"""What libgomp takes where neither GOMP_SPINCOUNT nor OMP_WAIT_POLICY is set: some 3 ms."""
_ANSWER = "from trainers.bench import threads; threads.answer({seconds})"


def threads(quick: bool) -> list[Row]:
    """Training on all cores with threads that soon fall asleep, by its speed with threads that spin as libgomp has it:
    on a machine that does nothing else, and beside one process that computes all the time."""
    cases = (("training two-sided, times libgomp's spinning", 0.9), ("the same beside a busy process", 1.2))
    if (os.cpu_count() or 1) < 2:
        return [Row(name, None, "x", bar, False, "one core") for name, bar in cases]
    rates = pairs_a_second(1 if quick else 5, 2 if quick else 4)
    rows = []
    for (name, bar), busy in zip(cases, (False, True), strict=True):
        ours, spinning = rates[SPINS, busy], rates[LIBGOMP, busy]
        rows.append(Row(name, ours / spinning, "x", bar, False, f"{ours:,.0f} pairs/s; spinning {spinning:,.0f}"))
    return rows


def pairs_a_second(turns: int, seconds: float) -> dict[tuple[str, bool], float]:
    """Medians with PairLens's own number of spins and with libgomp's, alone and beside a busy process, measured in
    turns in two processes that both stay."""
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
    return {case: statistics.median(values) for case, values in times.items()}


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
    from trainers.bench.training import made_up

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
