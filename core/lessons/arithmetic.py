r"""The arithmetic in a step's lines: the results of their formulas with the numbers that learners see. Learners compute
with rounded numbers, so their result differs from the exact one, the more so the more numbers enter it;
:func:`tolerances` allow for that. Only the operations that lessons use are supported: sums, products, fractions, roots,
``\tanh``, ``\softmax``, ``\max``, ``\mean``, ``\sigma``, ``\mathbf{sum}``, powers of e, vectors and matrices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from core.lessons.formula import expanded
from core.lessons.lesson import LessonStep, Value, Values, at, place_of, rounded

Numbers = Any
"""A number, or a NumPy array of numbers."""
Chain = list[tuple[str, Numbers]]
"""Sides of an equation that are numbers: the LaTeX and its value. All should be equal."""

_SILENT = re.compile(r"\\[,;%]|\\left(?![a-z])|\\right(?![a-z])|\\text\{[^{}]*\}")
_TOKEN = re.compile(r"@\d+@|\\[A-Za-z]+|\d+(?:\.\d+)?|\S")
_BETWEEN_EQUATIONS = re.compile(r"\\quad|\\to|\\approx|,")
_FUNCTIONS: dict[str, Callable[[Numbers], Numbers]] = {
    r"\tanh": np.tanh,
    r"\softmax": lambda x: np.exp(x - np.max(x)) / np.exp(x - np.max(x)).sum(),
    r"\max": np.max,
    r"\mean": np.mean,
    r"\sigma": lambda x: 1 / (1 + np.exp(-x)),
    r"\sqrt": np.sqrt,
    "sum": np.sum,
}


class _NotANumber(Exception):
    """The text contains a symbol without a known value."""


def tolerances(steps: tuple[LessonStep, ...], values: Values, digits: int) -> list[float]:
    """The tolerance of each step's guess: half a percent, half of the last decimal, or the distance between the number
    and the result from the rounded numbers that are shown. 0 if the step has no number to guess."""
    return [
        _tolerance(place_of(values, step.guess), equations, values, digits) if step.guess and not step.vote else 0.0
        for step, equations in zip(steps, chains(steps, values, digits), strict=True)
    ]


def _tolerance(guess: str, equations: list[Chain], values: Values, digits: int) -> float:
    exact = at(values, guess)
    assert not isinstance(exact, list), "a guess is one number"
    given = from_shown(guess, equations)
    off = 0.0 if given is None else abs(given - exact) * 1.001
    return max(0.5 * 10**-digits, 0.005 * abs(exact), min(0.005, abs(exact) / 10), off)


def from_shown(guess: str, equations: list[Chain]) -> float | None:
    """A number, named with numeric positions, computed from the others in its step's ``equations``; None if no equation
    gives it."""
    for chain in equations:
        sides = [side for text, side in chain if not _holds(text, guess)]
        whole = [re.fullmatch(r"\\val\{([^{}]*)\}", text) for text, _ in chain if _holds(text, guess)]
        for name in filter(None, whole if sides else ()):
            places = tuple(int(place) - 1 for place in guess.split(".")[len(name[1].split(".")) :])
            found = np.asarray(sides[0])
            if found.ndim == len(places) and np.isfinite(found).all():
                return float(found[places])
    return None


def chains(steps: tuple[LessonStep, ...], values: Values, digits: int | None) -> Iterator[list[Chain]]:
    """For each step, its equations; with ``digits``, computed from numbers as they are shown. A symbol keeps its value
    for later lines, and lines that start with the same symbol are one equation."""
    known: dict[str, Numbers] = {}
    for step in steps:
        by_symbol: dict[str, Chain] = {}
        for line in step.numbers:
            for equation in _equations(_places(expanded(line, values, every=True), values)):
                symbol, *sides = map(str.strip, equation.split("="))
                chain = by_symbol.setdefault(symbol, [])
                for side in sides if symbol in known else (symbol, *sides):
                    try:
                        chain.append((side, _computed(side, values, digits, known)))
                    except (_NotANumber, ArithmeticError, IndexError, TypeError, ValueError):
                        continue
                if chain:
                    known[symbol] = chain[-1][1]
        yield list(by_symbol.values())


def _equations(line: str) -> Iterator[str]:
    """The equations of a line, split where no bracket is open."""
    line, start = _SILENT.sub(" ", line), 0
    for match in _BETWEEN_EQUATIONS.finditer(line):
        before = line[start : match.start()]
        if all(before.count(opening) == before.count(closing) for opening, closing in ("()", "[]", "{}")):
            yield before
            start = match.end()
    yield line[start:]


def _places(latex: str, values: Values) -> str:
    return re.sub(r"\\val\{([^{}]*)\}", lambda match: rf"\val{{{place_of(values, match[1])}}}", latex)


def _holds(text: str, guess: str) -> bool:
    """Whether the text contains the number itself, or a vector with it."""
    return any(f"{guess}.".startswith(f"{name}.") for name in re.findall(r"\\val\{([^{}]*)\}", text))


def _computed(side: str, values: Values, digits: int | None, known: dict[str, Numbers]) -> Numbers:
    """The value of one side. Raises _NotANumber for an unknown symbol."""
    numbers: list[Numbers] = []

    def put(value: Numbers) -> str:
        numbers.append(value)
        return f"@{len(numbers) - 1}@"

    text = re.sub(r"\\val\{([^{}]*)\}", lambda match: put(_as_shown(at(values, match[1]), digits)), side)
    for symbol in sorted(known, key=len, reverse=True):
        if re.search("[A-Za-z]", symbol):
            text = re.sub(rf"(?<![\w\\{{]){re.escape(symbol)}(?![\w'^{{])", put(known[symbol]), text)
    with np.errstate(all="raise", under="ignore"):
        return _Reader(_TOKEN.findall(text), numbers).whole()


def _as_shown(value: Value, digits: int | None) -> Numbers:
    if digits is None:
        return np.asarray(value, dtype=float)
    return np.vectorize(lambda text: float(text.replace("−", "-").replace("≈", "")))(rounded(value, digits))


class _Reader:
    """Reads one expression. Raises _NotANumber for anything else, IndexError where it ends too early."""

    def __init__(self, tokens: list[str], numbers: list[Numbers]) -> None:
        self.tokens, self.numbers = [*tokens, ""], numbers

    def take(self, *wanted: str) -> bool:
        found = self.tokens[0] in wanted
        if found:
            del self.tokens[0]
        return found

    def whole(self) -> Numbers:
        value = self.sum()
        if self.tokens != [""]:
            raise _NotANumber
        return value

    def sum(self) -> Numbers:
        value = self.product()
        while self.tokens[0] in ("+", "-"):
            sign = 1 if self.tokens.pop(0) == "+" else -1
            value = value + sign * self.product()
        return value

    def product(self) -> Numbers:
        value = self.power()
        while self.tokens[0] not in ("", "+", "-", ")", "]", "}", ",", "|"):
            if self.take("/"):
                value = value / self.power()
                continue
            dot, times = self.take(r"\cdot"), self.take(r"\times")
            other = self.power()
            if dot or (not times and np.ndim(value) + np.ndim(other) > 2):
                value = np.dot(value, other)
            elif times:
                value = value * other
            else:
                raise _NotANumber
        return value

    def power(self) -> Numbers:
        if self.take("-", r"\minus"):
            return -self.power()
        value = self.atom()
        return value ** self.group() if self.take("^") else value

    def group(self) -> Numbers:
        if not self.take("{"):
            return self.atom()
        value = self.sum()
        if not self.take("}"):
            raise _NotANumber
        return value

    def atom(self) -> Numbers:
        token = self.tokens.pop(0)
        if token.startswith("@"):
            return self.numbers[int(token.strip("@"))]
        if token[:1].isdigit():
            return float(token)
        if token in ("(", "["):
            return self.listed()
        if token == r"\frac":
            return self.group() / self.group()
        if token == "e" and self.take("^"):
            return np.exp(self.group())
        if token == r"\mathbf":
            token = "".join(self.tokens[1:4])
            del self.tokens[:5]
        if token not in _FUNCTIONS:
            raise _NotANumber
        return _FUNCTIONS[token](self.group() if token == r"\sqrt" else self.power())

    def listed(self) -> Numbers:
        values = [self.sum()]
        while self.take(","):
            values.append(self.sum())
        if not self.take(")", "]"):
            raise _NotANumber
        return np.array(values) if len(values) > 1 else values[0]
