"""Training dynamics of a run's rows: columns for models whose training recorded the rows' probabilities
(:mod:`core.checkpoint.dynamics`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.checkpoint import available, dynamics
from core.desk.jobs import checkpoint_named
from core.desk.run import LETTERS, Run, column_of
from core.wording import counted

_ROWS = 10_000
"""Rows read at a time."""


@dataclass(frozen=True)
class LearnedRows:
    """The training dynamics of a model, and the index there of each row of a run, int ``[N]``; -1 for rows that it did
    not train on with this label."""

    training: dynamics.TrainingDynamics
    places: np.ndarray

    @property
    def known(self) -> np.ndarray:
        """The rows that the model trained on, bool ``[N]``."""
        return self.places >= 0

    def of_rows(self, values: np.ndarray) -> np.ndarray:
        """Values of the training's rows, mapped to the run's rows; undefined (NaN) for rows that are not known."""
        return values[np.maximum(self.places, 0)]


def recorded(run: Run) -> dict[int, LearnedRows]:
    """The recorded rows by model; only for models that are installed and trained on some of the rows."""
    names = {model: checkpoint_named(known) for model, known in enumerate(run.models)}
    trained = {model: dynamics.read(available()[name]) for model, name in names.items() if name}
    found = {}
    for model, training in trained.items():
        if training is not None:
            places = training.places(_hashes(run, model))
            if (places >= 0).any():
                found[model] = LearnedRows(training, places)
    return found


def _hashes(run: Run, model: int) -> np.ndarray:
    """The hash of each row with the model's class for its label; rows whose label is not exactly one class match no
    training row."""
    labels, members = run.models[model].labels, run.models[model].scale.members
    names = [labels[own[0]] if len(own) == 1 else "" for own in members] + [""]  # -1 is the last one
    classes = iter(names[answer] for answer in run.gold_answers[model].tolist())
    parts = [
        dynamics.row_hashes((first, second, next(classes)) for first, second in zip(*texts, strict=True))
        for texts in run.rows.texts(_ROWS)
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def sentences(run: Run, known: Mapping[int, LearnedRows]) -> list[str]:
    """A sentence about each model whose training recorded some of the rows, with their regions."""
    told = []
    for model, rows in known.items():
        regions = Counter[str](rows.of_rows(rows.training.regions)[rows.known].tolist())
        parts = ", ".join(f"{regions[name]:,} {name}" for name in dynamics.REGIONS)
        told.append(
            f"{LETTERS[model]} ({run.models[model].title}) was trained on {int(rows.known.sum()):,} of these "
            f"{counted(len(rows.places), 'row')} with these labels: {parts} ({column_of('region', model)}). Wrong "
            f"labels are often among the rows with the lowest {column_of('confidence', model)}."
        )
    return told
