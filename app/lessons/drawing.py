"""Lessons as the browser draws them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.lessons import Evaluated, Lesson, mathml
from core.lessons.lesson import Row, at, place_of, rounded, said


@dataclass(frozen=True)
class DrawnStep:
    """A step of a lesson: its text, the positions of the highlighted numbers and of the guessed one, its formula and
    its numbers as MathML, and the checkpoint that shows it trained."""

    title: str
    says: str
    note: str
    lit: tuple[str, ...]
    guess: str
    formula: str
    numbers: tuple[str, ...]
    opens: str


@dataclass(frozen=True)
class Value:
    """A number, or numbers, as they are and as they are written."""

    number: object
    text: object


@dataclass(frozen=True)
class Line:
    """Rows of a picture that have the same label."""

    label: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class DrawnLesson:
    """All steps as the browser draws them, so that moving between them needs no round trip to the server. ``given``:
    values shown next to the picture; ``inputs``: the editable values; ``texts``: the editable sentences."""

    title: str
    about: str
    steps: tuple[DrawnStep, ...]
    lines: tuple[Line, ...]
    given: tuple[Line, ...]
    words: Mapping[str, Sequence[str]]
    values: Mapping[str, Value]
    inputs: tuple[str, ...]
    texts: Mapping[str, str]


def drawn(lesson: Lesson, evaluated: Evaluated, texts: Mapping[str, str]) -> DrawnLesson:
    """The lesson as drawn with these numbers."""
    numbers, digits = evaluated.values, lesson.digits
    names = {row.value for row in (*lesson.picture, *lesson.given)}
    names |= {step.guess.partition(".")[0] for step in lesson.steps} - {""}
    steps = (
        DrawnStep(
            step.title,
            said(step.says, numbers, digits),
            said(step.note, numbers, digits),
            tuple(place_of(numbers, name) for name in step.lit),
            place_of(numbers, step.guess),
            mathml(step.formula, numbers, digits),
            tuple(mathml(line, numbers, digits) for line in step.numbers),
            step.opens,
        )
        for step in lesson.steps
    )
    return DrawnLesson(
        lesson.title,
        lesson.about,
        tuple(steps),
        _lines(lesson.picture),
        _lines(lesson.given),
        {**lesson.words, **evaluated.words},
        {name: Value(at(numbers, name), rounded(at(numbers, name), digits)) for name in sorted(names)},
        tuple(sorted(lesson.inputs)),
        {**lesson.texts, **texts},
    )


def _lines(rows: Sequence[Row]) -> tuple[Line, ...]:
    """Rows of a picture, those with the same label on one line."""
    lines = itertools.groupby(rows, key=lambda row: row.label)
    return tuple(Line(label, tuple(line)) for label, line in lines)
