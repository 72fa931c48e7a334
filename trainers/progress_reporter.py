"""A training that a server started and watches (:mod:`core.training_progress`)."""

from __future__ import annotations

import os
import time
from pathlib import Path

from filelock import FileLock, Timeout

from core import training_progress
from core.errors import RunError
from core.training_progress import STOP, Epoch, TrainingProgress
from trainers.resume import Progress

SECONDS = 0.5
"""Minimum seconds between two reports."""
LOCK = "trainer.lock"
_PATIENCE = 300


class StopAskedError(Exception):
    """The user wants the best epoch so far."""


class ServerGoneError(Exception):
    """The server that started the training has ended."""


class ProgressReporter:
    """Reports the progress of the run in ``out`` to the server with the process id ``server``. First waits until an
    earlier trainer, whose server has ended, has saved its state; raises RunError if that takes too long."""

    def __init__(self, out: Path, server: int) -> None:
        self.out, self.server, self._last = out, server, 0.0
        out.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(out / LOCK, timeout=_PATIENCE, thread_local=False)
        try:
            self._lock.acquire()
        except Timeout:
            raise RunError("another process is still training this model; resume it later") from None
        (out / STOP).unlink(missing_ok=True)

    def close(self) -> None:
        """Lets another trainer continue from the saved state."""
        self._lock.release()

    def report(self, progress: Progress, epochs: int, steps: int, seconds: float) -> None:
        """Writes the progress after ``seconds`` of training, unless it was just written. Raises StopAskedError or
        ServerGoneError if the training must end."""
        if os.getppid() != self.server:
            raise ServerGoneError
        if (self.out / STOP).exists():
            raise StopAskedError
        if time.monotonic() - self._last < SECONDS and progress.step < steps:
            return
        self._last = time.monotonic()
        history = tuple(Epoch(one["epoch"], one["loss"], _score(one)) for one in progress.history)
        now = TrainingProgress(epochs, progress.step, steps, seconds, progress.best_epoch, history)
        training_progress.write(self.out, now)


def _score(record: dict[str, float]) -> float:
    """The first score of an epoch's record, which decides the best epoch."""
    return next(value for name, value in record.items() if name not in ("epoch", "loss"))
