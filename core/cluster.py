"""Distributes work over a Ray cluster, including predictions in parts.

Calls are Ray tasks, which are retried if their machine is lost, rather than Ray Data: a part of a stream must keep its
rows and batches whichever machine computes it, but Ray Data cuts blocks by size. A worker process keeps loaded
checkpoints, as an actor would; but calls to an actor whose machine is lost wait for a free slot to restart it, while a
task runs on any free worker.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from core.checkpoint import Checkpoint
from core.checkpoint.memory import loaded
from core.data import Dataset, Example
from core.errors import RunError, UserError
from core.evaluation.parts import Part, Predicted
from core.evaluation.predict import chances, check_texts, logits, prepare_rows

PATIENCE = 8.0
"""Seconds to wait for a response from an address."""
_ON_LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""If set to 0, Ray uses 127.0.0.1 as given and does not look for another address of this machine."""
_PASSED_ON = ("PAIRLENS_", "XDG_CACHE_HOME", "OMP_", "GOMP_")
"""Prefixes of the environment variables that tasks inherit from the driver process."""

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def cluster(address: str) -> Iterator[Any]:
    """Ray, connected to the cluster at ``HOST:PORT``, or with ``auto`` to this machine's; a nested block reuses the
    outer block's connection, because its workers have already loaded the checkpoints. Raises RunError if no cluster
    answers, or if Ray is not installed."""
    host = check_address(address)
    known = sys.modules.get("ray")
    if known is not None and known.is_initialized():
        yield known
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if host.startswith("127.") or host in ("localhost", "::1"):
        on_loopback()
    variables = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
    own = str(Path(__file__).resolve().parents[1])
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, (own, os.environ.get("PYTHONPATH"))))

    def connect() -> None:
        import ray

        ray.init(
            address,
            namespace="pairlens",
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"env_vars": variables},
        )

    _within(PATIENCE, connect, _nobody(address))
    import ray

    try:
        yield ray
    finally:
        ray.shutdown()


def on_loopback() -> None:
    """Restricts Ray, before it is imported, to 127.0.0.1 and disables its usage statistics."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ[_ON_LOOPBACK] = "0"


def _nobody(address: str) -> RunError:
    where = "on this machine" if address == "auto" else f"at {address}"
    return RunError(f"there is no Ray cluster {where}: start one (docs/cluster.md), or give its HOST:PORT in --ray")


def check_address(address: str) -> str:
    """The host in an address that responds; for ``auto`` the cluster last started on this machine. Raises RunError if
    nothing responds, for an invalid address, and if Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise RunError("--ray needs Ray: install it with `make cluster`, or requirements-cluster.txt")
    if address == "auto":
        latest = Path(os.environ.get("RAY_TMPDIR", "/tmp"), "ray", "ray_current_cluster")
        known = os.environ.get("RAY_ADDRESS") or (latest.read_text().strip() if latest.is_file() else "")
        if not known:
            raise _nobody(address)
        address = known
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise RunError(f"--ray wants auto or HOST:PORT, such as 127.0.0.1:6379, got {address[:80]!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE / 2).close()
    except (OSError, OverflowError, UnicodeError):
        raise _nobody(address) from None
    return host.strip("[]")


def _within(seconds: float, connect: Callable[[], object], refused: RunError) -> None:
    """Raises ``refused`` if this fails or takes longer: Ray would wait a minute for a server that is not Ray."""
    failed: list[BaseException] = []

    def attempt() -> None:
        try:
            connect()
        except BaseException as error:  # reported below
            failed.append(error)

    thread = threading.Thread(target=attempt, name="connecting to Ray", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive() or failed:
        raise refused from (failed[0] if failed else None)


def each(
    ray: Any, work: Callable[[T], R], items: Iterable[T], *, cpus: int = 1, ahead: int | None = None
) -> Iterator[tuple[T, R]]:
    """The items, each with the result of ``work`` from somewhere in the cluster, in order; at most ``ahead`` are in
    progress (None: all at once). Re-raises a task's UserError."""

    def call(item: T) -> R:  # Ray only accepts plain functions
        return work(item)

    task = ray.remote(num_cpus=cpus, max_retries=-1)(call)
    waiting: deque[tuple[T, Any]] = deque()
    try:
        for item in items:
            waiting.append((item, task.remote(item)))
            if ahead is not None and len(waiting) >= ahead:
                yield _result(ray, *waiting.popleft())
        while waiting:
            yield _result(ray, *waiting.popleft())
    finally:
        for _, reference in waiting:
            with contextlib.suppress(Exception):
                ray.cancel(reference)


def _result(ray: Any, item: T, reference: Any) -> tuple[T, Any]:
    try:
        return item, ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, UserError):
            raise error.cause from None
        raise RunError(f"a task of the cluster failed ({error.cause!r}): see Ray's logs there") from None
    except ray.exceptions.RayError as error:
        raise RunError(f"the cluster is lost ({str(error).splitlines()[0]}): begin the same command again") from None


PartTask = tuple[Sequence[tuple[str, str]], Sequence[tuple[str, str]]]
"""The first and second texts of a part's rows, which are all that models read; and the checkpoints, by folder and
weight checksum."""


def predicted_by(
    ray: Any, parts: Iterable[Part], checkpoints: Sequence[Checkpoint], progress: Callable[[int], object]
) -> Iterator[Predicted]:
    """:func:`core.evaluation.parts.predicted` with one part per processor in the cluster; this process reads the rows
    and writes the results."""
    sent: deque[Part] = deque()
    known = [(str(checkpoint.folder.resolve()), str(checkpoint.card["sha256"])) for checkpoint in checkpoints]

    def questions() -> Iterator[PartTask]:
        for part in parts:
            for checkpoint in checkpoints:
                check_texts(checkpoint, part.dataset)
            sent.append(part)
            yield [(row.first, row.second) for row in part.dataset.rows], known

    processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
    for _, answers in each(ray, logits_of_part, questions(), ahead=2 * processors + 1):
        part = sent.popleft()
        progress(len(part.dataset.rows))
        answered = (torch.tensor(own) for own, _ in answers)
        yield Predicted(part, chances(checkpoints, answered), [truncated for _, truncated in answers])


def logits_of_part(question: PartTask) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each checkpoint's logits ``[N, C]`` for one part, and its truncated rows, bool ``[N]``, in a worker. Raises
    RunError if this machine has a different checkpoint in a folder."""
    texts, checkpoints = question
    rows = tuple(Example(str(number), *pair, None) for number, pair in enumerate(texts))
    return [_logits(folder, sha256, Dataset("", "", rows)) for folder, sha256 in checkpoints]


def _logits(folder: str, sha256: str, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    torch.set_num_threads(1)
    checkpoint = loaded(Path(folder))
    if checkpoint.card["sha256"] != sha256:
        raise RunError(f"{socket.gethostname()} has another checkpoint {folder}: copy the same one to all machines")
    ready = prepare_rows(checkpoint, dataset)
    return logits(ready).numpy(), ready.truncated
