"""The executor of the API: what clients share, who computes next, and when a computation ends.

Processor time is counted here, not spent, so that a busy machine changes nothing."""

import threading
import time
from collections.abc import Callable

import pytest

from app.api import executor as module
from app.api.executor import OPEN, Executor, Lane, Update, _Work
from app.api.refusals import Refused
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


SPENT = threading.local()
"""Each thread's processor time."""


@pytest.fixture(autouse=True)
def _counted(monkeypatch):
    monkeypatch.setattr(time, "thread_time", lambda: getattr(SPENT, "seconds", 0.0))


def burn(seconds: float) -> None:
    """Use so much processor time."""
    SPENT.seconds = getattr(SPENT, "seconds", 0.0) + seconds
    time.sleep(0.001)


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


def test_clients_with_the_same_question_share_one_computation_and_its_cached_answer():
    executor, steps, listeners = Executor(), Steps(20), [Listener() for _ in range(3)]
    for number, listener in enumerate(listeners[:2]):
        executor.ask("key", steps, f"client {number}", listener)
    assert [listener.last().answer for listener in listeners[:2]] == [b'"done"'] * 2
    executor.ask("key", steps, "later", listeners[2])
    assert listeners[2].last(0) == Update(answer=b'"done"') and steps.times == 1
    assert (1, 20) in [event.progress for event in listeners[0].events]


def test_parts_of_an_answer_reach_all_waiting_clients_before_the_answer():
    executor, begun, listeners = Executor(), threading.Event(), [Listener() for _ in range(3)]

    def compute(report):
        assert begun.wait(20)
        report.part(b"[1]")
        report(1, 2)
        return b"[1, 2]"

    for listener in listeners[:2]:
        executor.ask("key", compute, "one", listener)
    begun.set()
    assert [listener.last().answer for listener in listeners[:2]] == [b"[1, 2]"] * 2
    assert all(Update(part=b"[1]") in listener.events for listener in listeners[:2])
    executor.ask("key", compute, "two", listeners[2])
    assert listeners[2].events == [Update(answer=b"[1, 2]")]


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
    executor = Executor(slots=1)
    begun, going_on, queued = threading.Event(), threading.Event(), Steps(1)

    def first(progress):
        begun.set()
        going_on.wait(60)
        return b"1"

    executor.ask("first", first, "hog", Listener())
    assert begun.wait(10)
    executor.ask("queued", queued, "hog", Listener())()
    going_on.set()
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


def test_the_client_that_has_used_the_least_computes_next(monkeypatch):
    """Two clients with three computations keep both slots busy; a third one gets a slot until it is done, so the others
    together compute about as much in that time."""
    monkeypatch.setitem(module.THREADS, Lane.LONG, 3)
    executor, heavy = Executor(slots=2, quantum=0.05), [Steps(ENDLESS) for _ in range(3)]
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


def test_a_long_computation_waits_only_for_those_that_have_just_begun_of_clients_that_used_no_more():
    now = [100.0]
    executor = Executor(clock=lambda: now[0])
    work = _Work("long", Steps(1), Lane.LONG, 0, "asks", started=0.0)
    other = _Work("fresh", Steps(1), Lane.FIRST, 0, "other", started=99.0)
    executor._running = [work, other]
    for theirs, gives_way in ((3.0, True), (4.0, True), (5.0, False)):
        executor._used = {"asks": (4.0, 100.0), "other": (theirs, 100.0)}
        assert executor._gives_way(work) == gives_way
    executor._used = {}
    assert executor._gives_way(work)
    other.lane = Lane.LONG
    assert not executor._gives_way(work), "they take turns"
    other.lane, now[0] = Lane.FIRST, 99.0 + module.FRESH
    assert not executor._gives_way(work), "it takes long"


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


def threads():
    return sum(thread.name == "answer" for thread in threading.enumerate())


def test_waiting_computations_hold_no_thread_and_newcomers_are_answered():
    """Twenty clients with two endless computations each: only a few of them have a thread, and neither a quick answer
    nor a short computation of a client that has used nothing waits for them."""
    executor, heavy, before = Executor(slots=1, quantum=0.02), [Steps(ENDLESS) for _ in range(40)], threads()
    leaves = [executor.ask(n, steps, f"heavy {n % 20}", Listener(), size=9) for n, steps in enumerate(heavy)]
    most = sum(module.THREADS.values())
    for number, lane in enumerate((Lane.QUICK, Lane.FIRST, Lane.QUICK)):
        listener = Listener()
        executor.ask(f"newcomer {number}", Steps(1), f"newcomer {number}", listener, lane=lane)
        assert listener.last(10).answer and threads() - before <= most
    until(lambda: all(steps.times for steps in heavy), 60)
    until(lambda: threads() - before <= module.THREADS[Lane.LONG])
    for leave in leaves:
        leave()
    until(lambda: threads() <= before)


def test_a_postponed_computation_starts_again_when_a_thread_is_free(monkeypatch):
    monkeypatch.setitem(module.THREADS, Lane.LONG, 1)
    executor, steps, listener = Executor(slots=1, quantum=0.05), Steps(15), Listener()
    leave = executor.ask("endless", Steps(ENDLESS), "one", Listener())
    until(lambda: executor._waiting or any(work.lane is Lane.LONG for work in executor._running))
    executor.ask("postponed", steps, "one", listener)
    until(lambda: steps.ended)
    assert not listener.answered.is_set()
    leave()
    assert listener.last().answer and steps.times == 2


def test_computations_of_one_client_take_turns():
    executor, heavy = Executor(slots=1, quantum=0.02), [Steps(ENDLESS) for _ in range(2)]
    leaves = [executor.ask(n, steps, "one", Listener()) for n, steps in enumerate(heavy)]
    until(lambda: sum(steps.done for steps in heavy) > 100)
    assert min(steps.done for steps in heavy) > 25
    for leave in leaves:
        leave()


def test_the_youngest_long_computation_leaves_its_thread_to_a_client_that_has_used_less(monkeypatch):
    monkeypatch.setitem(module.THREADS, Lane.LONG, 2)
    executor, heavy = Executor(slots=1, quantum=0.02), [Steps(ENDLESS) for _ in range(2)]
    leaves = [executor.ask(n, steps, "heavy", Listener()) for n, steps in enumerate(heavy)]
    until(lambda: sum(steps.done for steps in heavy) > 110)
    listener = Listener()
    executor.ask("newcomer", Steps(20), "newcomer", listener)
    assert listener.last().answer
    until(lambda: sorted(steps.times for steps in heavy) == [1, 2])
    for leave in leaves:
        leave()


def test_only_a_client_that_has_used_twice_as_much_gives_up_the_youngest_of_its_threads():
    executor, begun = Executor(quantum=1, clock=lambda: 0.0), {"hog": 1.0, "hog again": 2.0}
    held = [_Work(key, Steps(1), Lane.LONG, 0, "hog", started=at) for key, at in begun.items()]
    executor._running = held[::-1]
    for theirs, own, given in ((3.9, 0.0, False), (4.0, 0.0, True), (10.0, 5.1, False), (10.0, 5.0, True)):
        executor._used = {"hog": (theirs, 0.0), "asks": (own, 0.0)}
        with executor._changed:
            assert executor._replaces_another(_Work("asks", Steps(1), Lane.LONG, 0, "asks")) == given
        assert [work.postponed for work in held] == [False, given]
        held[1].postponed = held[1].replaced = False
    assert not executor._replaces_another(_Work("asks", Steps(1), Lane.FIRST, 0, "asks")), "it is in another lane"


def test_a_client_has_a_few_open_requests_of_either_kind():
    executor, going_on = Executor(), threading.Event()

    def wait(progress):
        going_on.wait(60)
        return b"1"

    for lane in (Lane.QUICK, Lane.FIRST):
        listeners = [Listener() for _ in range(OPEN)]
        for number, listener in enumerate(listeners):
            executor.ask((lane, number), wait, "one", listener, lane=lane)
        with pytest.raises(Refused, match=r"open requests here: wait until one of them is answered\.$") as refused:
            executor.ask((lane, "further"), wait, "one", Listener(), lane=lane)
        assert refused.value.status == 429
        listeners.append(Listener())
        executor.ask((lane, "another"), wait, "another", listeners[-1], lane=lane)
    going_on.set()
    assert listeners[0].last().answer
    until(lambda: not executor._running)
    executor.ask("further", wait, "one", listeners[0])


def order_of(executor, *clients):
    """Whose computation ends first, if all of them wait until a thread is free."""
    begun, going_on, order, listeners = threading.Event(), threading.Event(), [], [Listener() for _ in clients]

    def first(progress):
        begun.set()
        going_on.wait(60)
        return b"1"

    executor.ask("first", first, "first", Listener())
    assert begun.wait(10)
    for client, listener in zip(clients, listeners, strict=True):
        executor.ask(client, lambda progress, client=client: order.append(client) or b"1", client, listener)
    going_on.set()
    assert all(listener.last().answer for listener in listeners)
    return order


def used(executor, client, seconds):
    listener = Listener()
    executor.ask(object(), lambda progress: burn(seconds) or b"1", client, listener)
    listener.last()
    until(lambda: not executor._running)


def test_half_of_the_time_that_a_client_has_used_is_forgotten_after_a_while():
    now = [0.0]
    executor = Executor(slots=1, clock=lambda: now[0])
    used(executor, "long ago", 3.6)
    now[0] += 2 * module.HALF_LIFE
    used(executor, "just now", 1.8)
    assert order_of(executor, "just now", "long ago") == ["long ago", "just now"]


def test_leaving_does_not_spare_a_client_the_time_it_has_used():
    executor, steps = Executor(slots=1), Steps(1, 1.8)
    leave = executor.ask("key", steps, "leaves", Listener())
    until(lambda: executor._running)
    leave()
    until(lambda: not executor._running)
    assert order_of(executor, "leaves", "another") == ["another", "leaves"]


def test_among_clients_that_have_used_as_much_the_short_question_is_next():
    executor, going_on, order, listeners = Executor(slots=1), threading.Event(), [], [Listener(), Listener()]
    executor.ask("first", lambda progress: going_on.wait(60) and b"1", "first", Listener())
    for size, listener in zip((300, 10), listeners, strict=True):
        executor.ask(size, lambda progress, size=size: order.append(size) or b"1", f"{size}", listener, size=size)
    going_on.set()
    assert all(listener.last().answer for listener in listeners) and order == [10, 300]
