"""Runs the API's computations: shared among clients, scheduled fairly, and only while a client is waiting.

Each computation has its own thread. It runs freely for a quantum of CPU time, while longer computations of clients that
have used more wait. After that, its next progress call must acquire one of a few slots; if several wait, the slot goes
to the client that has used the least time recently. Clients with the same question share one computation, which ends
when the last of them disconnects. Finished answers are cached (least recently used first out) up to a size limit.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from app.api.refusals import sentence
from core.errors import UserError
from core.progress import Progress
from core.shared_memory import SharedMemory

THREADS = 32
OF_ONE_CLIENT = 8
"""Maximum number of threads per client, so that others can start."""
SLOTS = max(2, os.cpu_count() or 1)
QUANTUM = 0.5
"""Seconds of CPU time that a computation runs before it needs a slot, and between releases of the slot."""
FRESH = 2.0
"""Seconds after which longer computations no longer wait for one in its first quantum, which may itself be waiting."""
LONG = 5.0
"""Seconds after which a computation gives way to everything else on this machine, such as pages."""
HALF_LIFE = 10.0
"""Seconds after which half of a client's used time is forgotten."""
KEPT = 32_000_000
"""Size limit of cached answers in bytes."""
BETWEEN_REPORTS = 0.1
"""Seconds between progress updates."""

_LOG = logging.getLogger(__name__)


class Ended(Exception):
    """Raised in a computation's progress call when no client is waiting for the answer any more."""


@dataclass(frozen=True)
class Update:
    """An update for a listener: progress, and finally the ``answer`` (JSON) or the ``error`` (one sentence).
    ``status``: the HTTP status if this is the first update."""

    progress: tuple[int, int] = (0, 0)
    answer: bytes = b""
    error: str = ""
    status: int = 200

    @property
    def last(self) -> bool:
        return bool(self.answer or self.error)


Compute = Callable[[Progress], bytes]
Tell = Callable[[Update], None]


@dataclass(eq=False)
class _Work:
    """A queued or running computation. ``listeners``: callbacks with their clients, empty once it is abandoned;
    ``started``: start time; ``fresh``: whether it is in its first quantum; ``since``: its thread's CPU time at the
    start of the current quantum, ``seconds``: the time before that; ``reported``: when its listeners were last
    updated."""

    key: Hashable
    compute: Compute
    listeners: dict[Tell, str] = field(default_factory=dict)
    started: float = 0.0
    fresh: bool = True
    since: float = 0.0
    seconds: float = 0.0
    reported: float = 0.0
    has_slot: bool = False


class Executor:
    """All computations of a server. Its methods are thread-safe."""

    def __init__(self, slots: int = SLOTS, quantum: float = QUANTUM, kept: int = KEPT) -> None:
        self._free_slots, self._quantum = slots, quantum
        self._changed = threading.Condition()
        """Guards all fields below; notified when a slot may have become free."""
        self._works: dict[Hashable, _Work] = {}
        self._queued: list[_Work] = []
        self._running: list[_Work] = []
        self._waiting: list[_Work] = []
        """Running computations that need a slot, longest waiting first."""
        self._used: dict[str, tuple[float, float]] = {}
        """Per client: seconds of computing time, and when they were last updated."""
        self._answers: SharedMemory[bytes] = SharedMemory(kept, len)

    def ask(self, key: Hashable, compute: Compute, client: str, tell: Tell) -> Callable[[], None]:
        """Computes an answer and reports it to ``tell``, which may be called from any thread. Equal keys must mean
        equal answers. Returns a function to call when the client stops waiting."""
        with self._changed:
            if key in self._answers:
                tell(Update(answer=self._answers(key, bytes)))
                return lambda: None
            work = self._works.get(key)
            if work is None:
                work = self._works[key] = _Work(key, compute)
                self._queued.append(work)
            work.listeners[tell] = client
            self._start()
        return lambda: self._leave(work, tell)

    def _leave(self, work: _Work, tell: Tell) -> None:
        with self._changed:
            work.listeners.pop(tell, None)
            if not work.listeners:
                self._forget(work)
                if work in self._queued:
                    self._queued.remove(work)
                self._changed.notify_all()

    def _forget(self, work: _Work) -> None:
        """From now on, new requests do not join this computation."""
        if self._works.get(work.key) is work:
            del self._works[work.key]

    def _start(self) -> None:
        """Starts queued computations while threads are available."""
        while len(self._running) < THREADS:
            held = [self._client(work) for work in self._running]
            work = self._next([work for work in self._queued if held.count(self._client(work)) < OF_ONE_CLIENT])
            if work is None:
                return
            self._queued.remove(work)
            self._running.append(work)
            threading.Thread(target=self._run, args=(work,), name="answer", daemon=True).start()

    def _run(self, work: _Work) -> None:
        work.started, work.since = time.monotonic(), time.thread_time()
        try:
            update = Update(answer=work.compute(lambda done, of: self._progress(work, done, of)))
        except Ended:
            update = Update(error="Cancelled.")
        except UserError as error:
            update = Update(error=sentence(str(error)), status=422)
        except (Exception, SystemExit) as error:
            _LOG.exception("An answer could not be computed")
            text = f"this could not be computed ({type(error).__name__}): the server’s log says why"
            update = Update(error=sentence(text), status=500)
        with self._changed:
            self._charge(work)
            self._running.remove(work)
            self._forget(work)
            if update.answer:
                self._answers(work.key, lambda: update.answer)
            self._start()
            self._changed.notify_all()
            listeners = list(work.listeners)
        for tell in listeners:
            tell(update)

    def _progress(self, work: _Work, done: int, of: int) -> None:
        """Reports a computation's progress; may block here. Raises Ended."""
        now = time.monotonic()
        if now - work.reported >= BETWEEN_REPORTS:
            work.reported = now
            for tell in list(work.listeners):
                tell(Update((done, of)))
        if not work.listeners:
            raise Ended
        within = time.thread_time() - work.since < self._quantum
        if within and work.fresh:
            return
        with self._changed:
            if within and not self._gives_way(work):
                return
            self._charge(work)
            work.fresh = False
            if work.seconds > LONG and sys.platform == "linux":  # only there do threads have separate priorities
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
            self._waiting.append(work)
            self._changed.notify_all()
            while work.listeners and not self._may_go_on(work):
                self._changed.wait(self._quantum)
            self._waiting.remove(work)
            self._changed.notify_all()
            if not work.listeners:
                raise Ended
            self._free_slots -= 1
            work.has_slot = True

    def _may_go_on(self, work: _Work) -> bool:
        return self._free_slots > 0 and not self._gives_way(work) and self._next(self._waiting) is work

    def _gives_way(self, work: _Work) -> bool:
        """Whether a computation in its first quantum should finish first."""
        fresh = [other for other in self._running if other.fresh and time.monotonic() - other.started < FRESH]
        used = self._seconds(self._client(work))
        return any(self._seconds(self._client(other)) <= used for other in fresh)

    def _charge(self, work: _Work) -> None:
        """Releases a computation's slot and records its CPU time; called in its thread."""
        now, client, used = time.monotonic(), self._client(work), time.thread_time() - work.since
        self._free_slots += work.has_slot
        work.has_slot = False
        work.seconds += used
        work.since += used
        self._used[client] = self._seconds(client) + used, now
        self._used = {known: (total, at) for known, (total, at) in self._used.items() if now - at < 20 * HALF_LIFE}

    def _next(self, works: Sequence[_Work]) -> _Work | None:
        """The computation whose client has used the least time."""
        return min(works, key=lambda work: self._seconds(self._client(work)), default=None)

    def _client(self, work: _Work) -> str:
        """The computation's client; if it has several, the one that has used the least time. Empty if abandoned."""
        return min(work.listeners.values(), key=self._seconds, default="")

    def _seconds(self, client: str) -> float:
        seconds, counted = self._used.get(client, (0.0, 0.0))
        return seconds * 0.5 ** ((time.monotonic() - counted) / HALF_LIFE)
