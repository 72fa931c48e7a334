"""A lesson: a YAML file in this folder that defines the steps to show. docs/lessons.md describes the format.

A lesson contains no number that can be computed: its ``source`` (:mod:`core.lessons.sources`) runs the models' own code
on the inputs and returns named values, and formulas, pictures and guesses refer to those by name.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Union, cast

from core import json_types
from core.errors import UserError
from core.evaluation.suites import SUITES
from core.files import read_yaml

FOLDER = Path(__file__).resolve().parent

Value = float | list[Any]
"""A number, or an arbitrarily nested list of numbers."""
Values = dict[str, Value]
Pairs = tuple[tuple[str, str], ...]
ValueTexts = Union[str, "list[ValueTexts]"]
"""A number's text, or a list of them nested like the value."""


SMALL_ERROR = 0.05
"""The largest share of a number by which its text may differ from it, while there are decimals left."""


SUMS_TO_1 = 1e-3
"""How far the sum of shares may be from 1."""


class LessonError(UserError):
    """The lesson does not exist or its file violates docs/lessons.md; the message is one sentence with the remedy."""


@dataclass(frozen=True)
class PictureRow:
    """A value in a lesson's picture; adjacent rows with the same ``label`` share a line. ``of``: the value whose words
    label its parts; ``across``: the value whose words head the numbers of ``rows``. ``shape``: numbers, shares, parts
    one below the other, or a curve over the words, labelled ``name``. ``made_of``: names of the values from which a
    number can be computed; ``uses``: names of the values from which a model computes it, with weights that are not
    shown."""

    value: str
    label: str
    of: str = ""
    across: str = ""
    name: str = ""
    shape: Literal["cells", "bars", "rows", "curve"] = "cells"
    made_of: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class LessonStep:
    """One step. ``numbers``: the formula with numbers, by line. ``lit``: the values to highlight; ``guess``: a number
    that learners may guess before it is shown, or with a ``vote``, a value of which they guess the parts that are more
    than half, for which this is the question; ``opens``: a checkpoint that shows the step in a trained model."""

    title: str
    says: str
    formula: str
    numbers: tuple[str, ...]
    lit: tuple[str, ...]
    guess: str = ""
    vote: str = ""
    note: str = ""
    opens: str = ""


@dataclass(frozen=True)
class Lesson:
    """``change``: a suggestion to try on screen; ``inputs``: the editable numbers, ``texts``: the editable sentences;
    ``given``: values shown next to the picture, such as weights; ``words``: names of a value's parts; ``checkpoints``:
    the model that computes the numbers, then its substitutes; ``pairs``: a class of pairs; ``simple_pairs``: how many
    of :mod:`core.evaluation.probe`'s simple pairs form one; ``compared``: models whose figures are shown below;
    ``digits``: decimals shown; ``name``: from the file name."""

    title: str
    about: str
    source: str
    picture: tuple[PictureRow, ...]
    steps: tuple[LessonStep, ...]
    given: tuple[PictureRow, ...] = ()
    change: str = ""
    inputs: Values = field(default_factory=dict)
    words: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    checkpoints: tuple[str, ...] = ()
    pairs: Pairs = ()
    simple_pairs: int = 0
    compared: tuple[str, ...] = ()
    digits: int = 3
    name: str = ""

    def position(self, name: str, most: int) -> int:
        """An input that counts from 1 to ``most``, returned from 0."""
        return min(most, max(1, int(cast(float, self.inputs[name])))) - 1


_LESSONS = json_types.converter(forbid_extra_keys=True)


@_LESSONS.register_structure_hook
def _value(value: Any, _: Any) -> Value:
    if not isinstance(value, list) and not json_types.is_number(value):
        raise TypeError
    return [_value(part, _) for part in value] if isinstance(value, list) else value


def place_of(values: Values, name: str) -> str:
    """The name with numeric positions: in ``x.word``, ``word`` is replaced by its value, and in ``a.kept.2``,
    ``kept.2`` by the second number of ``kept``."""
    head, *places = name.split(".")
    numbers, rest = [head], iter(places)
    for place in rest:
        value: Any = values.get(place)
        if isinstance(value, list):
            value = value[int(next(rest)) - 1]
        numbers.append(str(int(value)) if isinstance(value, float) else place)
    return ".".join(numbers)


def at(values: Values, name: str) -> Value:
    """The value with this name, or a part of it if numbers follow: ``h.2.1`` is the first number of the second h.

    Raises LessonError if it does not exist.
    """
    head, *places = place_of(values, name).split(".")
    value: Any = values.get(head)
    for place in places:
        if not place.isdecimal() or not isinstance(value, list) or not 0 < int(place) <= len(value):
            value = None
            break
        value = value[int(place) - 1]
    if value is None:
        raise LessonError(f"there is no value {name!r}: choose one of {', '.join(sorted(values))}, with places from 1")
    return value


def shown(number: float, digits: int) -> str:
    """A number with up to ``digits`` decimals, without trailing zeros. Smaller numbers get up to two more decimals, so
    that learners who compute with the shown number get nearly the same; still smaller ones are shown as about 0;
    numbers from a million up have a power of ten."""
    if abs(number) >= 1e6:
        return f"{number:.2e}".replace("e+0", "e").replace("-", "−")
    texts = [f"{number:.{more}f}".rstrip("0").rstrip(".") for more in range(digits, digits + 3)]
    near = (text for text in texts if abs(float(text) - number) <= SMALL_ERROR * abs(number))
    text = next(near, texts[-1] if float(texts[-1]) else "≈0")
    return text.replace("-", "−")


def guessed(values: Values, step: LessonStep) -> tuple[str, ...]:
    """The names of the numbers that learners guess in a step."""
    name = place_of(values, step.guess)
    if not step.vote:
        return (name,) if name else ()
    return tuple(f"{name}.{place}" for place, _ in enumerate(cast(list[Value], at(values, name)), 1))


def given_away(values: Values, name: str) -> tuple[str, ...]:
    """The other parts of a number's vector if they add up to 1: the number is 1 minus their sum."""
    parent, _, place = place_of(values, name).rpartition(".")
    whole = at(values, parent) if parent else 0.0
    if not isinstance(whole, list) or min(whole) < 0 or abs(sum(whole) - 1) > SUMS_TO_1:
        return ()
    return tuple(f"{parent}.{i}" for i in range(1, len(whole) + 1) if str(i) != place)


def said(text: str, values: Values, digits: int) -> str:
    r"""A sentence with each ``\val{name}`` replaced by its number. Raises LessonError like :func:`at`, and if the name
    stands for several numbers."""

    def number(match: re.Match[str]) -> str:
        value = at(values, match[1])
        if isinstance(value, list):
            raise LessonError(f"{match[1]!r} is several numbers, and a sentence takes one: name one of them")
        return shown(value, digits)

    return re.sub(r"\\val\{([^}]*)\}", number, text)


def rounded(value: Value, digits: int) -> ValueTexts:
    """The texts of a value's numbers (:func:`shown`), nested like the value."""
    return [rounded(part, digits) for part in value] if isinstance(value, list) else shown(value, digits)


@functools.cache
def lessons() -> dict[str, Lesson]:
    """All lessons by name, in the order of their file names. Raises LessonError for an invalid file."""
    files = sorted(FOLDER.glob("*.yaml"), key=lambda path: int(path.stem.partition("-")[0]))
    return {path.stem.partition("-")[2]: read(path) for path in files}


def read(path: Path) -> Lesson:
    """A lesson from its file, ``NN-name.yaml``. Raises LessonError naming the problem."""
    try:
        written = read_yaml(path)
    except ValueError as error:
        raise LessonError(f"{error}: fix it there") from None
    try:
        lesson = _LESSONS.structure(written, Lesson)
    except Exception as error:
        problems = json_types.problems(error, written, Lesson)
        raise LessonError(f"{path.name}: {', '.join(problems)}; see docs/lessons.md") from None
    pairs = lesson.pairs or _simple_pairs(lesson.simple_pairs)
    return replace(lesson, name=path.stem.partition("-")[2], pairs=pairs)


def _simple_pairs(count: int) -> Pairs:
    """``count`` of our simple pairs, from all kinds."""
    if not count:
        return ()
    rows = SUITES["simple"].pairs.rows
    return tuple((row.first, row.second) for row in rows[:: len(rows) // count][:count])
