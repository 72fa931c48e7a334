"""Training dynamics: the probability that a model gave to each training row's label, epoch by epoch, stored by the
training in the checkpoint's folder (Swayamdipta et al. 2020, "Dataset Cartography"). Rows are recognised by a hash of
their texts and label; the texts are not stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save_file

from core.checkpoint.epochs import split_folder
from core.checkpoint.learned import pair_hashes
from core.data.labels import key
from core.files import read_bounded, whole_file

FILE = "dynamics.safetensors"
REGIONS = EASY, AMBIGUOUS, HARD = "easy", "ambiguous", "hard"
"""The regions, see :attr:`TrainingDynamics.regions`."""
_LARGEST = 256 << 20


def row_hashes(rows: Iterable[tuple[str, str, str]]) -> np.ndarray:
    """A hash of the first text, second text and label of each row, int64 ``[N]``; the label in any spelling."""
    return pair_hashes((first, f"{second.strip()}\0{key(label)}") for first, second, label in rows)


@dataclass(frozen=True)
class TrainingDynamics:
    """The training dynamics of a model's training rows; ``rows``: their :func:`row_hashes`, int64 ``[N]``."""

    rows: np.ndarray
    chances: np.ndarray
    """The probability of each row's label in each epoch, float16 ``[E, N]``; negative (also -0) where another class
    had a higher one, NaN where it was not recorded."""

    @property
    def confidence(self) -> np.ndarray:
        """The mean probability of each row's label over the epochs, ``[N]``."""
        return np.nanmean(np.abs(self.chances.astype(np.float64)), axis=0)

    @property
    def variability(self) -> np.ndarray:
        """The standard deviation of this probability over the epochs, ``[N]``."""
        return np.nanstd(np.abs(self.chances.astype(np.float64)), axis=0)

    @property
    def correctness(self) -> np.ndarray:
        """The share of the epochs in which the label was the most probable class, ``[N]``."""
        return np.nanmean(np.where(np.isnan(self.chances), np.nan, ~np.signbit(self.chances)), axis=0)

    @property
    def regions(self) -> np.ndarray:
        """The region of each row, ``[N]`` of str: hard if its confidence is below one half; of the others, ambiguous if
        its variability is among the largest third of all rows', and easy if not. (The paper's regions, a third of the
        rows each, overlap, and a third of the rows is hard however well they are learned.)"""
        spread = self.variability
        varied = spread > np.quantile(spread, 2 / 3)
        return np.where(self.confidence < 0.5, HARD, np.where(varied, AMBIGUOUS, EASY))

    def places(self, rows: np.ndarray) -> np.ndarray:
        """The index here of each row with these hashes ``[M]``, -1 if the model did not train on it; of equal rows, the
        first one's."""
        known, first = np.unique(self.rows, return_index=True)
        at = np.minimum(np.searchsorted(known, rows), len(known) - 1)
        return np.where(known[at] == rows, first[at], -1)


def write(folder: Path, found: TrainingDynamics) -> None:
    """Writes the file of a checkpoint. Raises FileError."""
    with whole_file(folder / FILE) as scratch:
        # safetensors writes an array's memory without regard to strides.
        arrays = {"rows": found.rows, "chances": found.chances.astype(np.float16)}
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, scratch)


def read(folder: Path) -> TrainingDynamics | None:
    """The training dynamics of the checkpoint in a folder, only up to its epoch for a model after an epoch; None if
    there are none, or they cannot be read."""
    model, epoch = split_folder(folder)
    try:
        found = load(read_bounded(model / FILE, _LARGEST))
        rows, chances = found["rows"], found["chances"]
    except (OSError, ValueError, KeyError, SafetensorError):
        return None
    fits = rows.dtype == np.int64 and chances.dtype == np.float16 and chances.shape == (len(chances), *rows.shape)
    if not fits or not chances.size:
        return None
    until = chances[: epoch or None]
    seen = ~np.isnan(until).all(axis=0)
    return TrainingDynamics(rows[seen], until[:, seen])
