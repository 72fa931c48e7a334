"""Rules for every test: one thread per process, the same random numbers, and no skips except without a GPU."""

from __future__ import annotations

import gc
import os
import random
import sys
from collections.abc import Generator

# Two test processes share two cores: further threads would wait for each other. Set before torch is loaded, and
# inherited by the processes that tests start.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import pytest
from filelock import FileLock


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """In a new checkout, compiling all modules, with assertions rewritten, doubles the import time. So one of the test
    processes, which start together, compiles first, and the others read its bytecode. Garbage
    collection is off meanwhile: it would search the imported objects, which stay, and take a fifth of the time."""
    gc.disable()
    try:
        if "PYTEST_XDIST_WORKER" not in os.environ:
            return (yield)
        compiled = session.config._tmp_path_factory.getbasetemp().parent / "compiled"  # type: ignore[attr-defined]
        with FileLock(compiled.with_suffix(".lock")) as lock:
            if compiled.exists():
                lock.release()
            result = yield
            compiled.touch()
        return result
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Keeps garbage collection from searching imported objects again, which took a tenth of the page tests' time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """What a test or its fixture draws without a seed does not depend on the tests that this process ran before."""
    random.seed(0)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """All that the tests need can be installed, but a GPU: another skip is a failure."""
    report = yield
    if report.skipped and not item.get_closest_marker("cuda"):
        report.outcome = "failed"
        report.longrepr = f"skipped ({report.longrepr[2]}), though only tests of CUDA may be"  # type: ignore[index]
    return report
