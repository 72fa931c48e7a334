"""The language of filters: which rows of a run are shown.

    gold = neutral and p > 90% and not right
    predicted != predicted2 and (second contains "not" or tag in ("wrong gold label", other))

A comparison has a column's name on its left (in backticks where it is not one word) and on its right a number, a word,
a text in quotes or another column; capitals do not matter in texts. A column of yes and no stands alone. It is read by
a grammar of its own: nothing of it reaches Python or pandas.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedToken, VisitError

from core.desk.columns import RunColumn
from core.errors import UserError

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
_ORDERS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
_ANSWERS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_EXPECTED = {
    "COMPARE": "a comparison (=, <, contains) or and/or",
    "NUMBER": 'a value (3, 40%, "text")',
    "NAME": "a column name",
    "COMMA": "a comma or a closing bracket",
    "LPAR": "a list in brackets",
    "RPAR": "and/or or a closing bracket",
}
"""What is called for in words, by the first of these terminals that may follow."""


class FilterError(UserError):
    """A filter that cannot be read; ``start`` and ``end`` are the characters that it is about."""

    def __init__(self, sentence: str, start: int, end: int) -> None:
        super().__init__(sentence)
        self.start, self.end = start, max(end, start + 1)


def _error(token: Token, sentence: str) -> FilterError:
    start = token.start_pos or 0
    return FilterError(sentence, start, start + len(token))


def rows_of(text: str, columns: Mapping[str, RunColumn]) -> np.ndarray:
    """Which rows the filter keeps, bool ``[N]``; all of them for an empty one. Raises FilterError."""
    if not text.strip():
        return np.ones(len(next(iter(columns.values())).values), dtype=bool)
    if len(text) > LONGEST:
        raise FilterError(f"The filter has {len(text):,} characters; it may have {LONGEST:,}.", LONGEST, len(text))
    try:
        rows: np.ndarray = _Rows(columns).transform(_parser().parse(text)).yes
        return rows
    except (UnexpectedCharacters, UnexpectedToken) as error:
        raise _misread(text, error) from None
    except VisitError as error:
        raise error.orig_exc from None
    except RecursionError:
        raise FilterError("The filter is nested too deep: take some brackets away.", 0, len(text)) from None


def quoted(name: str) -> str:
    """A column's name as filters write it."""
    plain = name.replace(".", "").isidentifier() and name.lower() not in ("and", "or", "not", "in", "contains")
    return name if plain else f"`{name}`"


def literal(value: str) -> str:
    """A text as filters write it."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


@functools.cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", lexer="contextual", maybe_placeholders=False)


def _misread(text: str, error: UnexpectedCharacters | UnexpectedToken) -> FilterError:
    """What is wrong where the grammar no longer follows."""
    if isinstance(error, UnexpectedCharacters):
        at = error.pos_in_stream or 0
        if text[at] in "\"'`":
            sentence = "A text or name in quotes begins here and does not end: close the quotes."
            return FilterError(sentence, at, len(text))
        return FilterError(f"“{text[at]}” has no meaning here: put texts in quotes.", at, at + 1)
    token, accepts = error.token, set(error.accepts)
    wanted = next((words for terminal, words in _EXPECTED.items() if terminal in accepts), "and/or")
    if token.type == "$END":
        end = len(text.rstrip())
        return FilterError(f"The filter ends too early: expected {wanted}.", end, end)
    sentence = f"Expected {wanted} here, not '{_short(str(token))}'."
    before = re.search(r"[\w.]+$", text[: token.start_pos].rstrip())
    if before and token.type == "NAME" and "AND" in accepts and "COMPARE" not in accepts:
        words = re.findall(r"(?i)^[\w.]+(?:\s+(?!(?:and|or)\b)[\w.]+)*", text[before.start() :])[0]
        sentence += f' Put quotes around a value of several words: "{_short(words)}".'
    return _error(token, sentence)


def _short(text: str) -> str:
    text = " ".join(text.split())  # the box has one line, an address may have more
    return text if len(text) <= 40 else text[:39] + "…"


class _Named(NamedTuple):
    """A column with its name as written."""

    token: Token
    column: RunColumn


class _Truth(NamedTuple):
    """The rows for which something holds and those for which it does not, bool ``[N]``; for all others that is unknown,
    as whether a row without a gold label is right (Kleene's logic, as SQL has it)."""

    yes: np.ndarray
    no: np.ndarray

    @classmethod
    def where(cls, rows: np.ndarray, *columns: RunColumn) -> _Truth:
        """It holds for these rows; it is unknown where a value of a column is."""
        known = np.ones(len(rows), dtype=bool)
        for column in columns:
            known &= ~np.isnan(column.values) if column.kind == "number" else True
            known &= True if column.known is None else column.known
        return cls(rows & known, ~rows & known)


@v_args(inline=True)
class _Rows(Transformer[Token, _Truth]):
    """From the tree of a filter to its rows."""

    def either(self, one: _Truth, other: _Truth) -> _Truth:
        return _Truth(one.yes | other.yes, one.no & other.no)

    def both(self, one: _Truth, other: _Truth) -> _Truth:
        return _Truth(one.yes & other.yes, one.no | other.no)

    def opposite(self, one: _Truth) -> _Truth:
        return _Truth(one.no, one.yes)

    def __init__(self, columns: Mapping[str, RunColumn]) -> None:
        super().__init__()
        self._columns = columns
        self._names = {name.lower(): name for name in columns}

    def name(self, token: Token) -> _Named:
        column = self._column(token)
        if column is None:
            text = _bare(token)
            close = difflib.get_close_matches(text.lower(), self._names, n=1, cutoff=0.5)
            hint = (
                f"did you mean {quoted(self._names[close[0]])}?" if close else "“Columns” lists those that are there."
            )
            raise _error(token, f"There is no column “{_short(text)}”: {hint}")
        return _Named(token, column)

    def _column(self, token: Token) -> RunColumn | None:
        text = _bare(token)
        return self._columns.get(text, self._columns.get(self._names.get(text.lower(), "")))

    def alone(self, named: _Named) -> _Truth:
        if named.column.kind != "yes":
            sentence = f"“{_bare(named.token)}” is not yes or no: compare it, as in {named.token} = …"
            raise _error(named.token, sentence)
        return _Truth.where(named.column.values, named.column)

    def holds(self, named: _Named, value: Token) -> _Truth:
        if named.column.kind not in ("set", "text"):
            raise _error(named.token, f"“{_bare(named.token)}” is no text: “contains” asks for one.")
        part = _text(value).casefold()
        return _Truth.where(_where(named.column, lambda text: part in text), named.column)

    def among(self, named: _Named, *values: Token) -> _Truth:
        return functools.reduce(self.either, (self._equal(named, value) for value in values))

    def not_among(self, named: _Named, negation: Token, *values: Token) -> _Truth:
        return self.opposite(self.among(named, *values))

    def compare(self, named: _Named, sign: Token, value: Token) -> _Truth:
        if sign not in _ORDERS:
            equal = self._equal(named, value)
            return self.opposite(equal) if sign in ("!=", "<>") else equal
        other = self._other(value)
        if named.column.kind != "number" or (other is not None and other.kind != "number"):
            sentence = f"“{_bare(named.token)}” is no number on both sides: only = and != fit, or “contains”."
            raise _error(named.token, sentence)
        rows = _ORDERS[sign](named.column.values, _number(value) if other is None else other.values)
        return _Truth.where(rows, named.column, *filter(None, [other]))

    def _other(self, value: Token) -> RunColumn | None:
        """The column that stands on the right, None for a value."""
        return self._column(value) if value.type in ("NAME", "QUOTED") else None

    def _equal(self, named: _Named, value: Token) -> _Truth:
        column, other, text = named.column, self._other(value), _text(value).casefold()
        rows, of = np.zeros(0, dtype=bool), [column]
        if other is not None and other.kind == column.kind == "text":
            of = [column, other]
            pairs = zip(column.values, other.values, strict=True)
            rows = np.array([one.casefold() == another.casefold() for one, another in pairs], dtype=bool)
        elif other is not None and other.kind == column.kind != "set":
            of, rows = [column, other], column.values == other.values
        elif column.kind == "number":
            rows = column.values == _number(value)
        elif column.kind == "yes":
            if text not in _ANSWERS:
                raise _error(named.token, f"“{_bare(named.token)}” is yes or no, not “{_short(_text(value))}”.")
            rows = column.values == _ANSWERS[text]
        else:
            # Whether a row has no gold label is known: gold = "".
            of, rows = [column] if text else [], _where(column, text.__eq__)
        return _Truth.where(rows, *of)


def _where(column: RunColumn, fits: Callable[[str], bool]) -> np.ndarray:
    """The rows with a text, of a set any one of them, that fits in small letters."""
    rows = column.values if column.kind == "set" else ((text,) for text in column.values)
    return np.array([any(fits(text.casefold()) for text in texts) for texts in rows], dtype=bool)


def _bare(token: Token) -> str:
    return str(token)[1:-1] if token.type == "QUOTED" else str(token)


def _text(token: Token) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token.type == "STRING" else _bare(token)


def _number(token: Token) -> float:
    text = _text(token)
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise _error(token, f"“{_short(text)}” is no number: write one such as 3, 0.5 or 40%.") from None
