"""Resources shared by the test processes of one run: made by the first process, ended by the last."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest


@contextmanager
def shared(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Any], end: Callable[[Any], None] | None = None
) -> Iterator[Any]:
    """The result (JSON) of ``make``, called by one process with a folder shared by all. ``end`` receives it when the
    last user is done; a later user calls ``make`` again. A process that dies releases it."""
    folder = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    place = folder / f"shared {name}"
    place.mkdir(exist_ok=True)
    known = place / "value.json"
    with (place / "users").open("w") as users:
        with _alone(place):
            if not known.exists():
                value = make(place / f"by {os.getpid()}")
                known.write_text(json.dumps(value))
            fcntl.flock(users, fcntl.LOCK_SH)
            value = json.loads(known.read_text())
        try:
            yield value
        finally:
            with _alone(place), suppress(BlockingIOError):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if end is not None:
                    known.unlink()
                    end(value)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """One process at a time comes or leaves."""
    with (place / "coming and going").open("w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        yield


def free_port() -> int:
    """A port on which nothing listens, below those that the system gives to connections: one of theirs could be taken
    before the server starts that is to have it."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def terminate(pid: int, patience: float = 20) -> None:
    """End a process, perhaps of another test process: that one alone takes it from the table, so a dead one counts as
    gone."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        process.terminate()
        until = time.monotonic() + patience
        while process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > until:
                process.kill()
            time.sleep(0.05)
