"""The language of filters: which rows of a run are shown.

    gold = neutral and p > 90% and not right
    predicted != predicted2 and (second contains "not" or tag in ("wrong gold label", other))

A comparison has a column's name on its left (in backticks where it is not one word) and on its right a number, a word,
a text in quotes or another column; capitals do not matter in texts. A column of yes and no stands alone. It is read by
a grammar of its own: nothing of it reaches Python or pandas.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from lark import Lark, Token, Transformer, UnexpectedInput, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken, VisitError

from core.desk.columns import Column
from core.errors import MendableError

LONGEST = 2000
"""Characters of a filter."""

_GRAMMAR = r"""
?start: either
?either: both | either "or"i both      -> either
?both: single | both "and"i single     -> both
?single: "not"i single                 -> opposite
    | "(" either ")"
    | name COMPARE value               -> compare
    | name "in"i "(" value ("," value)* ")"      -> among
    | name NOT "in"i "(" value ("," value)* ")"  -> not_among
    | name "contains"i value           -> holds
    | name                             -> alone
name: NAME | QUOTED
?value: NUMBER | STRING | NAME | QUOTED
NOT: "not"i
COMPARE: "!=" | "<>" | "<=" | ">=" | "==" | "=" | "<" | ">"
NAME: /[^\W\d][\w.]*/i
QUOTED: /`[^`]+`/
NUMBER: /-?\d+(\.\d+)?%?/
STRING: /"(\\.|[^"\\])*"|'(\\.|[^'\\])*'/
%import common.WS
%ignore WS
"""
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EQUAL = ("=", "==", "!=", "<>")


class FilterError(MendableError):
    """A filter that cannot be read; ``start`` and ``end`` are the characters that it is about."""

    def __init__(self, sentence: str, start: int, end: int) -> None:
        super().__init__(sentence)
        self.start, self.end = start, max(end, start + 1)


def rows_of(text: str, columns: Mapping[str, Column]) -> np.ndarray:
    """Which rows the filter keeps, bool ``[N]``; all of them for an empty one. Raises FilterError."""
    size = len(next(iter(columns.values())).values)
    if not text.strip():
        return np.ones(size, dtype=bool)
    if len(text) > LONGEST:
        raise FilterError(f"The filter has {len(text):,} characters; it may have {LONGEST:,}.", LONGEST, len(text))
    try:
        tree = _parser().parse(text)
        mask: np.ndarray = _Rows(columns, size).transform(tree)
        return mask
    except UnexpectedInput as error:
        raise _misread(text, error) from None
    except VisitError as error:
        if isinstance(error.orig_exc, FilterError):
            raise error.orig_exc from None
        raise
    except RecursionError:
        raise FilterError("The filter is nested too deep: take some brackets away.", 0, len(text)) from None


def quoted(name: str) -> str:
    """A column's name as filters write it."""
    plain = name.replace(".", "").isidentifier() and name.lower() not in ("and", "or", "not", "in", "contains")
    return name if plain else f"`{name}`"


def literal(value: str) -> str:
    """A text as filters write it."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", lexer="contextual", maybe_placeholders=False)


def _misread(text: str, error: UnexpectedInput) -> FilterError:
    """What is wrong where the grammar no longer follows."""
    if isinstance(error, UnexpectedCharacters):
        at = error.pos_in_stream or 0
        character = text[at]
        if character in "\"'`":
            return FilterError(
                "A text or name in quotes begins here and does not end: close the quotes.", at, len(text)
            )
        return FilterError(f"“{character}” has no meaning here: put texts in quotes.", at, at + 1)
    wanted, token = _wanted(error), getattr(error, "token", None)
    if isinstance(error, UnexpectedEOF) or (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        end = len(text.rstrip())
        return FilterError(f"The filter ends too early: expected {wanted}.", end, end)
    assert isinstance(token, Token), "the parser names what it does not expect"
    start = token.start_pos or 0
    before = re.search(r"[\w.]+$", text[:start].rstrip())
    sentence = f"Expected {wanted} here, not '{_short(str(token))}'."
    accepts = _accepted(error)
    if before and token.type == "NAME" and "AND" in accepts and "COMPARE" not in accepts:
        words = re.findall(r"(?i)^[\w.]+(?:\s+(?!(?:and|or)\b)[\w.]+)*", text[before.start() :])[0]
        sentence += f' Put quotes around a value of several words: "{_short(words)}".'
    return FilterError(sentence, start, start + len(token))


def _accepted(error: UnexpectedInput) -> set[str]:
    return set(getattr(error, "accepts", None) or getattr(error, "expected", None) or ())


def _wanted(error: UnexpectedInput) -> str:
    accepts = _accepted(error)
    if "COMPARE" in accepts:
        return "a comparison (=, <, contains) or and/or"
    if accepts & {"NUMBER", "STRING"}:
        return 'a value (3, 40%, "text")'
    if "NAME" in accepts:
        return "a column name"
    if accepts >= {"COMMA"}:
        return "a comma or a closing bracket"
    if "LPAR" in accepts:
        return "a list in brackets"
    return "and/or or a closing bracket" if "RPAR" in accepts else "and/or"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


@dataclass(frozen=True)
class _Named:
    """A column with its name as written."""

    token: Token
    column: Column

    def error(self, sentence: str) -> FilterError:
        start = self.token.start_pos or 0
        return FilterError(sentence, start, start + len(self.token))


@v_args(inline=True)
class _Rows(Transformer[Token, np.ndarray]):
    """From the tree of a filter to its rows."""

    def __init__(self, columns: Mapping[str, Column], size: int) -> None:
        super().__init__()
        self._columns, self._size = columns, size
        self._names = {name.lower(): name for name in columns}

    def name(self, token: Token) -> _Named:
        column = self._column(token)
        if column is None:
            text = _bare(token)
            close = difflib.get_close_matches(text.lower(), self._names, n=1, cutoff=0.5)
            hint = (
                f"did you mean {quoted(self._names[close[0]])}?" if close else "“Columns” lists those that are there."
            )
            start = token.start_pos or 0
            raise FilterError(f"There is no column “{_short(text)}”: {hint}", start, start + len(token))
        return _Named(token, column)

    def _column(self, token: Token) -> Column | None:
        text = _bare(token)
        return self._columns.get(text, self._columns.get(self._names.get(text.lower(), "")))

    def either(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        rows: np.ndarray = one | other
        return rows

    def both(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        rows: np.ndarray = one & other
        return rows

    def opposite(self, rows: np.ndarray) -> np.ndarray:
        return ~rows

    def alone(self, named: _Named) -> np.ndarray:
        if named.column.kind != "yes":
            raise named.error(f"“{_bare(named.token)}” is not yes or no: compare it, as in {named.token} = …")
        rows: np.ndarray = named.column.values
        return rows

    def holds(self, named: _Named, value: Token) -> np.ndarray:
        part = _text(value).casefold()
        if named.column.kind == "set":
            inside = (any(part in item.casefold() for item in items) for items in named.column.values)
        elif named.column.kind == "text":
            inside = (part in text.casefold() for text in named.column.values)
        else:
            raise named.error(f"“{_bare(named.token)}” is no text: “contains” asks for one.")
        return np.fromiter(inside, dtype=bool, count=self._size)

    def among(self, named: _Named, *values: Token) -> np.ndarray:
        rows = np.zeros(self._size, dtype=bool)
        for value in values:
            rows |= self._equal(named, value)
        return rows

    def not_among(self, named: _Named, negation: Token, *values: Token) -> np.ndarray:
        rows: np.ndarray = ~self.among(named, *values)
        return rows

    def compare(self, named: _Named, sign: Token, value: Token) -> np.ndarray:
        if sign in _EQUAL:
            rows = self._equal(named, value)
            return ~rows if sign in ("!=", "<>") else rows
        other = self._other(value)
        if named.column.kind != "number" or (other is not None and other.kind != "number"):
            raise named.error(f"“{_bare(named.token)}” is no number on both sides: only = and != fit, or “contains”.")
        right = _number(value) if other is None else other.values
        with np.errstate(invalid="ignore"):
            rows_compared: np.ndarray = _OPERATORS[str(sign)](named.column.values, right)
        return rows_compared

    def _other(self, value: Token) -> Column | None:
        """The column that stands on the right, None for a value."""
        return self._column(value) if value.type in ("NAME", "QUOTED") else None

    def _equal(self, named: _Named, value: Token) -> np.ndarray:
        column, other = named.column, self._other(value)
        if other is not None and other.kind == column.kind and column.kind in ("number", "yes"):
            same: np.ndarray = column.values == other.values
            return same
        if other is not None and other.kind == column.kind == "text":
            pairs = zip(column.values, other.values, strict=True)
            return np.fromiter((a.casefold() == b.casefold() for a, b in pairs), bool, self._size)
        if column.kind == "number":
            equal: np.ndarray = column.values == _number(value)
            return equal
        if column.kind == "yes":
            answer = _text(value).casefold()
            if answer not in ("yes", "no", "true", "false", "1", "0"):
                raise named.error(f"“{_bare(named.token)}” is yes or no, not “{_short(_text(value))}”.")
            answered: np.ndarray = column.values == (answer in ("yes", "true", "1"))
            return answered
        wanted = _text(value).casefold()
        if column.kind == "set":
            return np.fromiter(
                (any(wanted == i.casefold() for i in items) for items in column.values), bool, self._size
            )
        return np.fromiter((wanted == text.casefold() for text in column.values), bool, self._size)


def _bare(token: Token) -> str:
    return str(token)[1:-1] if token.type == "QUOTED" else str(token)


def _text(token: Token) -> str:
    if token.type != "STRING":
        return _bare(token)
    out, escaped = "", False
    for character in str(token)[1:-1]:
        if character == "\\" and not escaped:
            escaped = True
        else:
            out, escaped = out + character, False
    return out


def _number(token: Token) -> float:
    text = _text(token)
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        start = token.start_pos or 0
        raise FilterError(
            f"“{_short(text)}” is no number: write one such as 3, 0.5 or 40%.", start, start + len(token)
        ) from None
