"""Work that a Ray cluster shares: calls of one function, each a task that is tried again where its machine is lost.

Tasks and not Ray Data: a part of a stream has to keep its rows, and its own batches, whoever computes it, which blocks
of Ray Data, cut by size, have not. A worker process keeps the checkpoints that it has loaded, as actors would; but an
actor whose machine is gone waits for a free place with the calls that were given to it, and a task goes to whoever has
one.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
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
from core.data import Dataset
from core.errors import MendableError, RunError
from core.evaluation.parts import Part, Predicted
from core.evaluation.predict import chances, check_texts, logits, prepare, read_rows

PATIENCE = 8.0
"""Seconds until an address where nobody answers is given up."""
_ON_LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Set to 0, Ray does not look for another address of this machine where it is told 127.0.0.1."""
_PASSED_ON = ("PAIRLENS_", "XDG_CACHE_HOME", "OMP_NUM_THREADS")
"""Beginnings of variables of the environment that tasks have as who asks for them."""

T = TypeVar("T")
R = TypeVar("R")


def add_ray(parser: Any, what: str) -> None:
    """The option --ray; ``what`` the cluster does."""
    parser.add_argument(
        "--ray", metavar="ADDRESS", help=f"{what} on the Ray cluster at HOST:PORT, or auto: this machine's own"
    )


@contextmanager
def cluster(address: str) -> Iterator[Any]:
    """Ray, connected to the cluster at ``HOST:PORT``, or of this machine with ``auto``. Raises RunError where there is
    none, or no Ray here."""
    host = _answering(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if host.startswith("127.") or host in ("localhost", "::1"):
        on_loopback()
    try:
        import ray
    except ImportError:
        raise RunError("--ray needs Ray: install it with `make cluster`, or requirements-cluster.txt") from None
    variables = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
    own = str(Path(__file__).resolve().parents[1])
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, (own, os.environ.get("PYTHONPATH"))))
    _within(
        PATIENCE,
        address,
        lambda: ray.init(
            address,
            namespace="pairlens",
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"env_vars": variables},
        ),
    )
    try:
        yield ray
    finally:
        ray.shutdown()


def on_loopback() -> None:
    """Let Ray, which is not imported yet, keep to 127.0.0.1 where it is told so, and tell nothing to its makers."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ[_ON_LOOPBACK] = "0"


def _nobody(address: str) -> RunError:
    where = "on this machine" if address == "auto" else f"at {address}"
    return RunError(f"there is no Ray cluster {where}: start one (docs/cluster.md), or give its HOST:PORT")


def _answering(address: str) -> str:
    """The host of an address where something answers; of ``auto`` that of the cluster begun last on this machine.
    Raises RunError where nothing does."""
    if address == "auto":
        latest = Path(os.environ.get("RAY_TMPDIR", "/tmp"), "ray", "ray_current_cluster")
        known = os.environ.get("RAY_ADDRESS") or (latest.read_text().strip() if latest.is_file() else "")
        if not known:
            raise _nobody(address)
        address = known
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise RunError(f"--ray wants auto or HOST:PORT, such as 127.0.0.1:6379, got {address!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE / 2).close()
    except (OSError, OverflowError):
        raise _nobody(address) from None
    return host.strip("[]")


def _within(seconds: float, address: str, connect: Callable[[], object]) -> None:
    """Ray waits for a minute for a server that is none of its own."""
    failed: list[BaseException] = []

    def attempt() -> None:
        try:
            connect()
        except BaseException as error:  # told below
            failed.append(error)

    thread = threading.Thread(target=attempt, name="connecting to Ray", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive() or failed:
        raise _nobody(address) from (failed[0] if failed else None)


def each(
    ray: Any, work: Callable[[T], R], items: Iterable[T], *, cpus: int = 1, ahead: int | None = None
) -> Iterator[tuple[T, R]]:
    """The items with what ``work`` makes of them somewhere in the cluster, in order; at most ``ahead`` of them are
    under way (None: all at once). Raises what a task raised that a person can mend."""

    def call(item: T) -> R:  # Ray takes functions alone
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
        if isinstance(error.cause, MendableError):
            raise error.cause from None
        raise RunError(f"a task of the cluster failed ({error.cause!r}): see Ray's logs there") from None
    except ray.exceptions.RayError as error:
        raise RunError(f"the cluster is lost ({str(error).splitlines()[0]}): begin the same command again") from None


def predicted_by(
    ray: Any, some: Iterable[Part], checkpoints: Sequence[Checkpoint], progress: Callable[[int], object]
) -> Iterator[Predicted]:
    """:func:`core.evaluation.parts.predicted` with the parts computed in the cluster, one a processor at a time; this
    process reads rows and writes what comes back."""
    known = [(str(checkpoint.folder.resolve()), str(checkpoint.card["sha256"])) for checkpoint in checkpoints]
    processors = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def asked() -> Iterator[tuple[Part, Sequence[tuple[str, str]]]]:
        for part in some:
            for checkpoint in checkpoints:
                check_texts(checkpoint, part.dataset)
            yield part, known

    for (part, _), answers in each(ray, logits_of_part, asked(), ahead=2 * processors + 1):
        progress(len(part.dataset.rows))
        yield Predicted(part, [chances(torch.tensor(answer)) for answer in answers])


def logits_of_part(asked: tuple[Part, Sequence[tuple[str, str]]]) -> list[np.ndarray]:
    """What a task does: the logits ``[N, C]`` of each checkpoint, by folder and checksum of its weights, for a part's
    rows. Raises RunError where this machine has another checkpoint there."""
    part, known = asked
    return [_logits(folder, sha256, part.dataset) for folder, sha256 in known]


def _logits(folder: str, sha256: str, dataset: Dataset) -> np.ndarray:
    torch.set_num_threads(1)
    checkpoint = loaded(Path(folder))
    if checkpoint.card["sha256"] != sha256:
        raise RunError(f"{socket.gethostname()} has another checkpoint {folder}: copy the same one to all machines")
    answer: np.ndarray = logits(prepare(checkpoint, read_rows(checkpoint, dataset))).numpy()
    return answer
