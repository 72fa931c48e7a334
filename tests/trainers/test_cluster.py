"""Commands on a real Ray cluster of two nodes on this machine, one of which is killed during the run; and what only
passes Ray's answers on, without Ray."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.checkpoint import load
from core.cluster import cluster, each, on_loopback, predicted_by
from core.data import read
from core.desk.unfinished_run import UnfinishedRun
from core.errors import RunError
from core.evaluation.parts import Part
from tests.app.made_up_models import make_checkpoint
from tests.trainers.test_table_training import base
from trainers.__main__ import main
from trainers.paper.__main__ import main as paper
from trainers.paper.table.systems import TABLES

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000, "node_ip_address": "127.0.0.1"}


class Slower:
    """A clock by which Ray's thirty seconds for the start of a node are ten minutes: the machine may be busy."""

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def monotonic(self) -> float:
        return time.monotonic() / 20


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Any]:
    """A head with one processor and a node with another, which a test kills. Each worker takes seconds to load torch:
    none is started before it is needed, and commands share one connection, whose workers stay."""
    on_loopback()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_prestart_worker_first_driver", "0")
        patch.setattr("core.cluster.PATIENCE", 600.0)
        from ray.cluster_utils import Cluster

        patch.setattr("ray._private.node.time", Slower())
        # Each of these would be a process that loads Ray.
        without = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
        nodes = Cluster(initialize_head=True, head_node_args={**NODE, **without})
        nodes.add_node(**NODE)
        try:
            yield nodes
        finally:
            nodes.shutdown()


@pytest.fixture(scope="module")
def connected(two_nodes: Any) -> Iterator[str]:
    """The address of the two nodes, to which this process is connected."""
    with cluster(two_nodes.address) as ray:
        yield two_nodes.address
        assert ray.is_initialized(), "a connection within this one leaves it open"
    assert not ray.is_initialized()


def lines(path: Path) -> Path:
    words = ("a dog", "the cat is cold", "snow", "a man in the snow", "toy", "a dog is outside in the cold")
    rows = [
        {"gold_label": "neutral", "sentence1": first, "sentence2": second, "pairID": f"{first} {second}"}
        for first in words
        for second in words
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class TaskError(Exception):
    """As Ray's RayTaskError, which is a RayError."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause


class Stand:
    """Ray as far as the commands use it, of two processors. A task is pickled, and runs here when it is asked for."""

    exceptions = SimpleNamespace(RayTaskError=TaskError, RayError=(TaskError, ConnectionError))

    def __init__(self) -> None:
        self.given, self.cancelled, self.addresses = list[Any](), list[Any](), list[str]()

    @contextmanager
    def cluster(self, address: str, *_: str) -> Iterator[Stand]:
        self.addresses.append(address)
        yield self

    def remote(self, **_: int) -> Callable[[Any], Any]:
        def task(item: Any) -> Any:
            self.given.append(item)
            return item

        def taking(call: Any) -> Any:
            on_loopback()
            from ray import cloudpickle

            self.call = cloudpickle.loads(cloudpickle.dumps(call))
            return SimpleNamespace(remote=task)

        return taking

    def get(self, item: Any) -> Any:
        try:
            return self.call(item)
        except ConnectionError:
            raise
        except Exception as error:
            raise TaskError(error) from None

    def cancel(self, item: Any) -> None:
        self.cancelled.append(item)

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}


@pytest.fixture
def stand(monkeypatch: pytest.MonkeyPatch) -> Stand:
    """A stand-in for a cluster at any address."""
    stand = Stand()
    for module in ("trainers.runs", "trainers.predict", "core.cluster"):  # the last one is where they import it from
        monkeypatch.setattr(f"{module}.cluster", stand.cluster)
    return stand


def refused(item: int) -> int:
    """A task that fails for several reasons."""
    if item:
        raise (RunError("fix it"), ValueError("broken"), ConnectionError("node 7\nis gone"))[item - 1]
    return item


def test_tasks_are_answered_in_order_and_few_are_under_way(stand: Stand) -> None:
    answers = each(stand, len, ["a", "bc", "", "d"], ahead=2)
    assert next(answers) == ("a", 1) and stand.given == ["a", "bc"]
    assert list(answers) == [("bc", 2), ("", 0), ("d", 1)] and stand.cancelled == []


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (1, r"^fix it$"),
        (2, r"^a task of the cluster failed \(ValueError\('broken'\)\): see Ray's logs there$"),
        (3, r"^the cluster is lost \(node 7\): begin the same command again$"),
    ],
)
def test_a_tasks_failure_is_one_sentence_here_and_ends_the_others(stand: Stand, item: int, message: str) -> None:
    answers = each(stand, refused, [0, item, 0])
    assert next(answers) == (0, 0)
    with pytest.raises(RunError, match=message):
        next(answers)
    assert stand.cancelled == [0]


def test_a_table_trains_its_runs_as_tasks(
    stand: Stand, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    systems = tuple(system for system in TABLES["sentiment"].systems if system.name == "AttConv light")
    monkeypatch.setitem(TABLES, "sentiment", TABLES["sentiment"]._replace(systems=systems))
    command = ["table", "sentiment", "--train", str(base(tmp_path, "comparison-sst5")), "--data", str(data)]
    command += ["--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "table"), "--ray", "there:6379"]
    command += ["--seeds", "1,2,3"]
    assert paper(command) == 0
    assert stand.addresses == ["there:6379"] and len(stand.given) == 3
    seeds = [f"attconv-light-seed={seed}" for seed in (1, 2, 3)]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir() if path.is_dir()) == seeds


def test_a_machine_with_another_checkpoint_is_one_sentence(stand: Stand, tmp_path: Path) -> None:
    make_checkpoint(tmp_path, "tiny", "Tiny", 1)
    checkpoint = load(tmp_path / "tiny")
    other = replace(checkpoint, card={**checkpoint.card, "sha256": "0" * 64})
    part = Part(0, read(lines(tmp_path / "rows.jsonl")))
    with pytest.raises(RunError, match="has another checkpoint"):
        list(predicted_by(stand, [part], [other], lambda rows: None))


def test_an_address_without_a_cluster_is_reported_quickly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("core.cluster.PATIENCE", 0.5)
    end = threading.Event()
    waiting = SimpleNamespace(is_initialized=lambda: False, init=lambda *_, **__: end.wait(60), __spec__="found")
    monkeypatch.setitem(sys.modules, "ray", waiting)  # Ray waits a minute for a server that is not Ray
    make_checkpoint(tmp_path, "tiny", "Tiny", 1)
    command = ["predict", str(tmp_path / "tiny"), str(lines(tmp_path / "rows.jsonl")), "--out", f"{tmp_path}/out/"]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        for address, what in (
            ("auto", "there is no Ray cluster on this machine"),
            (f"127.0.0.1:{port}", f"there is no Ray cluster at 127.0.0.1:{port}"),
            ("127.0.0.1:1", "there is no Ray cluster at 127.0.0.1:1"),
            ("nowhere", "--ray wants auto or HOST:PORT"),
        ):
            assert main([*command, "--ray", address]) == 2
            assert what in capsys.readouterr().err
    end.set()
    assert not list((tmp_path / "out").glob("*.parquet"))


def test_a_sweep_trains_its_runs_in_the_cluster(
    connected: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("trainers.loop.ready", lambda *_: pytest.fail("trained here"))
    settings = ["model.hidden=6", "epochs=1", "batch_size=30", "ema=0.5", "report=[]"]
    changes = [part for setting in settings for part in ("--set", setting)]
    command = ["sweep", "sentiment-attconv", "--data", str(data), "--seeds", "1,2", "--csv"]
    assert main([*command, "shared.csv", "--runs", "runs", *changes, "--ray", connected]) == 0
    # Nothing is left to train, and the folders are what they would be here.
    assert main([*command, "alone.csv", "--runs", "runs", *changes]) == 0
    assert (tmp_path / "shared.csv").read_text() == (tmp_path / "alone.csv").read_text()
    assert sorted(path.name for path in (tmp_path / "runs").iterdir())[1].endswith("seed=2")


def test_a_cluster_writes_the_same_parts_though_a_node_is_killed(
    two_nodes: Any, connected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.evaluation.parts.ROWS", 3)
    make_checkpoint(tmp_path, "tiny", "Tiny", 1)
    command = ["predict", str(tmp_path / "tiny"), str(lines(tmp_path / "rows.jsonl")), "--out"]
    assert main([*command, f"{tmp_path}/alone/"]) == 0
    add, (_, other) = UnfinishedRun.add, two_nodes.list_all_nodes()
    added: list[int] = []

    def killing(run: UnfinishedRun, number: int, *rest: Any) -> None:
        if len(added) == 3:
            two_nodes.remove_node(other, allow_graceful=False)
        added.append(number)
        add(run, number, *rest)

    monkeypatch.setattr(UnfinishedRun, "add", killing)
    assert main([*command, f"{tmp_path}/shared/", "--ray", connected]) == 0
    assert added == list(range(12)) and len(two_nodes.list_all_nodes()) == 1
    assert contents(tmp_path / "shared") == contents(tmp_path / "alone")
