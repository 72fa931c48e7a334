"""Background jobs of a server, with progress and cancel: jobs are queued, and ``PAIRLENS_JOBS`` of them run at once.
A short job does not wait for longer ones."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from core.checkpoint import Checkpoint, CheckpointError, available, load_named, read_card
from core.desk.run import RunModel
from core.errors import DeskError, UserError

_LOG = logging.getLogger(__name__)
MOST_WAITING = 50
"""Maximum number of queued jobs."""
SHORT = 5_000
"""Rows up to which a job does not wait for longer ones."""
_SURE_AFTER, _SURE_ROWS = 2.0, 4096
"""Seconds and rows from which the speed is known: a block of rows is prepared before its first batch is read, and
batches go from short texts to long ones."""


class Cancelled(Exception):
    """A user cancelled the job."""


Written = tuple[str, Sequence[str]]
"""The checksum of a file, and the checksums of the checkpoints that predicted it."""


@dataclass(eq=False)
class Job:
    """Work on many rows in a thread, stored as it goes, so that a cancelled or killed job loses little."""

    what: str
    """The work as the beginning of a sentence: “The prediction of …”."""
    rows: int
    """Number of rows to process, over all passes."""
    work: Callable[[Job], Written | None]
    """Does the work, and returns the run that it wrote, if any. Calls :meth:`begin` before the first rows and
    :meth:`progress` after each batch."""
    about: Hashable = None
    """Equal for jobs that do the same work: the kind and the subject of the job."""
    passes: int = 1
    """Number of passes through the file."""
    written: Written | None = field(default=None, init=False)
    """The run that it wrote, once finished."""
    done: int = field(default=0, init=False)
    """Number of finished rows."""
    doing: str = field(default="", init=False)
    """The current step, if it is not the job's main work."""
    then: str = field(default="", init=False)
    """The step that follows these rows and is not part of the estimate."""
    problem: str = field(default="", init=False)
    """The reason for its failure, in one sentence."""
    cancelled: bool = field(default=False, init=False)
    future: Future[None] = field(default_factory=Future, init=False, repr=False)
    """Its run in a thread of the queue."""
    _began: float = field(default=0.0, init=False)
    _step_began: float = field(default=0.0, init=False)
    _done_before: int = field(default=0, init=False)

    @property
    def finished(self) -> bool:
        """Whether it has ended for any reason."""
        return self.future.done()

    def run(self) -> None:
        """Runs in the current thread, and stores an error as ``problem``."""
        try:
            if not server_ends():
                self.written = self.work(self)
        except Cancelled:
            pass
        except UserError as error:
            self.problem = f"{str(error)[:1].upper()}{str(error)[1:].rstrip('.')}."
        except (Exception, SystemExit) as error:
            _LOG.exception("A job of the desk failed")
            self.problem = f"This failed ({error or type(error).__name__}): try another file or checkpoint."

    def cancel(self) -> None:
        """Removes it from the queue, or stops it after the current batch."""
        self.cancelled = True
        self.future.cancel()

    def begin(self) -> None:
        """Measures the speed from now on."""
        self._began, self._done_before = time.perf_counter(), self.done

    def progress(self, done: int) -> None:
        """Sets the number of finished rows. Raises :class:`Cancelled` after :meth:`cancel`, and at server shutdown."""
        self.done = done
        self.check()

    def step(self, what: str) -> None:
        """Begins a part whose rows are not counted, or with "" returns to counting rows. Raises :class:`Cancelled` as
        :meth:`check` does."""
        if what != self.doing:
            self.doing, self._step_began = what, time.perf_counter()
        self.check()

    @property
    def seconds(self) -> float:
        """Seconds since the last :meth:`step` began; 0 if there was none."""
        return time.perf_counter() - self._step_began if self._step_began else 0.0

    def check(self) -> None:
        """Raises :class:`Cancelled` after :meth:`cancel`, and at server shutdown: for long work between two rows."""
        if self.cancelled or server_ends():
            raise Cancelled

    @property
    def speed(self) -> float | None:
        """Rows per second since :meth:`begin`; None before it is known."""
        passed = time.perf_counter() - self._began
        new = self.done - self._done_before
        known = passed >= _SURE_AFTER and new >= min(_SURE_ROWS, (self.rows - self._done_before) / 10)
        return new / passed if known and new else None

    @property
    def left(self) -> float | None:
        """Estimated seconds until it is done; None while unknown."""
        return (self.rows - self.done) / self.speed if self.speed else None


def checkpoint_named(model: RunModel) -> str | None:
    """The name of a run's checkpoint; None if it is not installed."""
    folders = available()
    named = {model.model: folders[model.model]} if model.model in folders else {}  # no list may show it
    for name, folder in {**named, **folders}.items():
        try:
            if read_card(folder).get("sha256") == model.sha256:
                return name
        except CheckpointError:
            continue
    return None


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


def server_ends() -> bool:
    """Whether this process is only waiting for the threads of its jobs."""
    return not threading.main_thread().is_alive()


class _Line:
    """Jobs that share a pool of ``most`` threads."""

    def __init__(self, most: int, name: str) -> None:
        self.most, self.threads = most, ThreadPoolExecutor(most, name)
        self.jobs: dict[Future[None], Job] = {}
        """Unfinished jobs in order of arrival."""

    def unfinished(self) -> Sequence[Job]:
        """Running and queued jobs."""
        return [job for job in tuple(self.jobs.values()) if not job.finished]

    def queued(self) -> Sequence[Job]:
        """Jobs without a thread."""
        return self.unfinished()[self.most :]

    def add(self, job: Job) -> None:
        """Queues a job."""
        job.future = self.threads.submit(job.run)
        self.jobs[job.future] = job
        job.future.add_done_callback(self.jobs.pop)  # a job may hold a large file


class JobQueue:
    """Unfinished jobs of this server; ``most`` of them run at once, by default :func:`most_running`. Jobs of up to
    ``short`` rows have a separate thread, so that they neither wait for long jobs nor delay them."""

    def __init__(self, most: int | None = None, short: int = 0) -> None:
        self._lock = threading.Lock()
        self._most, self._short = most, short
        self._lines: Sequence[_Line] = ()
        """For all jobs, and for short ones while others run."""

    def add(self, job: Job) -> None:
        """Queues a job. Raises DeskError if too many are queued, or ``PAIRLENS_JOBS`` is not a number."""
        most = self._most or most_running()
        with self._lock:
            self._lines = self._lines or (_Line(most, "job"), _Line(1, "short job"))
            if sum(len(line.queued()) for line in self._lines) >= MOST_WAITING:
                raise DeskError(f"{MOST_WAITING} jobs are already queued: cancel one, or try again when some are done")
            everybody, short = self._lines
            busy = len(everybody.unfinished()) >= everybody.most
            (short if busy and job.rows <= self._short else everybody).add(job)

    def jobs(self) -> Sequence[Job]:
        """Running and queued jobs: the general queue, then the queue for short jobs, each in order of arrival."""
        return tuple(job for line in self._lines for job in line.unfinished())

    def place(self, job: Job) -> int:
        """Its position in the queue, 1 for the next; 0 if it is not queued."""
        places = (place for line in self._lines for place, queued in enumerate(line.queued(), 1) if queued is job)
        return next(places, 0)


QUEUE = JobQueue(short=SHORT)
"""The queue of this process."""
TRAININGS = JobQueue(1)
"""The trainings of this process's server, which run in separate processes, in parallel with the queue."""
