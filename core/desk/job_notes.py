"""Notes of jobs that are waiting or running, beside the desk's runs, so that a job is not lost silently when its server
stops.

In a folder the note's file is locked by its process, and the system lets the lock go however that ends. A store has no
locks: there the note says when its process was last seen, which it does again and again.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from core.desk.shelf import Folder, Shelf, of_desk
from core.errors import MendableError
from core.files import json_text, make_folder, parse_json, read_json

_JOBS = "jobs"
SEEN_EVERY, STOPPED_AFTER = 20.0, 90.0
"""Seconds between two times that a process says in a store that it lives, and those of silence after which it does
not: the servers' clocks may differ by a minute."""


def note(what: str, rows: int) -> JobNote:
    """Make a note. Raises MendableError where the folder or the store of runs cannot be written."""
    shelf = of_desk()
    return LockedNote(shelf, what, rows) if isinstance(shelf, Folder) else SeenNote(shelf, what, rows)


class LockedNote:
    """A note in a folder: what is done to how many rows, there until :meth:`remove`. When its process has ended without
    that, it is one of :func:`stopped`."""

    def __init__(self, shelf: Folder, what: str, rows: int) -> None:
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


class SeenNote:
    """The same in a store."""

    def __init__(self, shelf: Shelf, what: str, rows: int) -> None:
        self._shelf, self._what, self._rows = shelf, what, rows
        self._name, self._ended = f"{_JOBS}/{uuid.uuid4().hex}.json", threading.Event()
        self._write()
        self._thread = threading.Thread(target=self._be_seen, name="note of a job", daemon=True)
        self._thread.start()

    def remove(self) -> None:
        self._ended.set()
        self._thread.join()
        with contextlib.suppress(MendableError):
            self._shelf.remove(self._name)

    def _be_seen(self) -> None:
        while not self._ended.wait(SEEN_EVERY):
            with contextlib.suppress(MendableError):  # the store may be there again the next time
                self._write()

    def _write(self) -> None:
        known = {"what": self._what, "rows": self._rows, "seen": time.time()}
        with self._shelf.writing(self._name) as scratch:
            scratch.write_text(json_text(known, indent=None), encoding="utf-8")


JobNote = LockedNote | SeenNote


@dataclass(frozen=True)
class StoppedJob:
    """A job that was lost with its server. ``name``: that of its note."""

    name: str
    what: str
    rows: int


def stopped() -> list[StoppedJob]:
    """Jobs of servers that share these runs whose process no longer exists. Raises DeskError where a store cannot be
    used."""
    shelf, found = of_desk(), []
    for kept in shelf.listed(_JOBS):
        if not kept.name.endswith(".json"):
            continue
        # What another server removes just now is not told.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            if isinstance(shelf, Folder):
                with _abandoned(shelf.path / kept.name) as free:
                    known = read_json(shelf.path / kept.name) if free else None
            else:
                with shelf.opened(kept.name) as file:
                    known = parse_json(file.read().decode("utf-8"))
                known = known if time.time() - known["seen"] > STOPPED_AFTER else None
            if known:
                found.append(StoppedJob(Path(kept.name).stem, str(known["what"]), int(known["rows"])))
    return found


def put_away(name: str) -> None:
    """Delete the note of a stopped job, once people have been told about it."""
    if name.isalnum():
        with contextlib.suppress(OSError, MendableError):
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
