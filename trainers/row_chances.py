"""Records, while a model trains, the probability of each training row's label in each epoch
(:mod:`core.checkpoint.dynamics`).

It is taken from the training step itself, before the weights learn from the row, as in the code of Swayamdipta et al.
(2020): a pass over all rows after each epoch, as in their equations, would lengthen training by a third. It therefore
includes dropout, and belongs to the model, not to the running mean of its weights.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from torch import Tensor

from core.checkpoint import dynamics
from core.files import whole_file
from trainers.training_data import TrainingData

UNFINISHED = "dynamics.unfinished"
"""Folder with the finished epochs of an unfinished run."""


@dataclass
class RowChances:
    """The epochs of the run in ``out``, of which each process knows its own rows: ``reduce`` adds a tensor up over
    all."""

    out: Path
    data: TrainingData
    classes: tuple[str, ...]
    reduce: Callable[[Tensor], Tensor]
    device: torch.device
    now: Tensor = field(init=False)
    """This epoch, in the form of :attr:`core.checkpoint.dynamics.TrainingDynamics.chances`; 0 for rows not reached
    yet."""

    def __post_init__(self) -> None:
        self.labels = self.data.train.labels.to(self.device)
        self.now = torch.zeros(len(self.labels), device=self.device)

    @torch.no_grad()
    def record(self, rows: Tensor, logits: Tensor) -> None:
        """Records the ``logits [B, C]`` of these rows ``[B]``."""
        labels, chances = self.labels[rows], logits.float().softmax(1)
        own = chances.gather(1, labels.clamp_min(0)[:, None])[:, 0]
        self.now[rows] = torch.where(chances.argmax(1) == labels, own, -own)

    def end_epoch(self, epoch: int, *, write: bool) -> None:
        """Writes this epoch, for its first process, and begins the next one. Raises FileError."""
        chances = self.reduce(self.now.clone())[self.labels >= 0]
        if write:
            folder = self.out / UNFINISHED
            folder.mkdir(parents=True, exist_ok=True)
            with whole_file(folder / f"{epoch}.safetensors") as scratch:
                save_file({"chances": chances.cpu().numpy().astype(np.float16)}, scratch)
        self.now.zero_()

    def state(self) -> Tensor:
        """This epoch so far, for the saved state of the run."""
        return self.reduce(self.now.clone())

    def resume(self, state: Tensor | None, *, first: bool) -> None:
        """Continues from a saved state; ``first``: whether this process takes it over. With a state saved by a version
        without this record (None), the epoch's earlier rows stay unknown."""
        self.now.fill_(torch.nan) if state is None else self.now.copy_(state if first else torch.zeros_like(state))

    def clear(self) -> None:
        """Removes the epochs of an unfinished run."""
        shutil.rmtree(self.out / UNFINISHED, ignore_errors=True)

    def finish(self, epochs: int) -> None:
        """Writes the file of the finished run of ``epochs`` epochs. Raises FileError."""
        files = [self.out / UNFINISHED / f"{epoch + 1}.safetensors" for epoch in range(epochs)]
        known = [load_file(file)["chances"] for file in files if file.is_file()]
        chances = np.array(known, dtype=np.float16).reshape(len(known), int((self.data.train.labels >= 0).sum()))
        labelled = zip(self.data.train_rows, self.data.train.labels.tolist(), strict=True)
        rows = dynamics.row_hashes((row.first, row.second, row.label or "") for row, label in labelled if label >= 0)
        seen = ~np.isnan(chances).all(axis=0)
        dynamics.write(self.out, dynamics.TrainingDynamics(rows[seen], chances[:, seen]))
        self.clear()
