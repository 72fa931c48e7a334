"""Keeps the weights after the last epochs of a run, each as a checkpoint in float16 (:mod:`core.checkpoint.epochs`)."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torch import nn

from core.checkpoint import save
from core.checkpoint.epochs import FOLDER, name_of, title_of
from core.checkpoint.files import round_weights
from core.json_types import JsonObject

UNFINISHED = "epochs.unfinished"
"""Folder of a run's epochs until it is finished; an older run's epochs stay until then."""


@dataclass(frozen=True)
class KeptEpochs:
    """The last ``most`` epochs of the run in ``out``; none if it is 0."""

    out: Path
    most: int

    def clear(self) -> None:
        """Removes the epochs of an unfinished run."""
        shutil.rmtree(self.out / UNFINISHED, ignore_errors=True)

    def add(self, model: nn.Module, epoch: int, card: Callable[[], JsonObject]) -> None:
        """Keeps the model's weights after this epoch, with the card that it would have had. Raises FileError."""
        if not self.most:
            return
        rounded, own = copy.deepcopy(model), card()
        round_weights(rounded)
        names = {"name": name_of(own["name"], epoch), "title": title_of(own["title"], epoch)}
        save(self.out / UNFINISHED / str(epoch), rounded, own | names)
        shutil.rmtree(self.out / UNFINISHED / str(epoch - self.most), ignore_errors=True)

    def finish(self) -> None:
        """Replaces an older run's epochs by the finished run's."""
        shutil.rmtree(self.out / FOLDER, ignore_errors=True)
        if (self.out / UNFINISHED).is_dir():
            (self.out / UNFINISHED).replace(self.out / FOLDER)
