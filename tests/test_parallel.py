"""Tests in several processes: all run, and whatever happens to one of them is told."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = """
import os
import signal
import time
import warnings
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def lent(tmp_path_factory):
    yield tmp_path_factory.getbasetemp()
    Path("ended").open("a").write("one process\\n")


@pytest.mark.parametrize("number", range(4))
def test_passes(number, lent, tmp_path):
    assert tmp_path.parent == lent
    while not Path("both").exists():  # the tests of a single process would wait for ever
        time.sleep(0.01)


def test_warns(lent):
    Path("both").touch()
    warnings.warn("take care")


def test_fails():
    os.system("echo from a child")
    assert [1] == [2]


def test_dies():
    if not Path("dead").exists():
        Path("dead").touch()
        os.kill(os.getpid(), signal.SIGKILL)
"""


def ran(folder, *more):
    program = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", *more]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    environment.pop("PYTEST_PROCESS", None)
    return subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True, timeout=200)


def test_files_are_shared_out_and_a_test_whose_process_dies_has_failed(tmp_path):
    waiting, others = TESTS.split("def test_warns")
    (tmp_path / "test_one.py").write_text(waiting)
    (tmp_path / "test_two.py").write_text(TESTS[: TESTS.index("@pytest.mark.param")] + "def test_warns" + others)
    done = ran(tmp_path, "--processes", "2")
    assert "\n2 failed, 5 passed, 1 warning in " in done.stdout, done.stdout + done.stderr
    assert "\nFAILED test_two.py::test_fails - assert [1] == [2]\n" in done.stdout
    assert "\nFAILED test_two.py::test_dies - the process of this test ended with" in done.stdout
    assert "Captured stdout call" in done.stdout and "\nfrom a child\n" in done.stdout
    assert "UserWarning: take care" in done.stdout
    assert (tmp_path / "ended").read_text() == "one process\n", "the other one was killed"
    stopped = ran(tmp_path, "--processes", "2", "-x")
    assert "stopping after 1 failures" in stopped.stdout and stopped.returncode == 1
