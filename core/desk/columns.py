"""The columns of a run's rows for filters, sort orders and slices, and their sources."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from core.data.labels import is_number
from core.desk.dynamics import LearnedRows, recorded
from core.desk.run import LETTERS, Run, column_of, prediction_of
from core.desk.training_rows import learned_rows

SLICE = "slice."
"""Prefix of a saved slice's column."""
LABEL = "label."
"""Prefix of a column with the labels of an annotator."""
CHECKED = "label_p"
"""The column with the probability of a row's label by a model that learned from the other rows."""
DECIDED = f"{LABEL}decided"
"""The column with the labels that people agree on or decided."""


@dataclass(frozen=True)
class RunColumn:
    """A column. ``kind``: "text", "number", "yes" (a boolean) or "set" (of tags)."""

    kind: str
    about: str = ""
    """Its meaning, for the list of columns."""
    dimension: str = ""
    """The name of the slices by its values; empty if there are none."""
    bounds: tuple[float, ...] = ()
    """Upper bounds of numeric slices; the last slice has none."""
    rare: bool = False
    """For "yes": no slice for the remaining rows, because they are nearly all rows."""
    share: bool = False
    """For "number": a probability or another share from 0 to 1, which filters may write in per cent."""
    grades: bool = False
    """For "text": all values are numbers, so filters may compare and compute with them."""
    sql: str = ""
    """The SQL expression of its values, NULL if unknown."""
    computed_from: frozenset[str] = frozenset()
    """For a user's own column: the run's columns in its formula."""
    spelled: str = ""
    """The SQL expression of its values as the file spells them (0.50 for 0.5); empty if there is no other spelling."""

    @property
    def folded(self) -> str:
        """The SQL expression of its case-folded texts."""
        return f"list_transform({self.sql}, lambda text: fold(text))" if self.kind == "set" else f"fold({self.sql})"


class Cells(NamedTuple):
    """A column with its values for all rows; null if unknown."""

    column: RunColumn
    values: pa.Array


def cells(
    values: Sequence[object] | np.ndarray, kind: str, about: str = "", unknown: np.ndarray | None = None, **more: Any
) -> Cells:
    """A column with these values; NaN, None and the values in ``unknown`` rows (bool ``[N]``) are unknown; ``more``:
    the column's other fields."""
    types = {"text": pa.string(), "number": pa.float64(), "yes": pa.bool_(), "set": pa.list_(pa.string())}
    array = pa.array(values, types[kind], mask=unknown, from_pandas=True)
    return Cells(RunColumn(kind, about, **more), array)


def find(name: str, columns: Mapping[str, RunColumn]) -> str | None:
    """The column for a name; case matters only to distinguish two columns."""
    return name if name in columns else {own.lower(): own for own in columns}.get(name.lower())


def of_model(model: int, columns: Mapping[str, Cells]) -> dict[str, Cells]:
    """A model's columns by their names in filters (:func:`core.desk.run.column_of`)."""
    return {column_of(name, model): column for name, column in columns.items()}


def facts(run: Run) -> dict[str, Cells]:
    """Keys, labels and the models' predictions."""
    gold = [label or None for label in run.gold]
    grades = bool(run.spellings) and all(map(is_number, run.spellings))
    out = {
        "id": cells(run.keys.tolist(), "text", "the row's id"),
        "gold": cells(gold, "text", "the file's label", dimension="gold label", grades=grades),
        "held_back": cells(run.held_back, "yes", "the half of the rows, by a hash of the id, to confirm a finding on"),
    }
    learned, trained = learned_rows(run), recorded(run)
    for i, model in enumerate(run.models):
        # Rounded, because 0.7 in float32 is less than a filter's 0.7.
        chances, answers = (values.astype(float).round(6) for values in (model.probabilities, model.answers))
        rows, label = np.arange(len(chances)), run.gold_answers[i]
        of_gold = np.where(label >= 0, answers[rows, np.maximum(label, 0)], np.nan)
        about = f"whether that is the file's label ({model.title})"
        share = len(model.labels) > 1
        known = {
            "predicted": cells(
                model.predicted, "text", f"class that {model.title} predicts", dimension=prediction_of(i)
            ),
            "right": cells(run.right(i), "yes", about, unknown=label < 0),
            "p": cells(chances[rows, model.best], "number", "probability of the predicted class", share=share),
            "p_gold": cells(of_gold, "number", "probability of the file's label", share=share),
        }
        if model.scale.several:
            names = np.array(model.scale.names, dtype=object)[model.answered]
            about = "label with the largest sum of probabilities, which decides whether the model is right"
            known["predicted_label"] = cells(names, "text", about)
        if model.truncated is not None:
            about = f"whether {model.title} read only the beginning of one of the texts"
            known["truncated"] = cells(
                model.truncated, "yes", about, dimension=f"truncated for {LETTERS[i]}", rare=True
            )
        if i in learned:
            about = f"whether {model.title} learned from the pair"
            known["learned"] = cells(learned[i], "yes", about, dimension=f"learned by {LETTERS[i]}")
        if i in trained:
            known |= _of_training(trained[i], LETTERS[i])
        out |= of_model(i, known)
        for at, label_name in enumerate(model.labels):
            name = class_column(i, label_name)
            about = f"probability of {label_name}"
            out.setdefault(name, cells(chances[:, at], "number", about, share=share))
    return out


def _of_training(rows: LearnedRows, letter: str) -> dict[str, Cells]:
    """How a model learned these rows (:class:`core.checkpoint.dynamics.TrainingDynamics`)."""

    def of_rows(values: np.ndarray, kind: str, about: str, **more: Any) -> Cells:
        return cells(rows.of_rows(values), kind, f"{about} ({letter})", unknown=~rows.known, **more)

    training = rows.training
    mean, spread, right = (
        values.round(6) for values in (training.confidence, training.variability, training.correctness)
    )
    about = "easy, ambiguous or hard for the model in training"
    return {
        "confidence": of_rows(mean, "number", "mean probability of the label over the epochs of training", share=True),
        "variability": of_rows(spread, "number", "standard deviation of this probability over the epochs"),
        "correctness": of_rows(right, "number", "share of the epochs in which the label was predicted", share=True),
        "region": of_rows(training.regions, "text", about, dimension=f"region in the training of {letter}"),
    }


def class_column(model: int, label: str) -> str:
    """The name of the column with a class's probability."""
    return column_of("p", model) + "_" + re.sub(r"\W+", "_", label)


def texts_of_row(run: Run) -> dict[str, RunColumn]:
    """The text columns."""
    roles = run.roles
    sides = ("first", "second")[: 1 if run.single else 2]
    known = zip(sides, run.text_columns, (roles.first, roles.second), strict=False)
    return {name: RunColumn("text", f"the {role}", sql=f"d_{side}") for side, name, role in known}
