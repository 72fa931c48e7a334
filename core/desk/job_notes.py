"""Notes of jobs that are waiting or running, beside the desk's runs, so that a job is not lost silently when its server
stops.

The file of a note is locked by its process, and the system lets the lock go however that ends.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from core.desk.shelf import Shelf, of_desk
from core.errors import UserError
from core.files import json_text, make_folder, read_json

_JOBS = "jobs"


def note(what: str, rows: int) -> JobNote:
    """Make a note. Raises UserError where the folder of runs cannot be written."""
    return JobNote(of_desk(), what, rows)


class JobNote:
    """What is done to how many rows, there until :meth:`remove`. When its process has ended without that, it is one of
    :func:`stopped`."""

    def __init__(self, shelf: Shelf, what: str, rows: int) -> None:
        name = f"{_JOBS}/{uuid.uuid4().hex}.json"
        self._path = shelf.path / name
        make_folder(self._path.parent)
        # It may be released by another thread than the one that acquired it.
        self._lock = FileLock(self._path.with_suffix(".lock"), thread_local=False)
        self._lock.acquire()
        with shelf.writing(name) as scratch:
            scratch.write_text(json_text({"what": what, "rows": rows}, indent=None), encoding="utf-8")

    def remove(self) -> None:
        """The job has ended."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
            self._path.with_suffix(".lock").unlink(missing_ok=True)
        self._lock.release()


@dataclass(frozen=True)
class StoppedJob:
    """A job that was lost with its server. ``name``: that of its note."""

    name: str
    what: str
    rows: int


def stopped() -> list[StoppedJob]:
    """Jobs of servers that share these runs whose process no longer exists. Raises DeskError where PAIRLENS_RUNS
    names no folder."""
    shelf, found = of_desk(), []
    for kept in shelf.listed(_JOBS):
        if not kept.name.endswith(".json"):
            continue
        # What another server removes just now is not told.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            with _abandoned(shelf.path / kept.name) as free:
                known = read_json(shelf.path / kept.name) if free else None
            if known:
                found.append(StoppedJob(Path(kept.name).stem, str(known["what"]), int(known["rows"])))
    return found


def put_away(name: str) -> None:
    """Delete the note of a stopped job, once people have been told about it."""
    if name.isalnum():
        with contextlib.suppress(OSError, UserError):
            for suffix in (".json", ".lock"):
                of_desk().remove(f"{_JOBS}/{name}{suffix}")


@contextmanager
def _abandoned(path: Path) -> Iterator[bool]:
    """Whether no running process holds this note; while the block lasts, none can take it."""
    lock = FileLock(path.with_suffix(".lock"))
    try:
        lock.acquire(blocking=False)
    except Timeout:
        yield False
        return
    try:
        yield path.exists()
    finally:
        if not path.exists():
            path.with_suffix(".lock").unlink(missing_ok=True)
        lock.release()
