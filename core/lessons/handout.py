"""Exports a lesson with the numbers on screen as a printable handout (with blanks or with the key) and as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.lessons.formula import HIDDEN, LINE, LONGEST, mathml
from core.lessons.lesson import Lesson, Value, Values, ValueTexts, given_away, guessed, rounded, said
from core.lessons.sources import Evaluated
from core.spreadsheet import csv_text
from core.templates import render


def handout(lesson: Lesson, evaluated: Evaluated, texts: Mapping[str, str], blanks: bool = False) -> str:
    """The lesson with these numbers as one self-contained HTML page. With ``blanks``, every number that learners guess
    on screen becomes a line to write on, and the notes on it are left out."""
    values, words = evaluated.values, {**lesson.words, **evaluated.words}
    lines = [
        [mathml(line, values, lesson.digits, blank, words) for line in step.numbers]
        for step, blank in zip(lesson.steps, _blanks(lesson, values, blanks), strict=True)
    ]
    labels = {row.value: row.label for row in lesson.given}
    return render(
        "handout.html",
        lesson=lesson,
        evaluated=evaluated,
        inputs={name: (labels.get(name, name), values[name]) for name in lesson.inputs},
        texts={**lesson.texts, **texts},
        sides=dict(zip(("first", "second"), evaluated.words.get("sides", ()), strict=False)),
        blanks=blanks,
        legends=_legends(lesson, evaluated, blanks),
        math=lambda latex: mathml(latex, values, lesson.digits),
        lines=lines,
        rounded=rounded,
        said=said,
    )


def _blanks(lesson: Lesson, values: Values, blanks: bool) -> Iterator[dict[str, str]]:
    """For each step, the texts that replace numbers: a line for every guess, and no number that gives away the guess of
    this or a later step."""
    guesses = [name for step in lesson.steps if blanks for name in guessed(values, step)]
    left = [step.guess for step in lesson.steps if blanks]
    for place in range(len(lesson.steps)):
        hidden = {name: HIDDEN for guess in left[place:] if guess for name in given_away(values, guess)}
        yield hidden | dict.fromkeys(guesses, LINE)


def _legends(lesson: Lesson, evaluated: Evaluated, matrices: bool) -> list[str]:
    """For each step, the names of the parts of values that no earlier step shows, because a printed page lacks the
    picture; with ``matrices``, matrices with one row per word are included, with their numbers."""
    words, seen, legends = {**lesson.words, **evaluated.words}, set(), []
    for step in lesson.steps:
        lines = []
        for row in (*lesson.given, *lesson.picture):
            value, of, rows = evaluated.values[row.value], words.get(row.of, ()), row.shape == "rows"
            key = row.value if rows else row.of
            listed = any(rf"\list{{{row.of}}}{{{row.value}}}" in line for line in step.numbers)
            if listed or (rows and not matrices):
                continue
            if row.value in step.lit and key not in seen and isinstance(value, list) and len(value) == len(of):
                texts = rounded(value, lesson.digits)
                parts = [f"{word} {_in_short(text)}" for word, text in zip(of, texts, strict=True)] if rows else of
                over = f" (over {', '.join(words[row.across])})" if row.across else ""
                lines.append(f"{row.label}{over}: {', '.join(parts)}")
                seen.add(key)
        legends.append("; ".join(lines))
    return legends


def _in_short(text: ValueTexts) -> str:
    if isinstance(text, str):
        return text
    return f"({', '.join(map(str, text[:LONGEST]))}{', …' * (len(text) > LONGEST)})"


def numbers_csv(lesson: Lesson, evaluated: Evaluated) -> str:
    """The picture's numbers as CSV, one line per vector: its name, whether it is given or to be computed, its word, and
    one column per number in full precision. Rows are in the order of computation."""
    words = {**lesson.words, **evaluated.words}
    rows: list[list[object]] = []
    for row in (*lesson.given, *reversed(lesson.picture)):
        kind = "to compute" if row.made_of else "given"
        value = evaluated.values[row.value]
        of = words.get(row.of, ())
        for place, numbers in _vectors(value):
            word = of[place - 1] if 0 < place <= len(of) else ""
            rows.append([f"{row.value}.{place}" if place else row.value, kind, word, *numbers])
    width = max(map(len, rows))
    padded = [[*row, *[""] * (width - len(row))] for row in rows]
    return csv_text(["value", "kind", "word", *(f"number {n}" for n in range(1, width - 2))], padded)


def _vectors(value: Value) -> Iterator[tuple[int, list[object]]]:
    """The vectors of a matrix with their positions from 1; a vector or a number is a single one, at 0."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        yield from enumerate(value, start=1)
    else:
        yield 0, value if isinstance(value, list) else [value]
