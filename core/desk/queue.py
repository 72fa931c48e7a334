"""One queue for all that a server does in the background: so many jobs at once, the others in the order they came."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from core.desk import job_notes
from core.desk.job_notes import JobNote
from core.desk.jobs import Job
from core.errors import DeskError

MOST_WAITING = 50
"""Jobs that may wait at one time."""


def at_once() -> int:
    """How many jobs run at the same time: ``PAIRLENS_JOBS``, 1 unless set. Raises DeskError for what is no number."""
    text = os.environ.get("PAIRLENS_JOBS") or "1"
    if text.isascii() and text.isdigit() and 1 <= int(text[:4]) <= 999:
        return int(text[:4])
    raise DeskError(f"PAIRLENS_JOBS must be a number of jobs from 1 to 999, got {text[:40]!r}")


class JobQueue:
    """The jobs of this server that have not ended."""

    def __init__(self) -> None:
        self._lock, self._at_once = threading.Lock(), 1
        self._jobs: list[Job] = []
        """In the order they came: those that run, and those that wait."""
        self._notes: dict[Job, JobNote] = {}

    def add(self, job: Job) -> None:
        """Let it run when its turn comes. Raises DeskError where too many wait, or ``PAIRLENS_JOBS`` is no number, and
        UserError where the folder or the store of runs cannot be written."""
        most = at_once()
        note = job_notes.note(job.what, job.rows)
        with self._lock:
            self._at_once = most
            crowded = len(self._waiting()) >= MOST_WAITING
            if not crowded:
                self._jobs.append(job)
                self._notes[job] = note
                self._go_on()
        if crowded:
            note.remove()
            raise DeskError(f"{MOST_WAITING} jobs are already waiting: cancel one, or come back when some are done")

    def cancel(self, job: Job) -> None:
        """Take it out, or stop it after the batch that is being computed."""
        job.cancel()
        with self._lock:
            waits = not job.started
            job.started = True  # it is nobody's turn to start it any more
        if waits:
            self._leave(job)
            job.end()

    def jobs(self) -> Sequence[Job]:
        """Those that run and those that wait, in the order they came."""
        with self._lock:
            return tuple(self._jobs)

    def place(self, job: Job) -> int:
        """Its place among those that wait, 1 for the next; 0 for one that does not wait."""
        with self._lock:
            return next((place for place, one in enumerate(self._waiting(), 1) if one is job), 0)

    def _waiting(self) -> list[Job]:
        return [job for job in self._jobs if not job.started]

    def _go_on(self) -> None:
        """Start those whose turn it is; the caller has the lock."""
        waiting = self._waiting()
        free = self._at_once - (len(self._jobs) - len(waiting))
        for job in waiting[: max(0, free)]:
            job.start(self._leave)

    def _leave(self, job: Job) -> None:
        with self._lock:
            self._jobs = [one for one in self._jobs if one is not job]
            note = self._notes.pop(job, None)
            self._go_on()
        if note is not None:
            note.remove()


QUEUE = JobQueue()
"""Of this process."""
