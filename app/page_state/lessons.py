"""What the page Lessons shows."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from app.page_state.codec import Codec, PageState, one_of, parameter, whole_number
from core.lessons import lessons

Changed = tuple[tuple[str, float], ...]
"""Inputs that a person changed: the names of numbers, such as h.2.1, with what they are now."""


def _changed(text: str) -> Changed | None:
    parts = [part.partition("=") for part in text.split(";")]
    try:
        numbers = {name: float(number) for name, _, number in parts}
    except ValueError:
        return None
    fits = all(re.fullmatch(r"\w+(\.\d{1,3})*", name) and math.isfinite(n) for name, n in numbers.items())
    return tuple(numbers.items()) if fits else None


def _changes(value: Changed) -> str:
    return ";".join(f"{name}={number:g}" for name, number in value)


_NO_LESSON = f"The link asks for the lesson “{{}}”; it can ask for {', '.join(lessons())}."
_NO_STEP = "The link asks for step “{}”, which is no number of a step: the lesson begins at its first."
_NO_INPUTS = "The link’s inputs “{}” cannot be read, such as h.2.1=0.5;tau=2: the lesson has its own."


def _of_lesson(codec: Codec) -> dict[str, object]:
    return parameter(codec, belongs_to=("lesson",))


@dataclass(frozen=True)
class LessonsState(PageState):
    """All that decides what Lessons shows. ``step`` counts from 1; ``first`` and ``second`` are texts in place of the
    lesson's own."""

    page = "lessons"
    lesson: str = field(
        default=next(iter(lessons())), metadata=parameter(Codec("lesson", _NO_LESSON, one_of(lessons())))
    )
    step: int = field(default=1, metadata=_of_lesson(Codec("step", _NO_STEP, whole_number(1, 99))))
    inputs: Changed = field(default=(), metadata=_of_lesson(Codec("inputs", _NO_INPUTS, _changed, _changes)))
    first: str = field(default="", metadata=_of_lesson(Codec("first")))
    second: str = field(default="", metadata=_of_lesson(Codec("second")))
