"""Runs the API's computations: shared among clients, scheduled fairly, and only while a client is waiting.

A queued computation is only an entry in a list. There are four lanes, each with a few threads:

- *quick*: a forward pass or two of a model in memory. Starts at once, whatever else is running.
- *first*: all others, for their first quantum of CPU time. Most answers are finished by then.
- *cold*: like *first*, but for models that have to be read from disk, so that other computations do not wait for the
  disk.
- *long*: computations that need more than the first quantum. Those with a thread take turns. If no thread is free after
  the first quantum, the computation is postponed: it is queued again and later starts from the beginning. Once, it may
  have the youngest computation with a thread postponed instead, if that one's client has used much more time; so the
  oldest computations always run to their end.

In each lane the client that has used the least time recently comes next. Long computations pause while others are in
their first quantum. Clients with the same question share one computation, which ends when the last of them
disconnects. Finished answers are cached (least recently used first out) up to a size limit.
"""

from __future__ import annotations

import enum
import logging
import os
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial

from app.api.refusals import Refused, sentence
from core.allocator import return_freed_memory
from core.errors import UserError
from core.progress import Progress
from core.shared_cache import SharedCache

OPEN = 6
"""Maximum number of a client's open quick requests, and of other open requests. A page sends three at a time."""
SLOTS = max(1, (os.cpu_count() or 1) // 2)
"""Number of computations that run at once in their first quantum, and of long ones: the other half is for pages."""
QUANTUM = 0.25
"""Seconds of CPU time after which a computation counts as long, and after which long computations take turns."""
FRESH = 2.0
"""Seconds after which long computations no longer pause for one in its first quantum, which may itself be waiting."""
HALF_LIFE = 10.0
"""Seconds after which half of a client's used time is forgotten."""
KEPT = 32_000_000
"""Size limit of cached answers in bytes."""
BETWEEN_REPORTS = 0.1
"""Seconds between progress updates."""

_LOG = logging.getLogger(__name__)


class Lane(enum.Enum):
    """The kinds of threads."""

    QUICK = "quick"
    FIRST = "first"
    COLD = "cold"
    LONG = "long"


THREADS = {Lane.QUICK: 4, Lane.FIRST: SLOTS, Lane.COLD: 8, Lane.LONG: SLOTS + 1}
"""Maximum number of threads by lane. A long computation on two texts of 150 words takes up to 80 MB."""


class Ended(Exception):
    """Raised in a computation's progress call when no client is waiting for the answer any more."""


class _Postponed(Exception):
    """Raised in a computation's progress call when it has to wait for a thread of the long lane."""


@dataclass(frozen=True)
class Update:
    """An update for a listener: progress, the ``part`` of the answer that is known so far (JSON), and finally the
    ``answer`` or the ``error`` (one sentence). ``status``: the HTTP status if this is the first update."""

    progress: tuple[int, int] = (0, 0)
    part: bytes = b""
    answer: bytes = b""
    error: str = ""
    status: int = 200

    @property
    def last(self) -> bool:
        return bool(self.answer or self.error)


@dataclass(frozen=True)
class Report:
    """A computation's :data:`~core.progress.Progress`, which also takes the ``part`` of its answer known so far."""

    progress: Progress
    part: Callable[[bytes], None]

    def __call__(self, done: int, of: int) -> None:
        self.progress(done, of)


Compute = Callable[[Report], bytes]
Tell = Callable[[Update], None]


@dataclass(eq=False)
class _Work:
    """A queued or running computation. ``size``: size of the question; ``client``: the first to ask, which is charged
    if all have left; ``listeners``: callbacks with their clients, empty once it is abandoned; ``started``: when it got
    its thread; ``since``: the thread's CPU time up to which its client was charged; ``reported``: when its listeners
    were last updated; ``postponed``: whether it has to release its thread; ``replaced``: whether it did so for another
    computation."""

    key: Hashable
    compute: Compute
    lane: Lane
    size: int
    client: str
    listeners: dict[Tell, str] = field(default_factory=dict)
    started: float = 0.0
    since: float = 0.0
    reported: float = 0.0
    has_slot: bool = False
    postponed: bool = False
    replaced: bool = False


class Executor:
    """All computations of a server. Its methods are thread-safe. ``slots``, ``quantum``, ``kept``: see
    :data:`SLOTS`, :data:`QUANTUM`, :data:`KEPT`; ``clock``: seconds."""

    def __init__(
        self,
        slots: int = SLOTS,
        quantum: float = QUANTUM,
        kept: int = KEPT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._free_slots, self._quantum, self._clock = slots, quantum, clock
        self._changed = threading.Condition()
        """Guards all fields below; notified when a slot may have become free."""
        self._works: dict[Hashable, _Work] = {}
        self._queued: list[_Work] = []
        self._running: list[_Work] = []
        """Computations with a thread."""
        self._waiting: list[_Work] = []
        """Long computations with a thread that need a slot, longest waiting first."""
        self._used: dict[str, tuple[float, float]] = {}
        """Per client: seconds of computing time, and when they were last updated."""
        self._answers: SharedCache[bytes] = SharedCache(kept, len)

    def ask(
        self, key: Hashable, compute: Compute, client: str, tell: Tell, *, lane: Lane = Lane.FIRST, size: int = 0
    ) -> Callable[[], None]:
        """Computes an answer and reports it to ``tell``, which may be called from any thread. Equal keys must mean
        equal answers; among clients that have used about the same time, the question with the smallest ``size`` comes
        next. Returns a function to call when the client stops waiting. Raises Refused if the client has too many open
        requests."""
        with self._changed:
            if key in self._answers:
                tell(Update(answer=self._answers(key, bytes)))
                return lambda: None
            if self._open_requests(client, quick=lane is Lane.QUICK) >= OPEN:
                raise Refused(429, f"You have {OPEN} open requests here: wait until one of them is answered.")
            work = self._works.get(key)
            if work is None:
                work = self._works[key] = _Work(key, compute, lane, size, client)
                self._queued.append(work)
            work.listeners[tell] = client
            self._start()
        return lambda: self._leave(work, tell)

    def _open_requests(self, client: str, quick: bool) -> int:
        works = [work for work in (*self._queued, *self._running) if (work.lane is Lane.QUICK) == quick]
        return sum([*work.listeners.values()].count(client) for work in works)

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
        """Starts queued computations while their lanes have threads."""
        for lane in Lane:
            while work := self._next([work for work in self._queued if work.lane is lane]):
                if not (self._has_thread(lane) or self._replaces_another(work)):
                    break
                self._queued.remove(work)
                self._running.append(work)
                work.started = self._clock()
                threading.Thread(target=self._run, args=(work,), name="answer", daemon=True).start()

    def _has_thread(self, lane: Lane) -> bool:
        return len(self._held(lane)) < THREADS[lane]

    def _held(self, lane: Lane) -> list[_Work]:
        """The computations that keep a thread of this lane."""
        return [work for work in self._running if work.lane is lane and not work.postponed]

    def _replaces_another(self, work: _Work) -> bool:
        """Postpones the youngest long computation in favour of this one, if its client has used a few quanta and at
        least twice as much time as this one's client."""
        if work.lane is not Lane.LONG or work.replaced:
            return False
        youngest = max(self._held(Lane.LONG), key=lambda other: other.started)
        now = self._clock()
        theirs, own = (self._seconds(self._client(one), now) for one in (youngest, work))
        if theirs < max(4 * self._quantum, 2 * own):
            return False
        youngest.postponed = youngest.replaced = True
        self._changed.notify_all()
        return True

    def _run(self, work: _Work) -> None:
        work.since = time.thread_time()
        update = None
        try:
            if work.lane is Lane.LONG:
                self._take_turn(work)
            report = Report(partial(self._progress, work), lambda part: self._tell(work, Update(part=part)))
            update = Update(answer=work.compute(report))
        except _Postponed:
            pass
        except Ended:
            update = Update(error="Cancelled.")
        except UserError as error:
            update = Update(error=sentence(str(error)), status=422)
        except (Exception, SystemExit) as error:
            _LOG.exception("An answer could not be computed")
            text = f"this could not be computed ({type(error).__name__}): the server’s log says why"
            update = Update(error=sentence(text), status=500)
        self._end(work, update)

    def _end(self, work: _Work, update: Update | None) -> None:
        """Releases a computation's thread and sends its last update, or queues it again if there is none."""
        with self._changed:
            self._charge(work)
            self._running.remove(work)
            listeners = [*work.listeners]
            if update is None and work.listeners:
                work.lane, work.postponed = Lane.LONG, False
                self._queued.append(work)
            else:
                self._forget(work)
            if update and update.answer:
                self._answers(work.key, lambda: update.answer)
            self._start()
            self._changed.notify_all()
        if update:
            for tell in listeners:
                tell(update)
        if work.lane is Lane.LONG:
            return_freed_memory()

    def _tell(self, work: _Work, update: Update) -> None:
        for tell in list(work.listeners):
            tell(update)

    def _progress(self, work: _Work, done: int, of: int) -> None:
        """Reports a computation's progress; may block here. Raises Ended and _Postponed."""
        now = self._clock()
        if now - work.reported >= BETWEEN_REPORTS:
            work.reported = now
            self._tell(work, Update((done, of)))
        if not work.listeners:
            raise Ended
        within = time.thread_time() - work.since < self._quantum
        if work.lane is Lane.QUICK or (within and work.lane is not Lane.LONG):
            return
        with self._changed:
            if work.lane is not Lane.LONG:
                work.postponed = not self._has_thread(Lane.LONG)
                work.lane = Lane.LONG
            elif within and not work.postponed and not self._gives_way(work):
                return
            self._take_turn(work)

    def _take_turn(self, work: _Work) -> None:
        """Releases a long computation's slot, and waits for its next one. Raises Ended and _Postponed."""
        with self._changed:
            self._charge(work)
            self._waiting.append(work)
            self._start()
            self._changed.notify_all()
            while work.listeners and not work.postponed and not self._may_go_on(work):
                self._changed.wait(self._quantum)
            self._waiting.remove(work)
            self._changed.notify_all()
            if not work.listeners:
                raise Ended
            if work.postponed:
                raise _Postponed
            self._free_slots -= 1
            work.has_slot = True

    def _may_go_on(self, work: _Work) -> bool:
        return self._free_slots > 0 and not self._gives_way(work) and self._next(self._waiting) is work

    def _gives_way(self, work: _Work) -> bool:
        """Whether computations that may be finished soon should finish first."""
        now = self._clock()
        fresh = [other for other in self._running if other.lane is not Lane.LONG and now - other.started < FRESH]
        used = self._seconds(self._client(work), now)
        return any(self._seconds(self._client(other), now) <= used for other in fresh)

    def _charge(self, work: _Work) -> None:
        """Releases a computation's slot and records its CPU time; called in its thread."""
        now, client, used = self._clock(), self._client(work), time.thread_time() - work.since
        self._free_slots += work.has_slot
        work.has_slot = False
        work.since += used
        self._used[client] = self._seconds(client, now) + used, now
        self._used = {known: (total, at) for known, (total, at) in self._used.items() if now - at < 20 * HALF_LIFE}

    def _next(self, works: Sequence[_Work]) -> _Work | None:
        """The computation whose client has used the least time: without a thread, to the nearest second."""
        now = self._clock()  # one time for all, or a client's later computation would seem to have used less

        def rank(work: _Work) -> tuple[bool, float, int]:
            used = self._seconds(self._client(work), now)
            return (False, used, 0) if work in self._waiting else (work.replaced, round(used), work.size)

        return min(works, key=rank, default=None)

    def _client(self, work: _Work) -> str:
        """The computation's client; if it has several, the one that has used the least time."""
        now = self._clock()
        return min(work.listeners.values(), key=lambda client: self._seconds(client, now), default=work.client)

    def _seconds(self, client: str, now: float) -> float:
        seconds, counted = self._used.get(client, (0.0, 0.0))
        return seconds * 0.5 ** ((now - counted) / HALF_LIFE)
