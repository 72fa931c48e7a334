"""The tasks of models on pairs, defined once for the whole code."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

ENTAILMENT, FACTS, PARAPHRASE, ANSWERS = "entailment", "fact checking", "paraphrase", "answer selection"


class Task(NamedTuple):
    """A task: the names of both texts, and the usual class names; of several sets with the same number of classes, the
    first is the usual one. Without any, its models give a score."""

    texts: tuple[str, str]
    classes: tuple[tuple[str, ...], ...] = ()


TASKS: Mapping[str, Task] = {
    ENTAILMENT: Task(
        ("premise", "hypothesis"),
        (("entailment", "neutral", "contradiction"), ("entailment", "not_entailment"), ("entailment", "contradiction")),
    ),
    FACTS: Task(("claim", "evidence"), (("supports", "not enough info", "refutes"), ("supports", "refutes"))),
    PARAPHRASE: Task(
        ("question 1", "question 2"),
        (("not duplicate", "duplicate"), ("not paraphrase", "paraphrase"), ("not_equivalent", "equivalent")),
    ),
    ANSWERS: Task(("question", "answer"), (("0", "1"),)),
    "similarity": Task(("first text", "second text")),
}
"""Tasks by their names on cards. A recipe may name another one."""


def task_of_classes(labels: Collection[str]) -> str:
    """The task that these class names belong to; empty if unknown, as for numbers."""
    names = {label.lower() for label in labels}
    return next((name for name, task in TASKS.items() if names != {"0", "1"} and names in map(set, task.classes)), "")


def texts_of(task: str) -> tuple[str, str]:
    """The names of a task's texts; for an unknown task, the names of the similarity task."""
    return TASKS.get(task, TASKS["similarity"]).texts
