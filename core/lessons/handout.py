"""A lesson on paper, with blanks or with the key, and in a spreadsheet: with the numbers that are on screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.lessons.formula import mathml
from core.lessons.lesson import Lesson, Value, place_of, rounded, said
from core.lessons.sources import Evaluated
from core.spreadsheet import csv_text
from core.templates import render


def handout(lesson: Lesson, evaluated: Evaluated, texts: Mapping[str, str], blanks: bool = False) -> str:
    """The lesson with these numbers as one HTML page that needs nothing else. With ``blanks`` every number that is
    guessed on screen is a line to write on, and the notes on it are left out."""
    values = evaluated.values
    blank = {place_of(values, step.guess) for step in lesson.steps if step.guess} if blanks else set()
    labels = {row.value: row.label for row in lesson.given}
    return render(
        "handout.html",
        lesson=lesson,
        evaluated=evaluated,
        inputs={name: (labels.get(name, name), values[name]) for name in lesson.inputs},
        texts={**lesson.texts, **texts},
        sides=dict(zip(("first", "second"), evaluated.words.get("sides", ()), strict=False)),
        blanks=blanks,
        math=lambda latex: mathml(latex, values, lesson.digits, blank),
        rounded=rounded,
        said=said,
    )


def numbers_csv(lesson: Lesson, evaluated: Evaluated) -> str:
    """The picture's numbers for a spreadsheet, a line a vector: its name, whether it is given or to be computed, its
    word, and the numbers in full. Rows come in the order in which they are computed."""
    words = {**lesson.words, **evaluated.words}
    rows: list[list[object]] = []
    for row in (*lesson.given, *reversed(lesson.picture)):
        kind = "to compute" if row.made_of else "given"
        value = evaluated.values[row.value]
        of = words.get(row.of, ())
        for place, numbers in _vectors(value):
            word = of[place - 1] if 0 < place <= len(of) else ""
            rows.append([f"{row.value}.{place}" if place else row.value, kind, word, *numbers])
    return csv_text(["value", "kind", "word", "numbers"], rows)


def _vectors(value: Value) -> Iterator[tuple[int, list[object]]]:
    """The vectors of a matrix with their places from 1; a vector or a number is one, at 0."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        yield from enumerate(value, start=1)
    else:
        yield 0, value if isinstance(value, list) else [value]
