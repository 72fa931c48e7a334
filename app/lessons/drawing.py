"""Lessons in the form that the browser draws."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.lessons import Evaluated, Lesson, mathml
from core.lessons.arithmetic import tolerances
from core.lessons.lesson import LessonStep, PictureRow, Value, Values, at, given_away, guessed, place_of, rounded, said

IN_PICTURE = 8
"""How many numbers of a vector lesson.js draws."""


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
class DrawnStep:
    """A step with formulas as MathML. ``guess``: the numbers to guess; ``vote``: the question about which of ``parts``
    are more than half, instead of a guess of one; ``hidden``: the numbers that would give the guess away; ``within``:
    how far a guess may be off."""

    title: str
    says: str
    formula: str
    numbers: tuple[str, ...]
    lit: tuple[str, ...]
    guess: tuple[str, ...]
    vote: str
    parts: tuple[str, ...]
    hidden: tuple[str, ...]
    within: float
    note: str
    opens: str


@dataclass(frozen=True)
class DrawnLesson:
    """All steps as the browser draws them, so that moving between them needs no round trip to the server. ``given``:
    values shown next to the picture; ``origins``: by number, the names from which it is computed, where * stands for
    every position; ``inputs``: the editable values; ``texts``: the editable sentences."""

    title: str
    about: str
    steps: tuple[DrawnStep, ...]
    lines: tuple[PictureLine, ...]
    given: tuple[PictureLine, ...]
    words: Mapping[str, Sequence[str]]
    values: Mapping[str, LessonNumber]
    origins: Mapping[str, Sequence[str]]
    inputs: tuple[str, ...]
    texts: Mapping[str, str]


def drawn(lesson: Lesson, evaluated: Evaluated, texts: Mapping[str, str]) -> DrawnLesson:
    """The drawing of the lesson with these numbers."""
    numbers, digits = evaluated.values, lesson.digits
    names = {row.value for row in (*lesson.picture, *lesson.given)}
    names |= {step.guess.partition(".")[0] for step in lesson.steps} - {""}
    words = {**lesson.words, **evaluated.words}
    within = tolerances(lesson.steps, numbers, digits)
    of = {row.value: words.get(row.of, ()) for row in lesson.picture}
    steps = (
        _step(step, far, numbers, words, digits, of.get(step.guess, ()))
        for step, far in zip(lesson.steps, within, strict=True)
    )
    return DrawnLesson(
        lesson.title,
        f"{lesson.about} {lesson.change}".strip(),
        tuple(steps),
        _lines(lesson.picture),
        _lines(lesson.given),
        words,
        {name: LessonNumber(at(numbers, name), rounded(at(numbers, name), digits)) for name in sorted(names)},
        _origins(lesson.picture, numbers),
        tuple(sorted(lesson.inputs)),
        {**lesson.texts, **texts},
    )


def _step(
    step: LessonStep,
    within: float,
    values: Values,
    words: Mapping[str, Sequence[str]],
    digits: int,
    parts: Sequence[str],
) -> DrawnStep:
    """A step whose value to guess has these ``parts``; without its guess if its lines leave the number out, as with a
    share of nothing."""
    lines = tuple(mathml(line, values, digits, words=words) for line in step.numbers)
    guess = guessed(values, step)
    if not all(any(f'data-of="{name}"' in line for line in lines) for name in guess):
        guess = ()
    return DrawnStep(
        step.title,
        said(step.says, values, digits),
        mathml(step.formula, values, digits),
        lines,
        tuple(place_of(values, name) for name in step.lit),
        guess,
        step.vote,
        tuple(parts) if step.vote else (),
        given_away(values, guess[0]) if guess else (),
        within,
        said(step.note, values, digits),
        step.opens,
    )


def _lines(rows: Sequence[PictureRow]) -> tuple[PictureLine, ...]:
    """Rows of a picture, grouped so that those with the same label share a line."""
    lines = itertools.groupby(rows, key=lambda row: row.label)
    return tuple(PictureLine(label, tuple(line)) for label, line in lines)


def _origins(rows: Sequence[PictureRow], values: Values) -> dict[str, list[str]]:
    """By number, the names from which it is computed (docs/lessons.md)."""
    origins = {}
    for row in rows:
        for number in _numbers(row.value, values[row.value]):
            found = [_origin(source, number, values) for source in (*row.made_of, *row.uses)]
            origins[number] = [source for source in found if source]
    return {number: sources for number, sources in origins.items() if sources}


def _origin(source: str, number: str, values: Values) -> str:
    """The source with this number's positions instead of # and ##; empty if it concerns another part of the value."""
    value, *places = number.split(".")
    part, _, name = source.rpartition(":")
    first, second = [*places, "", ""][:2]
    if part and place_of(values, f"{value}.{part}") != f"{value}.{first}":
        return ""
    return place_of(values, name.replace("##", second).replace("#", first))


def _numbers(name: str, value: Value) -> list[str]:
    """The names of a value's numbers that the picture shows."""
    if not isinstance(value, list):
        return [name]
    parts = (part[:IN_PICTURE] if isinstance(part, list) else part for part in value)
    return [number for i, part in enumerate(parts, start=1) for number in _numbers(f"{name}.{i}", part)]
