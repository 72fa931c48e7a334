"""The app in a separate process, over the checkpoints of the tests."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import checkpoint, neighbours
from core.checkpoint import Checkpoint
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.evaluation.predict import prepare, unit_vectors
from tests.app.pages import PATIENCE
from tests.core.made_up_runs import keep, made_up_run
from tests.shared import free_port, terminate

ROOT = Path(__file__).resolve().parents[2]
TRAINING_ROWS = [
    neighbours.TrainingRow("A dog is outside", "A dog is <b>outside</b>", "entailment", "made up"),
    neighbours.TrainingRow("A man with a toy", "The cat is cold", "neutral", "made up"),
    neighbours.TrainingRow("An animal is playing", "A dog is playing", "neutral", "made up"),
]


def save_neighbours(model: Checkpoint) -> None:
    """An index of :data:`TRAINING_ROWS`."""
    vectors = unit_vectors(prepare(model, [model.read(row.first, row.second) for row in TRAINING_ROWS]))
    neighbours.save(model, TRAINING_ROWS, vectors, 9, "")


class Server:
    """A script under ``streamlit run``. Its folder holds its log, its checkpoints, its desk and its indices."""

    def __init__(self, address: str, pid: int, folder: str) -> None:
        self.address, self.pid, self.folder = address, pid, Path(folder)

    @classmethod
    def start(cls, script: str, folder: Path, checkpoints: Path, **environment: str) -> Server:
        """Returns once it answers. ``environment``: more variables that it sees."""
        port = free_port()
        command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
        with (folder / "log.txt").open("wb") as out:
            process = subprocess.Popen(
                [*command, "--server.fileWatcherType", "none"],
                cwd=ROOT,
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                env={
                    **os.environ,
                    "PAIRLENS_CHECKPOINTS": str(checkpoints),
                    "PAIRLENS_DATA": "",
                    "PAIRLENS_NEIGHBOURS": str(folder / "neighbours"),
                    "PAIRLENS_DB": "",
                    "PAIRLENS_DESK": str(folder / "desk"),
                    "PAIRLENS_DATASETS": "",
                    **environment,
                },
            )
        address = f"http://localhost:{port}/{environment.get('STREAMLIT_SERVER_BASE_URL_PATH', '')}".rstrip("/")
        wait_for(address, process, folder / "log.txt")
        return cls(address, process.pid, str(folder))

    def end(self) -> None:
        """No error may stand in its log."""
        terminate(self.pid)
        text = (self.folder / "log.txt").read_text(errors="replace")
        # A page closed in the middle of its handshake makes the web server log a traceback too: only ours count.
        ours = [f'File "{ROOT / part}' for part in ("app", "core", "trainers", "streamlit_app.py")]
        assert not any(sign in text for sign in ("Uncaught app execution", *ours)), text


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until the server answers. Raises RuntimeError, with its log, when it stops or is silent."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=PATIENCE):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the server {'is silent' if process.poll() is None else 'stopped'}:\n{log.read_text()}")


def serve(script: str, folder: Path, checkpoints: Path) -> Iterator[str]:
    """Serves a script and yields its address while a fixture needs it."""
    server = Server.start(script, folder, checkpoints)
    try:
        yield server.address
    finally:
        server.end()


def start_app(folder: Path, checkpoints: Path, guests: Path) -> Server:
    """The app, whose Error desk has a run over the made-up file, with tags of Ann and Bob, and where test-other has an
    index of training rows. It also has an external model."""
    own = folder / "checkpoints"
    own.mkdir(parents=True)
    for model in (*checkpoints.iterdir(), guests / "small-bert"):
        (own / model.name).symlink_to(model)
    run = made_up_run(folder)
    keep(run, folder / "desk")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAIRLENS_DESK", str(folder / "desk"))
        patch.delenv("PAIRLENS_DB", raising=False)
        annotations = Annotations(open_database())
        for annotator, tag in (("Ann", "misled by noise"), ("Bob", "misled by noise"), ("Bob", "other")):
            annotations.give(annotator, run.dataset.sha256, "1c", tag)
        patch.setenv("PAIRLENS_NEIGHBOURS", str(folder / "neighbours"))
        save_neighbours(checkpoint.load(checkpoints / "test-other"))
    # A transformer, which gives second opinions by default, would read each pair of each test.
    return Server.start("streamlit_app.py", folder, own, PAIRLENS_SECOND="test-other")
