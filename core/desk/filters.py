"""The language of filters: which rows of a run are shown.

    gold = neutral and A.p > 90 and not A.right
    A != B and (hypothesis contains "not" or tags in ("wrong gold label", other))

Names are those of the table's headings; those of earlier versions (``predicted``, ``right2``, ``second``) still work. A
comparison has a column's name on its left (in backticks where it is not one word) and on its right a number, a word, a
text in quotes or another column; capitals do not matter in texts. Boolean columns need no comparison, and of a
probability a number above 1 is in per cent. A filter is
compiled to an SQL condition (:mod:`core.desk.table`): column names become our own expressions, and all values are
parameters. Conditions on unknown values are unknown, as in SQL: a row without a gold label is neither right nor not.
"""

from __future__ import annotations

import difflib
import functools
import math
import re
from collections.abc import Mapping
from typing import NamedTuple

import duckdb
import numpy as np
from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedToken, VisitError

from core.desk.columns import RunColumn, find
from core.desk.table import Condition, RunTable
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
_ORDERS = ("<", "<=", ">", ">=")
_ANSWERS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_EXPECTED = {
    "COMPARE": "a comparison (=, <, contains) or and/or",
    "NUMBER": 'a value (3, 40%, "text")',
    "NAME": "a column name",
    "COMMA": "a comma or a closing bracket",
    "LPAR": "a list in brackets",
    "RPAR": "and/or or a closing bracket",
}
"""Descriptions of the terminals that may follow; the first of those that may is named."""


class FilterError(UserError):
    """A filter that cannot be read; ``start`` and ``end`` are the characters that it is about."""

    def __init__(self, sentence: str, start: int, end: int) -> None:
        super().__init__(sentence)
        self.start, self.end = start, max(end, start + 1)


def _error(token: Token, sentence: str) -> FilterError:
    start = token.start_pos or 0
    return FilterError(sentence, start, start + len(token))


def rows_of(text: str, table: RunTable) -> np.ndarray:
    """The rows that the filter keeps, bool ``[N]``; all of them for an empty one. Raises FilterError."""
    if not text.strip():
        return np.ones(table.rows, dtype=bool)
    condition = compiled(text, table.columns)
    try:
        return table.mask(condition.sql, condition.values)
    except duckdb.Error:  # such as too many levels of brackets
        raise FilterError("The filter is too complex: simplify it.", 0, len(text)) from None


def compiled(text: str, columns: Mapping[str, RunColumn]) -> Condition:
    """A filter as a condition on these columns. Raises FilterError."""
    if len(text) > LONGEST:
        raise FilterError(f"The filter has {len(text):,} characters; it may have {LONGEST:,}.", LONGEST, len(text))
    try:
        return _Compiler(columns).transform(_parser().parse(text))
    except (UnexpectedCharacters, UnexpectedToken) as error:
        raise _misread(text, error) from None
    except VisitError as error:
        raise error.orig_exc from None
    except RecursionError:
        raise FilterError("The filter is nested too deep: remove some brackets.", 0, len(text)) from None


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
    """The error message for input that does not match the grammar."""
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
        return FilterError(f"The filter is incomplete: expected {wanted}.", end, end)
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


@v_args(inline=True)
class _Compiler(Transformer[Token, Condition]):
    """Compiles a filter's parse tree to its condition."""

    def __init__(self, columns: Mapping[str, RunColumn]) -> None:
        super().__init__()
        self._columns = columns

    def either(self, left: Condition, right: Condition) -> Condition:
        return Condition(f"({left.sql} OR {right.sql})", left.values + right.values)

    def both(self, left: Condition, right: Condition) -> Condition:
        return Condition(f"({left.sql} AND {right.sql})", left.values + right.values)

    def opposite(self, condition: Condition) -> Condition:
        return Condition(f"(NOT {condition.sql})", condition.values)

    def name(self, token: Token) -> _Named:
        column = self._column(token)
        if column is None:
            names = {known.lower(): own for own, column in self._columns.items() for known in (column.alias, own)}
            close = difflib.get_close_matches(_bare(token).lower(), names, n=1, cutoff=0.5)
            hint = f"did you mean {quoted(names[close[0]])}?" if close else "see the list under “Columns”."
            raise _error(token, f"There is no column “{_short(_bare(token))}”: {hint}")
        return _Named(token, column)

    def _column(self, token: Token) -> RunColumn | None:
        name = find(_bare(token), self._columns)
        return None if name is None else self._columns[name]

    def alone(self, named: _Named) -> Condition:
        if named.column.kind != "yes":
            sentence = f"“{_bare(named.token)}” is not yes or no: compare it, as in {named.token} = …"
            raise _error(named.token, sentence)
        return Condition(named.column.sql)

    def holds(self, named: _Named, value: Token) -> Condition:
        part = (_storable(_text(value).casefold()),)
        if named.column.kind == "set":
            return Condition(f"(len(list_filter({named.column.folded}, lambda t: contains(t, ?))) > 0)", part)
        if named.column.kind != "text":
            raise _error(named.token, f"“{_bare(named.token)}” is not text, which “contains” needs.")
        return Condition(f"contains({named.column.folded}, ?)", part)

    def among(self, named: _Named, *values: Token) -> Condition:
        return functools.reduce(self.either, (self._equal(named, value) for value in values))

    def not_among(self, named: _Named, negation: Token, *values: Token) -> Condition:
        return self.opposite(self.among(named, *values))

    def compare(self, named: _Named, sign: Token, value: Token) -> Condition:
        if sign not in _ORDERS:
            equal = self._equal(named, value)
            return self.opposite(equal) if sign in ("!=", "<>") else equal
        other = self._other(value)
        if named.column.kind != "number" or (other is not None and other.kind != "number"):
            sentence = f"“{_bare(named.token)}” is not a number on both sides: use =, != or “contains”."
            raise _error(named.token, sentence)
        if other is not None:
            return Condition(f"({named.column.sql} {sign} {other.sql})")
        return Condition(f"({named.column.sql} {sign} ?)", (_number(value, named.column),))

    def _other(self, value: Token) -> RunColumn | None:
        """The column on the right, None for a value."""
        return self._column(value) if value.type in ("NAME", "QUOTED") else None

    def _equal(self, named: _Named, value: Token) -> Condition:
        column, other, text = named.column, self._other(value), _text(value).casefold()
        if other is not None and other.kind == column.kind == "text":
            return Condition(f"({column.folded} = {other.folded})")
        if other is not None and other.kind == column.kind != "set":
            return Condition(f"({column.sql} = {other.sql})")
        if column.kind == "number":
            return Condition(f"({column.sql} = ?)", (_number(value, column),))
        if column.kind == "yes":
            if text not in _ANSWERS:
                raise _error(named.token, f"“{_bare(named.token)}” is yes or no, not “{_short(_text(value))}”.")
            return Condition(f"({column.sql} = ?)", (_ANSWERS[text],))
        if column.kind == "set":
            return Condition(f"list_contains({column.folded}, ?)", (_storable(text),))
        # It is known whether a row has no gold label: gold = "".
        return Condition(f"({column.folded} = ?)" if text else f"(coalesce({column.sql}, '') = ?)", (_storable(text),))


def _storable(text: str) -> str:
    """The text without halves of characters, which no text of a run has."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _bare(token: Token) -> str:
    return str(token)[1:-1] if token.type == "QUOTED" else str(token)


def _text(token: Token) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token.type == "STRING" else _bare(token)


def _number(token: Token, column: RunColumn) -> float:
    """A number as a column has it: of shares, one above 1 is in per cent."""
    text = _text(token)
    try:
        number = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise _error(token, f"“{_short(text)}” is not a number; use, for example, 3, 0.5 or 40%.")
    return number / 100 if column.share and number > 1 and not text.endswith("%") else number
