"""Notes on disk of jobs that are waiting or running, so that a job is not lost silently when its server stops."""

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
    the lock go however the process ends, and from then on :func:`stopped` lists the note. Raises FileError where the
    desk's folder cannot be written."""

    def __init__(self, what: str, rows: int) -> None:
        make_folder(_folder())
        self._path = _folder() / f"{uuid.uuid4().hex}.json"
        # It may be released by another thread than the one that acquired it.
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
    """A job that was lost with its server. ``name``: that of its note."""

    name: str
    what: str
    rows: int


def stopped() -> list[StoppedJob]:
    """Jobs of servers that share this desk's folder whose process no longer exists."""
    found = []
    for path in sorted(_folder().glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError), _abandoned(path) as free:
            if free:
                note = read_json(path)
                found.append(StoppedJob(path.stem, str(note["what"]), int(note["rows"])))
    return found


def put_away(name: str) -> None:
    """Delete the note of a stopped job, once people have been told about it."""
    if name.isalnum():
        with contextlib.suppress(OSError):
            for suffix in (".json", ".lock"):
                (_folder() / f"{name}{suffix}").unlink(missing_ok=True)


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
