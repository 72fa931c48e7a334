"""Work that a Ray cluster shares: calls of one function, each a task that is tried again where its machine is lost.

Tasks and not Ray Data: a part of a stream has to keep its rows, and its own batches, whoever computes it, which blocks
of Ray Data, cut by size, have not. A worker process keeps the checkpoints that it has loaded, as actors would; but an
actor whose machine is gone waits for a free place with the calls that were given to it, and a task goes to whoever has
one.
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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from core.errors import MendableError, RunError

PATIENCE = 8.0
"""Seconds until an address where nobody answers is given up."""
_ON_LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Set to 0, Ray does not look for another address of this machine where it is told 127.0.0.1."""
_PASSED_ON = ("PAIRLENS_", "XDG_CACHE_HOME", "OMP_NUM_THREADS")
"""Beginnings of variables of the environment that tasks have as who asks for them."""

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def cluster(address: str, setting: str = "--ray") -> Iterator[Any]:
    """Ray, connected to the cluster at ``HOST:PORT``, or of this machine with ``auto``; in a block of another call the
    connection of that one, whose workers have loaded what they need. Raises RunError where there is none, or no Ray
    here; ``setting`` is where the address was given."""
    host = check_address(address, setting)
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

    _within(PATIENCE, connect, _nobody(address, setting))
    import ray

    try:
        yield ray
    finally:
        ray.shutdown()


def on_loopback() -> None:
    """Let Ray, which is not imported yet, keep to 127.0.0.1 where it is told so, and tell nothing to its makers."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ[_ON_LOOPBACK] = "0"


def _nobody(address: str, setting: str) -> RunError:
    where = "on this machine" if address == "auto" else f"at {address}"
    return RunError(f"there is no Ray cluster {where}: start one (docs/cluster.md), or give its HOST:PORT in {setting}")


def check_address(address: str, setting: str = "--ray") -> str:
    """The host of an address where something answers; of ``auto`` that of the cluster begun last on this machine.
    Raises RunError where nothing does, where the ``setting`` holds no address, and where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise RunError(f"{setting} needs Ray: install it with `make cluster`, or requirements-cluster.txt")
    if address == "auto":
        latest = Path(os.environ.get("RAY_TMPDIR", "/tmp"), "ray", "ray_current_cluster")
        known = os.environ.get("RAY_ADDRESS") or (latest.read_text().strip() if latest.is_file() else "")
        if not known:
            raise _nobody(address, setting)
        address = known
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise RunError(f"{setting} wants auto or HOST:PORT, such as 127.0.0.1:6379, got {address[:80]!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE / 2).close()
    except (OSError, OverflowError, UnicodeError):
        raise _nobody(address, setting) from None
    return host.strip("[]")


def _within(seconds: float, connect: Callable[[], object], refused: RunError) -> None:
    """Raises ``refused`` where this fails or takes longer: Ray waits a minute for a server that is none of its own."""
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
        raise refused from (failed[0] if failed else None)


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
