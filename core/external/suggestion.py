"""Suggests names for a model's numbered classes from its answers to twenty simple pairs per task.

A claim with its evidence is like a hypothesis with its premise, so both tasks use the textual entailment pairs.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.optimize
import torch

from core.checkpoint.files import files_state, read_card
from core.external.checkpoint import load_external
from core.tasks import FACTS, TASKS

PAIRS = Path(__file__).with_name("plain_pairs.tsv")
NOT_ENTAILED = "not_entailment"
LABELS: Mapping[str, Sequence[tuple[str, ...]]] = {name: task.classes for name, task in TASKS.items() if task.classes}
"""The usual class names by task."""
_OF_CLAIMS = {"entailment": "supports", "neutral": "not enough info", "contradiction": "refutes"}
_TWO = {"neutral": NOT_ENTAILED, "contradiction": NOT_ENTAILED}

Row = tuple[str, str, str]
"""Both texts in the data set's order, and the label."""


@dataclass(frozen=True)
class Suggestion:
    """Names for the classes in the order of the logits; ``right``: how many of the ``of`` simple pairs the model
    classifies correctly with them."""

    task: str
    labels: tuple[str, ...]
    second_first: bool
    right: int
    of: int


def usual_labels(task: str, classes: int) -> tuple[str, ...]:
    """The usual names for a task's classes; empty if their number differs."""
    return next((labels for labels in LABELS.get(task, ()) if len(labels) == classes), ())


@functools.cache
def plain_pairs(task: str, classes: int) -> tuple[Row, ...]:
    """The pairs of a task with its labels; none if the number of classes differs."""
    labels = usual_labels(task, classes)
    with PAIRS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    if task == FACTS:
        pairs = [(row["second"], row["first"], _OF_CLAIMS[row["label"]]) for row in rows if row["task"] == "entailment"]
    else:
        two = _TWO if NOT_ENTAILED in labels else {}
        own = (row for row in rows if row["task"] == task)
        pairs = [(row["first"], row["second"], two.get(row["label"], row["label"])) for row in own]
    return tuple(pair for pair in pairs if pair[2] in labels)


def suggestion(folder: Path, progress: Callable[[int, int], object] = lambda done, of: None) -> Suggestion | None:
    """For a model with numbered classes: the task, labels and text order that get the most simple pairs right; None if
    no task has this number of classes. Loads the model. ``progress`` receives the number of interpretations tried and
    their total. Raises CheckpointError if loading fails."""
    loaded = load_external(folder, files_state(folder), read_card(folder), numbered=True)
    classes = len(loaded.labels)

    @torch.inference_mode()
    def ask(pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        logits = torch.zeros(len(pairs), classes)
        for rows, pieces in loaded.batches([loaded.read(*pair) for pair in pairs]):
            logits[rows] = loaded.model(pieces).logits.float()
        return torch.log_softmax(logits.double(), 1).numpy()

    ways = [(task, turned) for task in LABELS if plain_pairs(task, classes) for turned in (False, True)]
    found = []
    for done, (task, turned) in enumerate(ways):
        progress(done, len(ways))
        found.append(fitted(task, plain_pairs(task, classes), usual_labels(task, classes), turned, ask))
    return max(found, key=lambda one: one.right / one.of, default=None)


def fitted(
    task: str,
    rows: Sequence[Row],
    labels: Sequence[str],
    second_first: bool,
    ask: Callable[[Sequence[tuple[str, str]]], np.ndarray],
) -> Suggestion:
    """The assignment of names to classes under which the answers to these pairs are most probable. ``ask``: returns log
    p ``[N, C]`` for pairs in the model's order."""
    log_p = ask([(second, first) if second_first else (first, second) for first, second, _ in rows])
    gold = np.array([labels.index(label) for *_, label in rows])
    means = np.array([log_p[gold == number].mean(0) for number in range(len(labels))])  # [labels, classes]
    named, classes = scipy.optimize.linear_sum_assignment(-means)
    number_of = dict(zip(classes.tolist(), named.tolist(), strict=True))
    order = tuple(labels[number_of[one]] for one in range(len(labels)))
    right = sum(order[best] == row[2] for best, row in zip(log_p.argmax(1), rows, strict=True))
    return Suggestion(task, order, second_first, int(right), len(rows))
