"""Runs the computations behind the API: shared among clients, fair between them, and only while someone waits.

Each computation has its own thread. It runs freely for a quantum of processor time, while longer ones of clients
that have used more wait. At its next progress call after that it needs one of a few slots, and whenever several wait,
the slot goes to the client that has used the least time lately. Clients that ask the same question listen to one
computation, which ends when the last of them has left. Finished answers are kept, the last used ones, up to a limit in
bytes.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from core.errors import UserError
from core.progress import Progress
from core.shared_memory import SharedMemory
from core.wording import capital

THREADS = 32
OF_ONE_CLIENT = 8
"""Threads that one client can hold, so that others can begin."""
SLOTS = max(2, os.cpu_count() or 1)
QUANTUM = 0.5
"""Seconds of processor time that a computation runs before it needs a slot, and before it has to give the slot back."""
FRESH = 2.0
"""Seconds after which longer computations no longer wait for one in its first quantum: it may itself be waiting."""
LONG = 5.0
"""Seconds after which a computation gives way to everything else that this machine computes, such as pages."""
HALF_LIFE = 10.0
"""Seconds after which half of the time that a client has used is forgotten."""
KEPT = 32_000_000
"""Bytes of finished answers."""
BETWEEN_REPORTS = 0.1
"""Seconds from one progress update to the next."""

_LOG = logging.getLogger(__name__)


class Ended(Exception):
    """Raised by a computation's progress when no client is waiting for the answer any more."""


@dataclass(frozen=True)
class Update:
    """An update for a listener: the progress, then the ``answer`` (JSON) or the ``error`` (one sentence) as the last
    update. ``status``: the HTTP status of an answer that begins with it."""

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
    """A computation that is queued or running. ``listeners``: with their clients, none once it is abandoned;
    ``started``: when it began; ``fresh``: whether it is in its first quantum; ``since``: its thread's processor time
    when its current quantum began, ``seconds``: all before that; ``reported``: when its listeners were last told."""

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
    """All computations of a server. Its methods can be called from any thread."""

    def __init__(self, slots: int = SLOTS, quantum: float = QUANTUM, kept: int = KEPT) -> None:
        self._free_slots, self._quantum = slots, quantum
        self._changed = threading.Condition()
        """Guards all fields below; notified when a slot may have become free."""
        self._works: dict[Hashable, _Work] = {}
        self._queued: list[_Work] = []
        self._running: list[_Work] = []
        self._waiting: list[_Work] = []
        """Running computations that need a slot, the longest waiting first."""
        self._used: dict[str, tuple[float, float]] = {}
        """Per client: seconds of computing, and when they were counted."""
        self._answers: SharedMemory[bytes] = SharedMemory(kept, len)

    def ask(self, key: Hashable, compute: Compute, client: str, tell: Tell) -> Callable[[], None]:
        """Have ``compute`` answered to ``tell``, which is called from any thread. Equal keys must mean equal answers.
        Returns the function to call when the client does not wait any longer."""
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
        """Whoever asks from now on does not join this computation."""
        if self._works.get(work.key) is work:
            del self._works[work.key]

    def _start(self) -> None:
        """Start queued computations, as far as there are threads for them."""
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
        """The progress of a computation, which may have to wait here. Raises Ended."""
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
            if work.seconds > LONG and sys.platform == "linux":  # where threads have priorities of their own
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
        """Whether a computation in its first quantum is to be finished first."""
        fresh = [other for other in self._running if other.fresh and time.monotonic() - other.started < FRESH]
        used = self._seconds(self._client(work))
        return any(self._seconds(self._client(other)) <= used for other in fresh)

    def _charge(self, work: _Work) -> None:
        """Take the slot back from a computation and count what it has used of its quantum; called in its thread."""
        now, client, used = time.monotonic(), self._client(work), time.thread_time() - work.since
        self._free_slots += work.has_slot
        work.has_slot = False
        work.seconds += used
        work.since += used
        self._used[client] = self._seconds(client) + used, now
        self._used = {known: (total, at) for known, (total, at) in self._used.items() if now - at < 20 * HALF_LIFE}

    def _next(self, works: Sequence[_Work]) -> _Work | None:
        """The one whose client has used the least."""
        return min(works, key=lambda work: self._seconds(self._client(work)), default=None)

    def _client(self, work: _Work) -> str:
        """The computation's client; of several, the one that has used the least. Empty for an abandoned computation."""
        return min(work.listeners.values(), key=self._seconds, default="")

    def _seconds(self, client: str) -> float:
        seconds, counted = self._used.get(client, (0.0, 0.0))
        return seconds * 0.5 ** ((time.monotonic() - counted) / HALF_LIFE)


def sentence(text: str) -> str:
    """An error's message as a sentence of plain text."""
    plain = re.sub(r"`([^`]+)`", r"“\1”", text)
    return capital(plain) if plain.endswith((".", "?")) else f"{capital(plain)}."
