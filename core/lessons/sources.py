"""Sources of a lesson's numbers: functions that run the models' code on a lesson, with the learner's inputs and texts,
and return named values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from core.checkpoint import load_named
from core.lessons.lesson import Lesson, LessonError, Value, Values


@dataclass(frozen=True)
class Evaluated:
    """A source's result: ``values`` by name; for sources that read texts, ``words`` that name columns and the
    ``checkpoint`` that computed the numbers."""

    values: Values
    words: dict[str, list[str]] = field(default_factory=dict)
    checkpoint: str = ""

    @property
    def model(self) -> str:
        """The checkpoint's title and name; empty without one. Raises CheckpointError if it no longer exists."""
        return f"{load_named(self.checkpoint).card['title']} ({self.checkpoint})" if self.checkpoint else ""


Source = Callable[[Lesson], Evaluated]

SOURCES: dict[str, Source] = {}
"""Sources by their names in lessons."""


def source(name: str) -> Callable[[Source], Source]:
    """Decorator: registers a source under ``name``."""

    def add(function: Source) -> Source:
        SOURCES[name] = function
        return function

    return add


def evaluate(lesson: Lesson, inputs: Values, texts: Mapping[str, str]) -> Evaluated:
    """The lesson's values, computed with these inputs and texts.

    Raises LessonError for an unknown source and for numbers that give no result, CheckpointError if the lesson has
    no available checkpoint, and PairError for a text without words.
    """
    if lesson.source not in SOURCES:
        known = ", ".join(sorted(SOURCES))
        raise LessonError(f"lesson {lesson.name} has the unknown source {lesson.source!r}: choose one of {known}")
    changed = replace(lesson, inputs={**lesson.inputs, **inputs}, texts={**lesson.texts, **texts})
    try:
        evaluated = SOURCES[lesson.source](changed)
    except ArithmeticError:
        evaluated = None
    if evaluated is None or not _finite(list(evaluated.values.values())):
        raise LessonError("With these numbers the lesson divides by 0 or overflows: change them")
    return evaluated


def _finite(value: Value) -> bool:
    return all(map(_finite, value)) if isinstance(value, list) else math.isfinite(value)
