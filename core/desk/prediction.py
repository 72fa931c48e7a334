"""Predicting a data set in the background, with progress and cancel."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from core.checkpoint import Checkpoint, load_named
from core.data import Dataset
from core.desk import store
from core.desk.run import Predictions, Run
from core.errors import DeskError, MendableError
from core.evaluation.predict import check_texts, classify


class _Cancelled(Exception):
    """A person stopped the prediction."""


@dataclass
class PredictionJob:
    """The checkpoints named ``models`` over a data set, in a thread of its own; each is stored as soon as it is done,
    so that what a cancelled or killed prediction had finished is there."""

    dataset: Dataset
    models: Sequence[str]
    done: int = 0
    """Rows predicted, those of all checkpoints together."""
    problem: str = ""
    """One sentence where it could not go on."""
    cancelled: bool = False
    finished: bool = False
    checksums: list[str] = field(default_factory=list)
    """Of the checkpoints that are done, in the order of ``models``."""
    replaced: list[str] = field(default_factory=list)
    """Titles of checkpoints whose kept run could not be read, so that they predicted the file again."""
    _first_batch: float = 0.0
    _before: int = 0

    def start(self) -> None:
        """Begin in the background."""
        self._thread = threading.Thread(target=self._run, name="prediction", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Stop after the batch that is being computed."""
        self.cancelled = True

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has ended, at the latest after so many seconds."""
        self._thread.join(seconds)
        return self.finished

    @property
    def rows(self) -> int:
        """Rows to predict, once for each checkpoint."""
        return len(self.dataset.rows) * len(self.models)

    @property
    def speed(self) -> float | None:
        """Rows a second since the first batch began; None before one is done."""
        passed = time.perf_counter() - self._first_batch
        return (self.done - self._before) / passed if self.done > self._before and passed > 0 else None

    @property
    def left(self) -> float | None:
        """Seconds until it is done, if it goes on as it did; None while that is unknown."""
        return (self.rows - self.done) / self.speed if self.speed else None

    def _run(self) -> None:
        try:
            for place, name in enumerate(self.models):
                self._predict(place, name)
        except _Cancelled:
            pass
        except MendableError as error:
            self.problem = f"{error}."
        except Exception as error:  # a thread's traceback would be seen by nobody
            self.problem = f"The prediction failed ({error or type(error).__name__}): try another file or checkpoint."
        finally:
            self.finished = True

    def _predict(self, place: int, name: str) -> None:
        checkpoint = load_named(name)
        sha256 = str(checkpoint.card["sha256"])
        check_texts(checkpoint, self.dataset)
        before = place * len(self.dataset.rows)
        known = self._kept(checkpoint)
        if known is not None:
            if known.dataset.rows != self.dataset.rows:  # its labels have other names now
                store.keep(Run(self.dataset, known.models))
        else:
            self._first_batch, self._before = time.perf_counter(), before

            def progress(rows: int) -> None:
                self.done = before + rows
                if self.cancelled:
                    raise _Cancelled

            probabilities = classify(checkpoint, self.dataset, torch.device("cpu"), progress)
            store.keep(Run(self.dataset, (Predictions.of(checkpoint, probabilities),)))
        self.done = before + len(self.dataset.rows)
        self.checksums.append(sha256)
        store.put_first(self.dataset.sha256, self.checksums)

    def _kept(self, checkpoint: Checkpoint) -> Run | None:
        """The run of this checkpoint that is kept, None where there is none or a damaged one."""
        sha256 = str(checkpoint.card["sha256"])
        if not store.stored(self.dataset, sha256):
            return None
        try:
            return store.open_run(self.dataset.sha256, [sha256])
        except DeskError:
            self.replaced.append(str(checkpoint.card["title"]))
            return None
