"""The one queue of a server's jobs: places, cancel, and what is said after the server was killed."""

import os
import signal
import threading
from dataclasses import dataclass, field

import pytest

from core.desk import jobs as desk_jobs
from core.desk.jobs import MOST_WAITING, Job, JobQueue
from core.errors import DeskError
from core.files import FileError
from tests.processes import forked


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path / "desk"))
    return tmp_path / "desk"


@dataclass(eq=False)
class Held(Job):
    """Works until it is let go."""

    name: str = "taxi.csv"
    rows: int = 3
    let_go: threading.Event = field(default_factory=threading.Event)
    works: threading.Event = field(default_factory=threading.Event)

    @property
    def what(self):
        return f"The prediction of {self.name}"

    def work(self):
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
    assert first.wait(600) and second.works.wait(600)
    assert [queue.place(job) for job in (first, second, third)] == [0, 0, 1] and queue.jobs() == (second, third)
    assert not third.started
    for job in (second, third):
        job.let_go.set()
        assert job.wait(600) and job.done == 3
    assert queue.jobs() == () and desk_jobs.stopped() == []


def test_a_job_that_waits_is_cancelled_at_once_and_one_that_runs_after_its_batch(desk):
    queue = JobQueue()
    first, second, third = queue_of(3, queue)
    queue.cancel(second)
    assert second.finished and second.cancelled and not second.works.is_set()
    assert queue.place(third) == 1 and len(list((desk / "jobs").glob("*.json"))) == 2
    queue.cancel(first)
    assert not first.finished and first.works.wait(600)
    first.let_go.set()
    assert first.wait(600) and first.cancelled and not first.problem and third.works.wait(600)
    third.let_go.set()
    assert third.wait(600) and list((desk / "jobs").iterdir()) == []


def test_a_setting_limits_concurrent_jobs(monkeypatch):
    monkeypatch.setenv("PAIRLENS_JOBS", "2")
    queue = JobQueue()
    jobs = queue_of(3, queue)
    assert all(job.works.wait(600) for job in jobs[:2]) and not jobs[2].started and queue.place(jobs[2]) == 1
    for text in ("0", "many", "-1", "²"):
        monkeypatch.setenv("PAIRLENS_JOBS", text)
        with pytest.raises(DeskError, match="PAIRLENS_JOBS must be a number of jobs from 1 to 999"):
            queue.add(Held())
    for job in jobs:
        job.let_go.set()
        assert job.wait(600)


def test_a_crowded_queue_and_a_folder_that_cannot_be_written_are_one_sentence(monkeypatch, desk):
    queue = JobQueue()
    jobs = queue_of(1 + MOST_WAITING, queue)
    with pytest.raises(DeskError, match="50 jobs are already queued"):
        queue.add(Held())
    assert len(queue.jobs()) == len(list((desk / "jobs").glob("*.json"))) == 51
    for job in reversed(jobs):
        queue.cancel(job)
    jobs[0].let_go.set()
    assert jobs[0].wait(600)
    (desk / "file").write_text("")
    monkeypatch.setenv("PAIRLENS_DESK", str(desk / "file"))
    with pytest.raises(FileError, match="cannot be written"):
        queue.add(Held())
    assert queue.jobs() == ()


def work_until_killed():
    jobs = queue_of(2, JobQueue())
    assert jobs[0].works.wait(600)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_job_of_a_killed_server_is_marked_as_stopped():
    own = JobQueue()
    (living,) = queue_of(1, own)
    killed = forked(work_until_killed)
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    for _ in range(2):  # whoever asks: nothing is taken away by looking
        told = desk_jobs.stopped()
        assert sorted((job.what, job.rows) for job in told) == [
            ("The prediction of 0.csv", 3),
            ("The prediction of 1.csv", 3),
        ]
    assert not living.finished, "it continues here, and is not reported"
    for job in told:
        desk_jobs.dismiss(job.name)
    assert desk_jobs.stopped() == []
    living.let_go.set()
    assert living.wait(600)
