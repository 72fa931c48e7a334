"""The state of the page Lessons."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from app.page_state.codec import PageState, one_of, parameter, whole_number
from core.lessons import lessons

Changed = tuple[tuple[str, float], ...]
"""Changed inputs: names of numbers, such as h.2.1, with their values."""


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


_OF_LESSON = ("lesson",)


@dataclass(frozen=True)
class LessonsState(PageState):
    """Everything that determines what Lessons shows. ``step`` counts from 1; ``first`` and ``second`` replace the
    lesson's texts; ``pairs``: the class's own pairs, as pasted."""

    page = "lessons"
    lesson: str = parameter(next(iter(lessons())), one_of(lessons()))
    step: int = parameter(1, whole_number(1, 99), belongs_to=_OF_LESSON)
    inputs: Changed = parameter((), _changed, _changes, belongs_to=_OF_LESSON)
    first: str = parameter("", belongs_to=_OF_LESSON)
    second: str = parameter("", belongs_to=_OF_LESSON)
    pairs: str = parameter("", long=True)
