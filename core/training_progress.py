"""Communication between a server and a training in another process, through files in the folder of the run: the trainer
writes its progress, and the server asks it to stop."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from core.files import json_text, read_json, write_whole
from core.json_types import LENIENT, checked

PROGRESS, STOP = "progress.json", "stop"
_LARGEST = 4 << 20


@dataclass(frozen=True)
class Epoch:
    """A finished epoch: the mean training loss, and the ``score`` on dev (accuracy or MAP, from 0 to 1)."""

    epoch: int
    loss: float
    score: float


@dataclass(frozen=True)
class TrainingProgress:
    """The progress of a training: finished ``step`` of ``steps``; ``seconds`` so far, including earlier sessions."""

    epochs: int
    step: int
    steps: int
    seconds: float
    best_epoch: int
    history: tuple[Epoch, ...] = ()

    @property
    def share(self) -> float:
        """The finished share of the steps, from 0 to 1."""
        return self.step / max(1, self.steps)

    @property
    def left(self) -> float | None:
        """Estimated seconds until all steps are done; None before the first."""
        return self.seconds / self.step * (self.steps - self.step) if self.step else None


def write(run: Path, progress: TrainingProgress) -> None:
    """Writes the progress into the folder of a run. Raises FileError."""
    write_whole(run / PROGRESS, json_text(asdict(progress)))


def read(run: Path) -> TrainingProgress | None:
    """The progress of a run; None if there is none yet."""
    try:
        return checked(read_json(run / PROGRESS, _LARGEST), TrainingProgress, by=LENIENT)
    except (OSError, ValueError, KeyError, TypeError):
        return None
