"""The same commands over a real Ray cluster of two nodes on this machine, one of which is killed on the way."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.evaluation.parts import Predicted
from tests.app.made_up_models import make_checkpoint
from trainers import prediction_files
from trainers.__main__ import main
from trainers.cluster import cluster, each, on_loopback

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000, "node_ip_address": "127.0.0.1"}


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


def test_a_cluster_writes_the_same_parts_though_a_node_is_killed(
    two_nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.evaluation.parts.ROWS", 3)
    make_checkpoint(tmp_path, "tiny", "Tiny", 1)
    command = ["predict", str(tmp_path / "tiny"), str(lines(tmp_path / "rows.jsonl")), "--out"]
    assert main([*command, f"{tmp_path}/alone/"]) == 0
    add, (_, other) = prediction_files._Parts.add, two_nodes.list_all_nodes()
    added: list[int] = []

    def killing(parts: Any, predicted: Predicted) -> None:
        if len(added) == 3:
            two_nodes.remove_node(other, allow_graceful=False)
        added.append(predicted.part.number)
        add(parts, predicted)

    monkeypatch.setattr(prediction_files._Parts, "add", killing)
    assert main([*command, f"{tmp_path}/shared/", "--ray", two_nodes.address]) == 0
    assert added == list(range(12)) and len(two_nodes.list_all_nodes()) == 1
    assert contents(tmp_path / "shared") == contents(tmp_path / "alone")


def refused(item: int) -> int:
    """A task that a person can mend."""
    from core.errors import RunError

    if item:
        raise RunError("mend it")
    return item


def test_what_a_task_says_is_said_here(two_nodes: Any) -> None:
    from core.errors import RunError

    with cluster(two_nodes.address) as ray:
        answers = each(ray, refused, [0, 1])
        assert next(answers) == (0, 0)
        with pytest.raises(RunError, match=r"^mend it$"):
            next(answers)


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


def test_an_address_without_a_cluster_is_told_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("trainers.cluster.PATIENCE", 1.0)
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
            started = time.monotonic()
            assert main([*command, "--ray", address]) == 2
            assert time.monotonic() - started < 10
            assert what in capsys.readouterr().err
    assert not list((tmp_path / "out").glob("part-*"))
