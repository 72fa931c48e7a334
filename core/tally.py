"""Counts and durations of operations, for monitoring a server."""

from __future__ import annotations

import threading


class Tally:
    """Counts for all threads."""

    def __init__(self) -> None:
        self._lock, self._count, self._seconds = threading.Lock(), 0, 0.0

    def add(self, seconds: float) -> None:
        """It was done once more."""
        with self._lock:
            self._count += 1
            self._seconds += seconds

    def take(self) -> tuple[int, float]:
        """How often since the last call, and the seconds of them all."""
        with self._lock:
            taken = self._count, self._seconds
            self._count, self._seconds = 0, 0.0
        return taken
