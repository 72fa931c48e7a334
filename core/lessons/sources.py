"""Where a lesson's numbers come from: functions that run the models' code and return values by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.lessons.lesson import Lesson, LessonError, Values


@dataclass(frozen=True)
class Evaluated:
    """What a source found: ``values`` by name, and ``words`` that name columns, where it read texts."""

    values: Values
    words: dict[str, list[str]] = field(default_factory=dict)


Source = Callable[[Mapping[str, Any], Mapping[str, str]], Evaluated]
"""A lesson's inputs and its texts to values."""

SOURCES: dict[str, Source] = {}
"""By the name that lessons use."""


def source(name: str) -> Callable[[Source], Source]:
    """Decorator: make a source known under ``name``."""

    def add(function: Source) -> Source:
        SOURCES[name] = function
        return function

    return add


def evaluate(lesson: Lesson, inputs: Mapping[str, Any], texts: Mapping[str, str]) -> Evaluated:
    """The lesson's values with these inputs and texts in place of its own.

    Raises LessonError for an unknown source or a checkpoint that is not there, and PairError for a text without a word.
    """
    if lesson.source not in SOURCES:
        raise LessonError(f"lesson {lesson.name} has the unknown source {lesson.source!r}: choose one of "
                          f"{', '.join(sorted(SOURCES))}")  # fmt: skip
    checkpoint = {"checkpoint": lesson.checkpoint} if lesson.checkpoint else {}
    return SOURCES[lesson.source]({**lesson.inputs, **inputs, **checkpoint}, {**lesson.texts, **texts})
