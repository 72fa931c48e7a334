"""Rate limits per client."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from app.api.refusals import Refused

MOST_CLIENTS = 10_000


class Limit:
    """Admits bursts of ``burst`` requests per client, and ``rate`` requests per second after that."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left: dict[str, tuple[float, float]] = {}
        """Per client: requests left, and when they were counted."""
        self._lock = threading.Lock()

    def take(self, client: str) -> None:
        """Counts a request. Raises Refused if the client has none left."""
        with self._lock:
            now = self._clock()
            left, counted = self._left.pop(client, (self._burst, now))
            left = min(self._burst, left + (now - counted) * self._rate)
            self._left[client] = max(left - 1, 0.0) if left >= 1 else left, now
            while len(self._left) > MOST_CLIENTS:
                del self._left[next(iter(self._left))]  # the client that has been silent longest
        if left < 1:
            raise Refused(429, "Too many requests: wait a few seconds.")
