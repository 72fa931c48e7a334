"""Runs `python -m trainers train` for the desk: in a separate process with one thread and low priority, so that no
visitor's answer waits for it."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from core import training_progress
from core.data import Example
from core.errors import DeskError
from core.files import write_whole
from core.training_progress import TrainingProgress

NICENESS = 10
OUTPUT = "output.txt"
"""File with the trainer's output, in the folder of the run."""
_POLL = 0.5
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_ROOT = Path(__file__).resolve().parents[2]
_NUMBERS = ("1", "2")
"""Keys of texts without names."""


def installed() -> bool:
    """Whether this server has the packages that training needs (requirements-trainers.txt)."""
    return importlib.util.find_spec("lightning_fabric") is not None


def write_rows(file: Path, rows: Sequence[Example], roles: Sequence[str]) -> str:
    """Writes labelled rows in the format that the trainer reads, and returns its --columns with the texts' ``roles``
    (without any, the base's roles apply). Raises FileError."""
    keys = [*(roles or _NUMBERS[: 1 + any(row.second for row in rows)])]
    label, group = ("_".join([name, *keys]) for name in ("label", "group"))  # unlike both of them
    of_questions = bool(rows) and rows[0].group is not None

    def line(row: Example) -> str:
        texts = dict(zip(keys, (row.first, row.second), strict=False))
        return json.dumps({**texts, label: row.label_text, **({group: row.group} if of_questions else {})})

    write_whole(file, "".join(f"{line(row)}\n" for row in rows))
    parts = dict(zip(("first", "second"), keys, strict=False)) | {"label": label}
    return ",".join(f"{part}={key}" for part, key in (parts | ({"group": group} if of_questions else {})).items())


def train(options: Sequence[str], out: Path, told: Callable[[TrainingProgress], bool]) -> None:
    """Trains with these command options into the folder ``out``, resuming from the state there. Calls ``told`` with the
    progress twice a second; once it returns false, training stops and the best epoch so far is kept. Raises DeskError
    with the trainer's error message if it fails. An exception in ``told`` is raised; the trainer then continues until
    this process has ended, notices that, and saves its state."""
    command = [sys.executable, "-m", "trainers", "train", *options, "--out", str(out), "--resume", "--threads", "1"]
    paths = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, **dict.fromkeys(_THREADS, "1"), "PYTHONPATH": paths}
    with (out / OUTPUT).open("ab") as output:
        process = subprocess.Popen(
            [*command, "--server", str(os.getpid())], env=environment, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):  # it has ended
            os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
    said = _watched(process, out, told)
    if process.returncode:
        raise DeskError(said or "the trainer ended without a message: try again, or with fewer rows")


def _watched(process: subprocess.Popen[bytes], out: Path, told: Callable[[TrainingProgress], bool]) -> str:
    """Waits for the trainer, and returns the last sentence of its standard error, which is short: one line per half
    minute."""
    while True:
        try:
            _, errors = process.communicate(timeout=_POLL)
        except subprocess.TimeoutExpired:
            progress = training_progress.read(out)
            if not told(progress or TrainingProgress(0, 0, 0, 0.0, 0)):
                (out / training_progress.STOP).touch()
            continue
        last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        # Visitors should not see the server's folders.
        return last.rpartition("\r")[2].removeprefix("python -m trainers train: ").replace(f"{out}{os.sep}", "")
