"""The desk's stored runs: one folder per data file, named by the file's checksum."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from core.data import Dataset
from core.data.lines import LARGEST
from core.desk import run_folder, unfinished_run
from core.desk.folders import DESK_SETTING, FACTS, RUNS_SETTING, check_writable, is_run, shared_folder
from core.desk.run import Run, RunHeader, fitting
from core.errors import DeskError
from core.wording import told_apart

DIGITS = 16
"""Hexadecimal digits of a checksum in a name."""


def short(checksum: str) -> str:
    """A checksum as shown in names of runs and in links."""
    return checksum[:DIGITS]


def folder_of(file: str, desk: Path | None = None) -> Path:
    """The folder for runs of the data file with this checksum, in the desk's folder or in another ``desk``. Raises
    DeskError for anything but a checksum."""
    if not re.fullmatch(r"[0-9a-f]{16,64}", file):
        raise DeskError(f"{file[:40]!r} is not a checksum of a file: choose a run from the list")
    return _runs(desk) / short(file)


def folder_to_write(file: str) -> Path:
    """:func:`folder_of`, to be written. Raises DeskError if the desk's folder cannot be written."""
    setting = RUNS_SETTING if os.environ.get(RUNS_SETTING) else DESK_SETTING
    check_writable(shared_folder(), setting)
    return folder_of(file)


def _runs(desk: Path | None = None) -> Path:
    return (desk or shared_folder()) / "runs"


def adopt(path: Path, largest: int = LARGEST) -> RunHeader:
    """Copies a run to the desk; a run of the same file only gets the models that it lacks. Raises DeskError if it
    cannot be read, contradicts that run, or if its texts take more than ``largest`` bytes."""
    return run_folder.copy_run(path, folder_to_write, largest)


def put_first(file: str, checkpoints: Sequence[str]) -> None:
    """Moves the models with these checksums, in this order, before the file's others."""
    folder = folder_of(file)
    known = {short(model.sha256): model for model in run_folder.read_header(folder).models}
    run_folder.reorder(folder, [known[name] for name in map(short, checkpoints) if name in known])


def open_run(file: str, checkpoints: Sequence[str] | None = None) -> Run:
    """These checkpoints' predictions for a file, in this order, by default the first four; all are identified by
    checksum. Raises DeskError if they do not exist."""
    return run_folder.load(_existing(file), checkpoints)


def header(file: str) -> RunHeader:
    """The facts about the runs of a file. Raises DeskError if there are none."""
    return run_folder.read_header(_existing(file))


def _existing(file: str) -> Path:
    folder = folder_of(file)
    if not is_run(folder):
        raise DeskError("there is no such run: predict the file again")
    return folder


def keep_rows(dataset: Dataset) -> None:
    """Stores the rows of a data file, to be labelled; predictions of the file stay. Raises DeskError if the desk's
    folder cannot be written."""
    run_folder.save(fitting(dataset), (), folder_to_write(dataset.sha256))


def has_run(file: str) -> bool:
    """Whether there are predictions of the data file with this checksum."""
    return any(short(run.sha256) == short(file) for run in runs())


def delete(file: str) -> None:
    """Deletes the predictions of a data file by all models; its tags and notes are in the database and stay. Raises
    DeskError if there are none, or if the file is being predicted."""
    folder = _existing(file)
    with run_folder.changing(folder):
        for parts in folder.glob(f"{unfinished_run.PARTS}*"):
            try:
                with FileLock(parts / unfinished_run.LOCK, blocking=False):
                    pass
            except Timeout:
                raise DeskError("this file is being predicted: cancel the prediction first") from None
        gone = folder.rename(folder.with_name(f".deleted-{uuid.uuid4().hex}"))
        (gone / FACTS).unlink(missing_ok=True)  # first, so that no list shows it
        shutil.rmtree(gone, ignore_errors=True)


def written(file: str) -> str:
    """A text that changes whenever the runs of a file are written. Raises DeskError if the file has none."""
    state = (_existing(file) / FACTS).stat()
    return f"{state.st_mtime_ns} {state.st_ino}"  # the inode too: two writes may fall into one clock tick


def runs() -> list[RunHeader]:
    """The runs of each data file, latest first. Raises DeskError if ``PAIRLENS_RUNS`` is not a folder."""
    found = []
    for facts in _runs().glob(f"*/{FACTS}"):
        with contextlib.suppress(DeskError, OSError):
            state = facts.stat()
            header = _header(facts.parent, state.st_mtime_ns, state.st_ino)
            if header.models or header.rows:
                found.append((state.st_mtime_ns, header))
    return [header for _, header in sorted(found, key=lambda pair: -pair[0])]


def names_of(headers: Iterable[RunHeader]) -> dict[str, str]:
    """The name of each run's file by its checksum, with the number of rows; no two are equal."""
    return told_apart({run.sha256: f"{run.name} ({run.rows:,})" for run in headers}, letters=6)


def unfinished() -> dict[Path, str]:
    """The files whose prediction was cancelled or stopped with its server, by the folder of its finished parts."""
    found = {}
    for parts in sorted(_runs().glob(f"*/{unfinished_run.PARTS}*")):
        # A running prediction holds the lock.
        with contextlib.suppress(Timeout, DeskError, OSError), FileLock(parts / unfinished_run.LOCK, blocking=False):
            found[parts] = run_folder.read_header(parts.parent).name
    return found


def delete_parts(parts: Path) -> None:
    """Deletes the parts of an :func:`unfinished` prediction, unless it has been resumed."""
    with contextlib.suppress(Timeout, OSError), FileLock(parts / unfinished_run.LOCK, blocking=False):
        unfinished_run.delete_parts(parts)


@functools.lru_cache(maxsize=1000)
def _header(folder: Path, changed: int, inode: int) -> RunHeader:
    """The header in this version of its file, cached because pages read all headers on every run."""
    return run_folder.read_header(folder)
