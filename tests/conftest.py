"""Rules for every test: one thread per process, the same random numbers, and no skips except without a GPU."""

from __future__ import annotations

import gc
import importlib
import os
import random
import sys
from collections.abc import Generator

# Two test processes share two cores: further threads would wait for each other. Set before torch is loaded, and
# inherited by the processes that tests start.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import pytest

from tests.parallel import Run

LATE = (
    *("sklearn.feature_extraction.text", "sklearn.linear_model", "sklearn.manifold", "sklearn.svm", "openTSNE"),
    *("scipy.optimize", "scipy.stats", "transformers.models.auto.modeling_auto", "nltk"),
    *("altair", "plotly.graph_objects"),
)
"""Our code imports these when it needs them, so each process of many tests would, for six seconds."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=1, help="how many processes run the tests")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported stays: a search for garbage among it would be a fifth of the work."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """No search for garbage has to go through all that was imported again: a tenth of the pages' tests was spent so."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """In several processes, if asked for and if all tests could be collected."""
    if session.config.option.processes == 1 or session.config.option.collectonly or session.testsfailed:
        return None
    for name in LATE if "torch" in sys.modules else ():
        importlib.import_module(name)
    gc.freeze()
    Run(session).run(session.config.option.processes)
    return True


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
