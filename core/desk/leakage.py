"""Columns that leak the answer: alone, or together with a model's prediction, they reveal whether the model is right.
Slices of such columns explain nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from core.desk import votes
from core.desk.columns import CHECKED, LABEL, RunColumn
from core.desk.perturbations import BEFORE, EXPECTED, FAILED
from core.desk.run import LETTERS, Run
from core.desk.table import RunTable

_OF_PEOPLE = {"gold", "tags", "notes", "settled"}
_OF_OWN_MODEL = {"right", "p_gold", "label", "distance", "confidence", "variability", "correctness", "region"}
"""A model's columns (A.right, …) that compare its prediction with the label, or repeat the prediction."""
_OF_FILE = re.compile(r"(?i)(^|[\W_])(right|wrong|(in)?correct|failed|pred(icted|iction)?)$")
"""Names of a file's columns with the outcome of some model: bert_correct, A.right, predicted."""
_REPEATS, _TELLS, _FEWEST = 0.9, 0.98, 0.01
"""A column repeats the label if each of its values corresponds to a different label in this share of the rows. It
reveals whether the model is right if guessing from its values removes this share of the wrong guesses. Values of less
than 1 % of the rows are ignored."""


def without_leaks(run: Run, model: int, table: RunTable, keep: Collection[str] = ()) -> RunTable:
    """The table without columns that by their name or formula depend on the label, on people's tags, or on the
    predictions of models other than this one, except the columns to ``keep``."""
    kept = {name: own for name, own in table.columns.items() if name in keep or not _leaks(run, model, name, own)}
    return replace(table, columns=kept)


def _leaks(run: Run, model: int, name: str, column: RunColumn) -> bool:
    return any(_source_leaks(run, model, source) for source in column.computed_from or (name,))


def _source_leaks(run: Run, model: int, name: str) -> bool:
    letter, _, rest = name.partition(".")
    if letter in LETTERS[: len(run.models)]:
        return letter != LETTERS[model] or rest in _OF_OWN_MODEL
    plain = name.removeprefix("file.")
    others = run.rows.other_columns()
    of_file = plain in others
    perturbed = {BEFORE, EXPECTED, FAILED} <= {*others}
    if of_file and (_OF_FILE.search(plain) or plain in votes.COLUMNS or (perturbed and plain in (BEFORE, EXPECTED))):
        return True
    return name in _OF_PEOPLE or name.startswith(votes.SHARE) or plain.startswith((LABEL, CHECKED))


def leaks(masks: Sequence[np.ndarray], gold: np.ndarray, right: Sequence[np.ndarray]) -> bool:
    """Whether a column's values repeat the label, or tell whether one of the models is right. ``masks``: the items of
    each value, bool ``[V, I]``; ``gold`` int ``[I]``; ``right`` bool ``[I]`` by model."""
    own = np.array(masks)
    return len(own) > 1 and (_repeats(own, gold) or any(_tells(own, each) for each in right))


def _repeats(masks: np.ndarray, gold: np.ndarray) -> bool:
    """Whether the values of a column are the labels in another spelling, nearly always."""
    counts = np.array([np.bincount(gold[mask], minlength=int(gold.max(initial=0)) + 1) for mask in masks])
    counts = counts[counts.sum(axis=1) >= _FEWEST * len(gold)]
    labels = counts.argmax(axis=1)
    return 1 < len(counts) == len({*labels.tolist()}) and bool(counts.max(axis=1).sum() >= _REPEATS * counts.sum())


def _tells(masks: np.ndarray, right: np.ndarray) -> bool:
    """Whether guessing from the column's value removes most of the doubt whether the model is right."""
    rows = masks.sum(axis=1)
    hits = (masks * right).sum(axis=1)
    doubt = min(hits.sum(), (rows - hits).sum())
    return bool(doubt and 1 - np.minimum(hits, rows - hits).sum() / doubt >= _TELLS)
