"""Runs and notes of jobs on a shelf that servers share: a real S3 server on this machine, and what is said without."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.desk import job_notes, shelf, store
from core.desk.prediction import PredictionJob
from core.desk.queue import JobQueue
from core.errors import DeskError
from tests.core.made_up_runs import ONE, TWO, made_up_run

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def s3():
    """The address of moto's server, which speaks S3's protocol over HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 600
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < deadline and server.poll() is None
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(600)


@pytest.fixture
def bucket(s3, monkeypatch, tmp_path):
    """PAIRLENS_RUNS names a folder of a bucket there; returns the settings that another server needs."""
    settings = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": s3,
        "PAIRLENS_RUNS": f"s3://{tmp_path.name.replace('_', '-')}/group",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path / "desk"))
    import s3fs

    s3fs.S3FileSystem().mkdir(settings["PAIRLENS_RUNS"].split("/")[2])
    return settings


OTHER = """
import sys
from core.desk import store
(known,) = store.runs()
run = store.open_run(known.sha256, [model.sha256 for model in known.models])
print([model.model for model in known.models], known.rows, run.right(0).sum())
store.put_first(known.sha256, [model.sha256 for model in reversed(known.models)])
"""


def other_server(settings, tmp_path, script, **more):
    """What a process prints that has the same runs and a desk's folder of its own."""
    environment = os.environ | settings | {"PAIRLENS_DESK": str(tmp_path / "other")} | more
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=600
    )


def test_two_servers_share_the_runs_of_a_bucket(bucket, tmp_path):
    assert store.runs() == []
    run = made_up_run(tmp_path)
    store.keep(run)
    (known,) = store.runs()
    assert {model.model for model in known.models} == {"one", "two"} and known.rows == 6
    before = store.written(run.dataset.sha256, [ONE, TWO])
    told = other_server(bucket, tmp_path, OTHER)
    assert told.stdout == "['one', 'two'] 6 4\n", told.stderr
    # What the other server wrote is seen here, and nothing lies in either desk's folder.
    assert [model.model for model in store.runs()[0].models] == ["two", "one"]
    assert store.written(run.dataset.sha256, [ONE, TWO]) != before
    assert not (tmp_path / "desk").exists() and not (tmp_path / "other").exists()
    assert store.stored(run.dataset, ONE) and not store.stored(run.dataset, "c" * 64)
    with pytest.raises(DeskError, match="there is no such run"):
        store.open_run(run.dataset.sha256, ["c" * 64])


def test_a_run_that_is_no_run_is_left_out_of_the_list(bucket, tmp_path):
    store.keep(made_up_run(tmp_path))
    with shelf.of_desk().writing(f"runs/{'d' * 16}-{'e' * 16}.parquet") as path:
        path.write_bytes(b"PAR1 and no more")
    assert len(store.runs()) == 1
    with pytest.raises(DeskError, match="is no run of PairLens"):
        store.open_run("d" * 16, ["e" * 16])


STOPPED = """
import os, signal
from core.desk import job_notes
job_notes.note("The prediction of a.csv", 3)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_job_whose_server_was_killed_is_told_by_the_other_one(bucket, tmp_path, monkeypatch):
    monkeypatch.setattr(job_notes, "SEEN_EVERY", 0.2)
    monkeypatch.setattr(job_notes, "STOPPED_AFTER", 3.0)
    living = job_notes.note("The prediction of b.csv", 4)
    assert other_server(bucket, tmp_path, STOPPED).returncode == -signal.SIGKILL
    deadline = time.monotonic() + 600
    while not (told := job_notes.stopped()):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert [(job.what, job.rows) for job in told] == [("The prediction of a.csv", 3)], "the other one lives"
    job_notes.put_away(told[0].name)
    assert job_notes.stopped() == []
    living.remove()
    assert shelf.of_desk().listed("jobs") == []


def test_a_prediction_is_kept_in_the_bucket(bucket, tmp_path, monkeypatch):
    from tests.app.made_up_models import make_checkpoint

    make_checkpoint(tmp_path / "own", "tiny", "Tiny", 1)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "own"))
    queue, job = JobQueue(), PredictionJob(made_up_run(tmp_path).dataset, ["tiny"])
    queue.add(job)
    assert job.wait(600) and not job.problem
    assert [model.model for model in store.runs()[0].models] == ["tiny"]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("s3://no-such-bucket/runs", "the bucket or folder that PAIRLENS_RUNS names is not there: make it first"),
        ("nonsense://x", r"cannot be used \(Protocol not known: nonsense"),
        ("gs://bucket/runs", r"PAIRLENS_RUNS needs a library \(.*gcsfs"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_sentence(bucket, tmp_path, monkeypatch, address, says):
    monkeypatch.setenv("PAIRLENS_RUNS", address)
    with pytest.raises(DeskError, match=says) as refused:
        store.keep(made_up_run(tmp_path))
    assert "\n" not in str(refused.value)


def test_a_store_that_does_not_answer_is_told_soon_and_without_its_password(bucket, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("PAIRLENS_RUNS", "s3://another-bucket/runs")
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(DeskError, match="the store of runs cannot be used"):
        store.runs()
    s3fs.S3FileSystem.clear_instance_cache()
    for secret in ("s3://ann:secret@bucket", "ftp://ann:secret@127.0.0.1:1/runs"):
        monkeypatch.setenv("PAIRLENS_RUNS", secret)
        with pytest.raises(DeskError) as refused:
            store.runs()
        assert "secret" not in str(refused.value)


def test_a_folder_may_be_named_as_such_or_as_a_file_address(tmp_path, monkeypatch):
    run = made_up_run(tmp_path)
    for name, address in (("plain", f"{tmp_path}/plain"), ("address", f"file://{tmp_path}/address")):
        monkeypatch.setenv("PAIRLENS_RUNS", address)
        store.keep(run)
        assert len(list((tmp_path / name / "runs").glob("*.parquet"))) == 2 and len(store.runs()) == 1
        note = job_notes.note("The prediction of a.csv", 3)
        assert json.loads(next((tmp_path / name / "jobs").glob("*.json")).read_text())["rows"] == 3
        note.remove()
