"""Background jobs of a server, with progress and cancel: jobs are queued, and ``PAIRLENS_JOBS`` of them run at once.

Each job has a note in the folder of runs, in a file locked by its process. The system releases the lock whenever the
process ends, so a note without a lock belongs to a job that was lost with its server, which is reported to users.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from core.checkpoint import Checkpoint, load_named
from core.desk.folders import shared_folder
from core.errors import DeskError, UserError
from core.files import json_text, make_folder, read_json, write_whole

_LOG = logging.getLogger(__name__)
MOST_WAITING = 50
"""Maximum number of queued jobs."""


class Cancelled(Exception):
    """A user cancelled the job."""


@dataclass(eq=False)
class Job:
    """Work on many rows in a thread. :meth:`work` stores results as it goes, so that a cancelled or killed job loses
    little."""

    done: int = field(default=0, init=False)
    """Number of finished rows."""
    problem: str = field(default="", init=False)
    """One sentence on why it failed."""
    cancelled: bool = field(default=False, init=False)
    started: bool = field(default=False, init=False)
    """False while it is queued."""
    _ended: threading.Event = field(default_factory=threading.Event, init=False, repr=False)
    _began: float = field(default=0.0, init=False)
    _done_before: int = field(default=0, init=False)

    @property
    def what(self) -> str:
        """The work as the beginning of a sentence: “The prediction of …”."""
        raise NotImplementedError

    @property
    def rows(self) -> int:
        """Number of rows to process, over all passes."""
        raise NotImplementedError

    @property
    def passes(self) -> int:
        """Number of passes through the file."""
        return 1

    @property
    def finished(self) -> bool:
        """Whether it has ended for any reason."""
        return self._ended.is_set()

    def work(self) -> None:
        """Does the work. Calls :meth:`begin` before the first rows and :meth:`progress` after each batch."""
        raise NotImplementedError

    def run(self) -> None:
        """Runs in the current thread, and stores an error as ``problem``."""
        try:
            self.work()
        except Cancelled:
            pass
        except UserError as error:
            self.problem = f"{str(error)[:1].upper()}{str(error)[1:].rstrip('.')}."
        except (Exception, SystemExit) as error:
            _LOG.exception("A job of the desk failed")
            self.problem = f"This failed ({error or type(error).__name__}): try another file or checkpoint."

    def cancel(self) -> None:
        """Stops after the current batch."""
        self.cancelled = True

    def end(self) -> None:
        """Marks it as ended."""
        self._ended.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until it has ended, at most this long; returns whether it has."""
        return self._ended.wait(seconds)

    def begin(self) -> None:
        """Measures the speed from now on."""
        self._began, self._done_before = time.perf_counter(), self.done

    def progress(self, done: int) -> None:
        """Sets the number of finished rows. Raises :class:`Cancelled` after :meth:`cancel`, and at server shutdown."""
        self.done = done
        if self.cancelled or _server_ends():
            raise Cancelled

    @property
    def speed(self) -> float | None:
        """Rows per second since :meth:`begin`; None before the first batch."""
        passed = time.perf_counter() - self._began
        new = self.done - self._done_before
        return new / passed if new > 0 and passed > 0 else None

    @property
    def left(self) -> float | None:
        """Estimated seconds until it is done; None while unknown."""
        return (self.rows - self.done) / self.speed if self.speed else None


def predicted_by(name: str, sha256: str) -> Checkpoint:
    """The installed checkpoint of this name, if it is still the one that predicted a run. Raises DeskError if not."""
    checkpoint = load_named(name)
    if checkpoint.card["sha256"] != sha256:
        raise DeskError(f"the checkpoint {name} is not the one that predicted this run: predict it again")
    return checkpoint


def most_running() -> int:
    """Maximum number of jobs that run at once: ``PAIRLENS_JOBS``, by default 1. Raises DeskError for a non-number."""
    text = os.environ.get("PAIRLENS_JOBS") or "1"
    if text.isascii() and text.isdigit() and 1 <= int(text[:4]) <= 999:
        return int(text[:4])
    raise DeskError(f"PAIRLENS_JOBS must be a number of jobs from 1 to 999, got {text[:40]!r}")


def _server_ends() -> bool:
    """Whether this process is only waiting for the threads of its jobs."""
    return not threading.main_thread().is_alive()


class JobQueue:
    """The unfinished jobs of this server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._most_running = 1
        self._threads: ThreadPoolExecutor | None = None
        self._notes: dict[Job, JobNote] = {}
        """Running jobs, then queued ones, in order of arrival."""

    def add(self, job: Job) -> None:
        """Queues a job. Raises DeskError if too many are queued or ``PAIRLENS_JOBS`` is not a number, and UserError if
        the folder of runs cannot be written."""
        most = most_running()
        job_note = JobNote(job.what, job.rows // job.passes)
        with self._lock:
            if self._threads is None:
                self._most_running, self._threads = most, ThreadPoolExecutor(most, "job")
            crowded = len(self._queued()) >= MOST_WAITING
            if not crowded:
                self._notes[job] = job_note
                self._threads.submit(self._run, job)
        if crowded:
            job_note.remove()
            raise DeskError(f"{MOST_WAITING} jobs are already queued: cancel one, or come back when some are done")

    def cancel(self, job: Job) -> None:
        """Removes it from the queue, or stops it after the current batch."""
        job.cancel()
        with self._lock:
            queued = not job.started
            job.started = True  # keeps any thread from starting it
        if queued:
            self._remove(job)
            job.end()

    def jobs(self) -> Sequence[Job]:
        """Running and queued jobs, in order of arrival."""
        with self._lock:
            return tuple(self._notes)

    def place(self, job: Job) -> int:
        """Its position in the queue, 1 for the next; 0 if it is not queued."""
        with self._lock:
            return next((place for place, queued in enumerate(self._queued(), 1) if queued is job), 0)

    def _queued(self) -> list[Job]:
        return list(self._notes)[self._most_running :]

    def _run(self, job: Job) -> None:
        with self._lock:
            cancelled = job.started
            job.started = True
        if not (cancelled or _server_ends()):
            job.run()
            self._remove(job)
            job.end()

    def _remove(self, job: Job) -> None:
        """Removes a job that has ended. If it ended with the server, its note stays."""
        with self._lock:
            job_note = self._notes.pop(job, None)
        if job_note is not None and not _server_ends():
            job_note.remove()


QUEUE = JobQueue()
"""The queue of this process."""


class JobNote:
    """A job's note, with its description and number of rows, until :meth:`remove`."""

    def __init__(self, what: str, rows: int) -> None:
        self._path = _notes_folder() / f"{uuid.uuid4().hex}.json"
        make_folder(self._path.parent)
        # A thread other than the one that acquired it may release it.
        self._lock = FileLock(self._path.with_suffix(".lock"), thread_local=False)
        self._lock.acquire()
        write_whole(self._path, json_text({"what": what, "rows": rows}, indent=None))

    def remove(self) -> None:
        """Deletes the note when the job has ended."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
            self._path.with_suffix(".lock").unlink(missing_ok=True)
        self._lock.release()


def _notes_folder() -> Path:
    return shared_folder() / "jobs"


@dataclass(frozen=True)
class StoppedJob:
    """A job that was lost with its server; ``name`` identifies its note."""

    name: str
    what: str
    rows: int


def stopped() -> list[StoppedJob]:
    """Jobs whose process no longer exists, from all servers that share the folder of runs. Raises DeskError if
    ``PAIRLENS_RUNS`` is not a folder."""
    found = []
    for path in sorted(_notes_folder().glob("*.json")):
        # Another server may be deleting it at this moment.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            with _abandoned(path) as free:
                known = read_json(path) if free else None
            if known:
                found.append(StoppedJob(path.stem, str(known["what"]), int(known["rows"])))
    return found


def dismiss(name: str) -> None:
    """Deletes the note of a stopped job, once users have seen it."""
    if name.isalnum():
        with contextlib.suppress(OSError, UserError):
            for suffix in (".json", ".lock"):
                (_notes_folder() / f"{name}{suffix}").unlink(missing_ok=True)


@contextmanager
def _abandoned(path: Path) -> Iterator[bool]:
    """Whether no running process holds this note; within the block none can acquire it."""
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
