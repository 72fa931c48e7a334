"""Lessons in the form that the browser draws."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.lessons import Evaluated, Lesson, mathml
from core.lessons.lesson import LessonStep, PictureRow, at, place_of, rounded, said


@dataclass(frozen=True)
class LessonNumber:
    """One or more numbers, as values and as text."""

    number: object
    text: object


@dataclass(frozen=True)
class PictureLine:
    """Rows of a picture that have the same label."""

    label: str
    rows: tuple[PictureRow, ...]


@dataclass(frozen=True)
class DrawnLesson:
    """All steps as the browser draws them, so that moving between them needs no round trip to the server. ``given``:
    values shown next to the picture; ``inputs``: the editable values; ``texts``: the editable sentences."""

    title: str
    about: str
    steps: tuple[LessonStep, ...]
    lines: tuple[PictureLine, ...]
    given: tuple[PictureLine, ...]
    words: Mapping[str, Sequence[str]]
    values: Mapping[str, LessonNumber]
    inputs: tuple[str, ...]
    texts: Mapping[str, str]


def drawn(lesson: Lesson, evaluated: Evaluated, texts: Mapping[str, str]) -> DrawnLesson:
    """The drawing of the lesson with these numbers."""
    numbers, digits = evaluated.values, lesson.digits
    names = {row.value for row in (*lesson.picture, *lesson.given)}
    names |= {step.guess.partition(".")[0] for step in lesson.steps} - {""}
    steps = (
        replace(
            step,
            says=said(step.says, numbers, digits),
            note=said(step.note, numbers, digits),
            lit=tuple(place_of(numbers, name) for name in step.lit),
            guess=place_of(numbers, step.guess),
            formula=mathml(step.formula, numbers, digits),
            numbers=tuple(mathml(line, numbers, digits) for line in step.numbers),
        )
        for step in lesson.steps
    )
    return DrawnLesson(
        lesson.title,
        f"{lesson.about} {lesson.change}".strip(),
        tuple(steps),
        _lines(lesson.picture),
        _lines(lesson.given),
        {**lesson.words, **evaluated.words},
        {name: LessonNumber(at(numbers, name), rounded(at(numbers, name), digits)) for name in sorted(names)},
        tuple(sorted(lesson.inputs)),
        {**lesson.texts, **texts},
    )


def _lines(rows: Sequence[PictureRow]) -> tuple[PictureLine, ...]:
    """Rows of a picture, grouped so that those with the same label share a line."""
    lines = itertools.groupby(rows, key=lambda row: row.label)
    return tuple(PictureLine(label, tuple(line)) for label, line in lines)
