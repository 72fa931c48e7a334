"""Predictions of the desk on a Ray cluster, asked for by a process of their own: what becomes of the cluster and of its
library never takes the server along, and the server does not hold that library in memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

import core.cluster
from core.cluster import check_address, cluster
from core.errors import MendableError, RunError

if TYPE_CHECKING:
    import numpy as np

    from core.evaluation.on_cluster import Texts

SETTING = "PAIRLENS_RAY"
"""The variable that names the cluster: auto, or HOST:PORT."""
_LOOK = 0.2
"""Seconds until the one who waits is asked again whether it still wants the answers."""


def logits_there(
    address: str, parts: Sequence[Texts], folder: str, sha256: str, still_wanted: Callable[[], None]
) -> Generator[np.ndarray, None, None]:
    """The logits ``[N, C]`` of a checkpoint, by folder and checksum, for the texts of each part, in order. What
    ``still_wanted``, which is called now and then, raises ends the work. Raises RunError where no cluster is at the
    address, which is told within ten seconds, or where it failed."""
    check_address(address, SETTING)
    own, other = Pipe()
    command = [sys.executable, "-m", "core.desk.on_cluster", str(other.fileno())]
    root = Path(__file__).resolve().parents[2]
    child = subprocess.Popen(command, pass_fds=[other.fileno()], cwd=root, stdin=subprocess.DEVNULL)
    other.close()
    try:
        own.send((address, parts, folder, sha256, core.cluster.PATIENCE))
        for _ in parts:
            while not own.poll(_LOOK):
                still_wanted()
            answer = own.recv()
            if isinstance(answer, str):
                raise RunError(answer)
            yield answer
    except (EOFError, ConnectionError):
        raise RunError("the process that asked the cluster was ended: begin the prediction again") from None
    finally:
        child.terminate()
        child.wait()
        own.close()


def main(connection: Connection) -> None:
    """Be that process: the logits of each part go out as they come, or one sentence of what failed."""
    address, parts, folder, sha256, core.cluster.PATIENCE = connection.recv()
    try:
        with cluster(address, SETTING) as ray:
            from core.evaluation.on_cluster import logits_by  # after it is known that a cluster answers

            for (answer,) in logits_by(ray, parts, [(folder, sha256)]):
                connection.send(answer)
    except MendableError as error:
        connection.send(str(error))
    except Exception as error:  # whatever Ray raises
        connection.send(f"the cluster failed ({type(error).__name__}): begin the prediction again")


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))
