"""The executor of the API: what clients share, who computes next, and when a computation ends."""

import hashlib
import threading
import time
from collections.abc import Callable

from app.api.executor import Executor, Update
from core.errors import UserError


class Listener:
    """Records the events it receives."""

    def __init__(self) -> None:
        self.events: list[Update] = []
        self.answered = threading.Event()

    def __call__(self, event: Update) -> None:
        self.events.append(event)
        if event.last:
            self.answered.set()

    def last(self, seconds: float = 20) -> Update:
        assert self.answered.wait(seconds)
        return self.events[-1]


def burn(seconds: float) -> None:
    """Use so much processor time, mostly without Python's lock."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        hashlib.sha256(BYTES)


BYTES = bytes(200_000)


class Steps:
    """A computation of ``count`` steps, each of which takes ``seconds``. ``done``: steps so far; ``ended``: whether its
    progress raised."""

    def __init__(self, count: int, seconds: float = 0.01) -> None:
        self.count, self.seconds, self.done, self.ended, self.times = count, seconds, 0, False, 0

    def __call__(self, progress: Callable[[int, int], None]) -> bytes:
        self.times += 1
        try:
            while self.done < self.count:
                burn(self.seconds)
                self.done += 1
                progress(self.done, self.count)
        except BaseException:
            self.ended = True
            raise
        return b'"done"'


ENDLESS = 1_000_000


def until(true: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_clients_that_ask_the_same_listen_to_one_computation_whose_answer_is_kept():
    executor, steps, listeners = Executor(), Steps(20), [Listener() for _ in range(3)]
    for number, listener in enumerate(listeners[:2]):
        executor.ask("key", steps, f"client {number}", listener)
    assert [listener.last().answer for listener in listeners[:2]] == [b'"done"'] * 2
    executor.ask("key", steps, "later", listeners[2])
    assert listeners[2].last(0) == Update(answer=b'"done"') and steps.times == 1
    assert (1, 20) in [event.progress for event in listeners[0].events]


def test_a_computation_ends_when_its_last_listener_leaves():
    executor, steps, listeners = Executor(), Steps(ENDLESS), [Listener(), Listener()]
    leaves = [executor.ask("key", steps, "one", listener) for listener in listeners]
    until(lambda: steps.done > 0)
    leaves[0]()
    before = steps.done
    until(lambda: steps.done > before + 2)
    assert not steps.ended
    leaves[1]()
    until(lambda: steps.ended, 2)
    again = Listener()
    executor.ask("key", Steps(1), "one", again)
    assert again.last().answer, "it is computed again for whoever asks next"


def test_a_queued_computation_never_starts_when_its_client_has_left():
    executor = Executor()
    leaves = [executor.ask(number, Steps(ENDLESS), "hog", Listener()) for number in range(8)]
    queued = Steps(1)
    executor.ask("queued", queued, "hog", Listener())()
    other = Listener()
    executor.ask("other", Steps(1), "another", other)
    assert other.last().answer, "one client cannot hold all threads"
    for leave in leaves:
        leave()
    after = Listener()
    executor.ask("after", Steps(1), "hog", after)
    assert after.last().answer and queued.times == 0


def test_a_computation_that_waits_for_a_slot_ends_when_its_client_leaves():
    executor, waiting = Executor(slots=1, quantum=0.05), Steps(ENDLESS)
    first = executor.ask("first", Steps(ENDLESS, 0.3), "one", Listener())
    leave = executor.ask("waiting", waiting, "one", Listener())
    until(lambda: len(executor._waiting) == 1)
    leave()
    until(lambda: waiting.ended, 2)
    first()


def test_the_client_that_has_used_the_least_computes_next():
    """Two clients with four computations keep both slots busy; a third one gets a slot until it is done, so the
    others together compute about as much in that time."""
    executor, heavy = Executor(slots=2, quantum=0.05), [Steps(ENDLESS) for _ in range(4)]
    leaves = [executor.ask(n, steps, f"heavy {n % 2}", Listener()) for n, steps in enumerate(heavy)]
    until(lambda: sum(steps.done for steps in heavy) > 40)
    before, listener = [steps.done for steps in heavy], Listener()
    executor.ask("third", Steps(50), "third", listener)
    listener.last(60)
    assert sum(steps.done for steps in heavy) - sum(before) < 2 * 50
    until(lambda: all(steps.done > done for steps, done in zip(heavy, before, strict=True)))
    for leave in leaves:
        leave()
    until(lambda: all(steps.ended for steps in heavy))


def test_long_computations_wait_for_one_that_has_just_begun():
    executor, heavy = Executor(slots=2, quantum=0.1), [Steps(ENDLESS) for _ in range(2)]
    leaves = [executor.ask(n, steps, f"heavy {n}", Listener()) for n, steps in enumerate(heavy)]
    until(lambda: all(steps.done > 20 for steps in heavy))
    listener, begun, going_on = Listener(), threading.Event(), threading.Event()

    def fresh(progress):
        begun.set()
        going_on.wait(60)
        return b"1"

    executor.ask("fresh", fresh, "third", listener)
    assert begun.wait(10)
    until(lambda: len(executor._waiting) == 2)
    before = [steps.done for steps in heavy]
    time.sleep(0.1)
    assert [steps.done for steps in heavy] == before
    going_on.set()
    until(lambda: all(steps.done > done for steps, done in zip(heavy, before, strict=True)))
    for leave in leaves:
        leave()


def test_errors_are_one_sentence_and_are_not_kept(caplog):
    executor = Executor()
    for error, said, status in (
        (UserError("call `train` first"), "Call “train” first.", 422),
        (SystemExit(3), "This could not be computed (SystemExit): the server’s log says why.", 500),
    ):
        listener = Listener()

        def fail(progress, error=error):
            raise error

        executor.ask("key", fail, "one", listener)
        assert listener.last() == Update(error=said, status=status)
    assert "An answer could not be computed" in caplog.text


def test_answers_are_kept_up_to_a_number_of_bytes():
    executor, computed = Executor(kept=25), []
    for key in ("a", "b", "c", "a"):
        listener = Listener()

        def compute(progress, key=key):
            computed.append(key)
            return b"1234567890"

        executor.ask(key, compute, "one", listener)
        listener.last()
    assert computed == ["a", "b", "c", "a"]
