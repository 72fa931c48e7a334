"""Commands on a real Ray cluster of two nodes on this machine, one of which is killed during the run."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.cluster import cluster, each, on_loopback
from core.desk.run_folder import UnfinishedRun
from tests.app.made_up_models import make_checkpoint
from tests.trainers.test_table_training import base
from trainers.__main__ import main
from trainers.paper.__main__ import main as paper
from trainers.paper.table.systems import TABLES

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000, "node_ip_address": "127.0.0.1"}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that is there is waited for, however busy the machine is."""
    monkeypatch.setattr("core.cluster.PATIENCE", 600.0)


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Any]:
    """A head with one processor and a node with another, which a test kills."""
    on_loopback()
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    nodes.add_node(**NODE)
    try:
        yield nodes
    finally:
        nodes.shutdown()


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


def test_a_table_trains_its_runs_on_both_nodes(
    two_nodes: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    systems = tuple(system for system in TABLES["sentiment"].systems if system.name == "AttConv light")
    monkeypatch.setitem(TABLES, "sentiment", TABLES["sentiment"]._replace(systems=systems))
    monkeypatch.setattr("trainers.loop.ready", lambda *_: pytest.fail("trained here"))
    command = ["table", "sentiment", "--train", str(base(tmp_path, "comparison-sst5")), "--data", str(data)]
    command += ["--runs", str(tmp_path / "runs"), "--out"]
    assert len(two_nodes.list_all_nodes()) == 2
    assert paper([*command, str(tmp_path / "shared"), "--ray", two_nodes.address]) == 0
    seeds = [f"attconv-light-seed={seed}" for seed in (1, 2, 3)]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir() if path.is_dir()) == seeds
    # Nothing is left to train, and the table is what it would be here.
    assert paper([*command, str(tmp_path / "alone")]) == 0
    assert (tmp_path / "shared.csv").read_text() == (tmp_path / "alone.csv").read_text()


def test_a_cluster_writes_the_same_parts_though_a_node_is_killed(
    two_nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    assert main([*command, f"{tmp_path}/shared/", "--ray", two_nodes.address]) == 0
    assert added == list(range(12)) and len(two_nodes.list_all_nodes()) == 1
    assert contents(tmp_path / "shared") == contents(tmp_path / "alone")


def refused(item: int) -> int:
    """A task with an error that the user can fix."""
    from core.errors import RunError

    if item:
        raise RunError("fix it")
    return item


def test_a_tasks_messages_are_shown_here(two_nodes: Any) -> None:
    from core.errors import RunError

    with cluster(two_nodes.address) as ray:
        answers = each(ray, refused, [0, 1])
        assert next(answers) == (0, 0)
        with pytest.raises(RunError, match=r"^fix it$"):
            next(answers)


def test_a_connection_within_another_is_the_same_and_stays(two_nodes: Any) -> None:
    with cluster(two_nodes.address) as ray:
        with cluster(two_nodes.address) as same:
            assert same is ray
        assert ray.is_initialized()
    assert not ray.is_initialized()


def test_a_sweep_trains_its_runs_in_the_cluster(
    two_nodes: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = ["model.hidden=6", "epochs=1", "batch_size=30", "ema=0.5", "report=[]"]
    changes = [part for setting in settings for part in ("--set", setting)]
    command = ["sweep", "nli-attconv-light", "--data", str(data), "--seeds", "1,2", "--csv"]
    assert main([*command, "shared.csv", "--runs", "runs", *changes, "--ray", two_nodes.address]) == 0
    # Nothing is left to train, and the folders are what they would be here.
    monkeypatch.setattr("trainers.loop.ready", lambda *_: pytest.fail("trained here"))
    assert main([*command, "alone.csv", "--runs", "runs", *changes]) == 0
    assert (tmp_path / "shared.csv").read_text() == (tmp_path / "alone.csv").read_text()
    assert sorted(path.name for path in (tmp_path / "runs").iterdir())[1].endswith("seed=2")


def test_an_address_without_a_cluster_is_reported_quickly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("core.cluster.PATIENCE", 1.0)
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
    assert not list((tmp_path / "out").glob("*.parquet"))
