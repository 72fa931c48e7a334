"""Notes on the disk of jobs that wait or run, so that a job whose server was stopped is not silently gone."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from core.desk.folders import desk_folder
from core.files import json_text, make_folder, read_json, write_whole


def _folder() -> Path:
    return desk_folder() / "jobs"


class JobNote:
    """What is done to how many rows, there until :meth:`remove`. Its file is locked by this process: the system lets
    the lock go however the process ends, and then the note is one of :func:`stopped`. Raises FileError where the desk's
    folder cannot be written."""

    def __init__(self, what: str, rows: int) -> None:
        make_folder(_folder())
        self._path = _folder() / f"{uuid.uuid4().hex}.json"
        # Released by another thread than the one that took it.
        self._lock = FileLock(self._path.with_suffix(".lock"), thread_local=False)
        self._lock.acquire()
        write_whole(self._path, json_text({"what": what, "rows": rows}, indent=None))

    def remove(self) -> None:
        """The job has ended."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
            self._path.with_suffix(".lock").unlink(missing_ok=True)
        self._lock.release()


@dataclass(frozen=True)
class StoppedJob:
    """A job that ended with its server. ``name``: of its note."""

    name: str
    what: str
    rows: int


def stopped() -> list[StoppedJob]:
    """Jobs of servers that share this desk's folder, and that no process has any more."""
    found = []
    for path in sorted(_folder().glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError), _of_nobody(path) as free:
            if free:
                note = read_json(path)
                found.append(StoppedJob(path.stem, str(note["what"]), int(note["rows"])))
    return found


def put_away(name: str) -> None:
    """Everybody has seen that this job was stopped."""
    if name.isalnum():
        with contextlib.suppress(OSError):
            for suffix in (".json", ".lock"):
                (_folder() / f"{name}{suffix}").unlink(missing_ok=True)


@contextmanager
def _of_nobody(path: Path) -> Iterator[bool]:
    """Whether no living process has this note; nobody takes it while the block lasts."""
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
