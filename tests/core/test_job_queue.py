"""The one queue of a server's jobs: places, cancel, and limits."""

import threading
import weakref

import pytest

from core.desk.jobs import MOST_WAITING, Job, JobQueue
from core.errors import DeskError


class Held(Job):
    """Works until it is let go."""

    def __init__(self, name="taxi.csv"):
        super().__init__(f"The prediction of {name}", 3, Held.hold)
        self.let_go, self.works = threading.Event(), threading.Event()

    def hold(self):
        self.works.set()
        assert self.let_go.wait(600)
        self.progress(self.rows)


def queue_of(count, queue):
    jobs = [Held(f"{number}.csv") for number in range(count)]
    for job in jobs:
        queue.add(job)
    return jobs


def test_one_job_runs_and_the_others_know_their_place():
    queue = JobQueue()
    first, second, third = queue_of(3, queue)
    assert first.works.wait(600) and [queue.place(job) for job in (first, second, third)] == [0, 1, 2]
    first.let_go.set()
    assert first.future.result(600) is None and second.works.wait(600)
    assert [queue.place(job) for job in (first, second, third)] == [0, 0, 1] and queue.jobs() == (second, third)
    assert not third.works.is_set()
    for job in (second, third):
        job.let_go.set()
        assert job.future.result(600) is None and job.done == 3
    assert queue.jobs() == ()


def test_a_job_that_waits_is_cancelled_at_once_and_one_that_runs_after_its_batch():
    queue = JobQueue()
    first, second, third = queue_of(3, queue)
    second.cancel()
    assert second.finished and second.cancelled and not second.works.is_set()
    assert queue.place(third) == 1
    assert first.works.wait(600)
    first.cancel()
    assert not first.finished
    first.let_go.set()
    assert first.future.result(600) is None and first.cancelled and not first.problem and third.works.wait(600)
    third.let_go.set()
    assert third.future.result(600) is None


def test_a_setting_limits_concurrent_jobs(monkeypatch):
    monkeypatch.setenv("PAIRLENS_JOBS", "2")
    queue = JobQueue()
    jobs = queue_of(3, queue)
    assert all(job.works.wait(600) for job in jobs[:2]) and not jobs[2].works.is_set() and queue.place(jobs[2]) == 1
    for text in ("0", "many", "-1", "²"):
        monkeypatch.setenv("PAIRLENS_JOBS", text)
        with pytest.raises(DeskError, match="PAIRLENS_JOBS must be a number of jobs from 1 to 999"):
            queue.add(Held())
    for job in jobs:
        job.let_go.set()
        assert job.future.result(600) is None


def test_a_short_job_runs_in_parallel_with_a_long_one_and_delays_none():
    queue = JobQueue(short=100)
    jobs = [Held(name) for name in ("long", "longer", "short", "shorter")]
    for job in jobs[:2]:
        job.rows = 101
    long, longer, short, shorter = jobs
    for job in jobs:
        queue.add(job)
    assert long.works.wait(600) and short.works.wait(600)
    assert [queue.place(job) for job in jobs] == [0, 1, 0, 1] and not longer.works.is_set()
    long.let_go.set()
    assert longer.works.wait(600), "the long ones do not wait for short ones"
    assert queue.jobs() == (longer, short, shorter) and not shorter.works.is_set()
    for job in (short, shorter, longer):
        job.let_go.set()
        assert job.future.result(600) is None
    for job in (free := Held("free")), (second := Held("second")):
        queue.add(job)
        assert job.works.wait(600), "a short one takes the first thread if that is free"
    free.let_go.set(), second.let_go.set()
    assert free.future.result(600) is second.future.result(600) is None


def test_no_remaining_time_is_shown_until_it_is_known(monkeypatch):
    now, job = [0.0], Job("work", 200_000, lambda job: None)
    monkeypatch.setattr("core.desk.jobs.time.perf_counter", lambda: now[0])
    job.begin()
    for seconds, done, left in ((9, 64, None), (10, 4096, 478), (100, 100_000, 100)):
        now[0], job.done = seconds, done
        assert job.left == (None if left is None else pytest.approx(left, abs=1)), "a block is prepared first"
    short = Job("work", 1000, lambda job: None)
    now[0] = 0
    short.begin()
    for seconds, done, left in ((1, 500, None), (2, 99, None), (2, 500, 2)):
        now[0], short.done = seconds, done
        assert short.left == left


def test_a_crowded_queue_is_one_sentence():
    queue = JobQueue()
    jobs = queue_of(1 + MOST_WAITING, queue)
    assert jobs[0].works.wait(600)
    with pytest.raises(DeskError, match="50 jobs are already queued"):
        queue.add(Held())
    assert len(queue.jobs()) == 51
    for job in reversed(jobs):
        job.cancel()
    jobs[0].let_go.set()
    assert jobs[0].future.result(600) is None


def test_the_file_of_a_finished_job_is_not_held_in_memory():
    queue, job, gone = JobQueue(), Held(), threading.Event()
    weakref.finalize(job, gone.set)
    job.let_go.set()
    queue.add(job)
    del job
    assert gone.wait(60)
