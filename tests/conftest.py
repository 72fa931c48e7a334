"""Rules for every test: one thread per process, and no skips except without a GPU."""

from __future__ import annotations

import os
from collections.abc import Generator

# Two test processes share two cores: further threads would wait for each other. Set before torch is loaded, and
# inherited by the processes that tests start.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """All that the tests need can be installed, but a GPU: another skip is a failure."""
    report = yield
    if report.skipped and not item.get_closest_marker("cuda"):
        report.outcome = "failed"
        report.longrepr = f"skipped ({report.longrepr[2]}), though only tests of CUDA may be"  # type: ignore[index]
    return report
