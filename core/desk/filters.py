"""The filter language, which selects the rows of a run to show.

    gold = neutral and A.p > 90 and not A.right
    A != B and (hypothesis has word "not" or tags in ("wrong gold label", other))
    hypothesis has lemma "be" and premise matches /\\d+ (men|women)/
    hypothesis.words - premise.words > 5

Columns are named as in the table's headings. A comparison has a column's name on one side (in backticks if it is not a
single word), and a number, a word, a quoted text or another column on the other; arithmetic is allowed. Case does not
matter in texts. Boolean columns need no comparison, and for probabilities a number above 1 is a percentage. A filter is
parsed, never evaluated: it is compiled to an SQL condition (:mod:`core.desk.table`) in which column names are replaced
by predefined expressions, and all values are parameters. Conditions on unknown values are unknown, as in SQL: an
unlabelled row is neither right nor wrong.
"""

from __future__ import annotations

import difflib
import functools
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import duckdb
import numpy as np
from lark import Lark, Token, Transformer, Tree, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedToken, VisitError

from core.data.labels import is_number
from core.desk.columns import SLICE, RunColumn, find
from core.desk.table import LONGEST_SECONDS, Condition, RunTable
from core.errors import UserError
from core.linguistics.forms import forms_of, pattern_of

LONGEST = 2000
"""Length limit of a filter in characters."""
LONGEST_PATTERN = 200
"""Length limit of a regular expression in characters."""

_GRAMMAR = r"""
?start: either
?either: both | either "or"i both      -> either
?both: single | both "and"i single     -> both
?single: compared | "not"i single      -> opposite
?compared: sum
    | sum COMPARE sum                            -> compare
    | sum "in"i "(" sum ("," sum)* ")"           -> among
    | sum NOT "in"i "(" sum ("," sum)* ")"       -> not_among
    | sum "contains"i sum                        -> holds
    | sum "has"i "word"i sum                     -> has_word
    | sum "has"i "lemma"i sum                    -> has_lemma
    | sum "matches"i REGEX                       -> matches
?sum: product | sum SIGN product       -> computed
?product: atom | product POINT atom    -> computed
?atom: NUMBER -> value
    | STRING -> value
    | NAME -> name
    | QUOTED -> name
    | NAME "(" either ")" -> call
    | "(" either ")"
NOT: "not"i
COMPARE: "!=" | "<>" | "<=" | ">=" | "==" | "=" | "<" | ">"
SIGN: "+" | "-"
POINT: "*" | "/"
NAME: /[^\W\d][\w.]*/i
QUOTED: /`[^`]+`/
NUMBER: /-?\d+(\.\d+)?%?/
STRING: /"(\\.|[^"\\])*"|'(\\.|[^'\\])*'/
REGEX: /\/(\\.|[^\/\\])+\//
%import common.WS
%ignore WS
"""
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ANSWERS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_EXPECTED = {
    "COMPARE": "a comparison (=, <, contains) or and/or",
    "REGEX": "a regular expression between slashes, such as /^an? /",
    "WORD": "“word” or “lemma”",
    "NUMBER": 'a value (3, 40%, "text")',
    "NAME": "a column name",
    "COMMA": "a comma or a closing bracket",
    "RPAR": "and/or or a closing bracket",
    "AND": "and/or",
    "LPAR": "a list in brackets",
}
"""Descriptions of the terminals that may follow; messages name the first that applies."""
_KEYWORDS = ("and", "or", "not", "in", "contains", "has", "matches")


class FilterError(UserError):
    """The filter cannot be parsed; ``start`` and ``end`` delimit the relevant characters."""

    def __init__(self, sentence: str, start: int, end: int) -> None:
        super().__init__(sentence)
        self.start, self.end = start, max(end, start + 1)


def _error(token: Token, sentence: str) -> FilterError:
    start = token.start_pos or 0
    return FilterError(sentence, start, start + len(token))


def rows_of(text: str, table: RunTable) -> np.ndarray:
    """The rows selected by the filter, bool ``[N]``; all rows for an empty filter. Raises FilterError."""
    if not text.strip():
        return np.ones(table.rows, dtype=bool)
    condition = compiled(text, table.columns)
    with one_sentence(text):
        mask: np.ndarray = table.masks([condition], seconds=LONGEST_SECONDS).column(0).to_numpy()
        return mask


def fits(text: str, table: RunTable) -> bool:
    """Whether the filter can be computed with the table's columns."""
    try:
        return not text.strip() or bool(compiled(text, table.columns))
    except FilterError:
        return False


@contextmanager
def one_sentence(text: str) -> Iterator[None]:
    """Turns DuckDB's errors about a filter or formula into a FilterError for the whole text."""
    try:
        yield
    except duckdb.InterruptException:
        sentence = f"The filter takes longer than {LONGEST_SECONDS} seconds: use a simpler regular expression."
        raise FilterError(sentence, 0, len(text)) from None
    except duckdb.InvalidInputException as error:
        why = short(str(error).partition("Error: ")[2])
        sentence = f"The regular expression has a mistake or is too large ({why}): write a simpler one."
        raise FilterError(sentence, 0, len(text)) from None
    except duckdb.Error:  # such as too many levels of brackets
        raise FilterError("The filter is too complex: simplify it.", 0, len(text)) from None


class Value(NamedTuple):
    """A column, a computed number, a condition (of kind "yes"), or a literal value, which has no ``column``."""

    token: Token
    """Its position, for messages."""
    column: RunColumn | None = None
    values: tuple[object, ...] = ()
    """Parameters of the column's SQL."""


def compiled(text: str, columns: Mapping[str, RunColumn]) -> Condition:
    """A filter compiled to a condition on these columns. Raises FilterError."""
    compiler = Compiler(columns)
    return compiler.condition_of(compiler.value_of(parsed(text)))


def parsed(text: str) -> Tree[Token]:
    """The parse tree of a filter or formula. Raises FilterError."""
    if len(text) > LONGEST:
        raise FilterError(f"The filter has {len(text):,} characters; it may have {LONGEST:,}.", LONGEST, len(text))
    try:
        return _parser().parse(text)
    except (UnexpectedCharacters, UnexpectedToken) as error:
        raise _misread(text, error) from None


def quoted(name: str) -> str:
    """A column's name as written in filters."""
    plain = name.replace(".", "").isidentifier() and name.lower() not in _KEYWORDS
    return name if plain else f"`{name}`"


def narrowed(one: str, other: str) -> str:
    """The filter for the rows that fulfil both filters, each of which may be empty."""
    parts = [part for part in dict.fromkeys((one.strip(), other.strip())) if part]
    return parts[0] if len(parts) == 1 else " and ".join(f"({part})" for part in parts)


def literal(value: str) -> str:
    """A text as written in filters."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


@functools.cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", lexer="contextual", maybe_placeholders=False, propagate_positions=True)


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
    sentence = f"Expected {wanted} here, not '{short(str(token))}'."
    before = re.search(r"[\w.]+$", text[: token.start_pos].rstrip())
    if before and token.type == "NAME" and "AND" in accepts and "COMPARE" not in accepts:
        words = re.findall(r"(?i)^[\w.]+(?:\s+(?!(?:and|or)\b)[\w.]+)*", text[before.start() :])[0]
        sentence += f' Put quotes around a value of several words: "{short(words)}".'
    return _error(token, sentence)


def short(text: str, most: int = 40) -> str:
    """The text on one line, as in the text box and in a URL, with at most ``most`` characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


@v_args(inline=True)
class Compiler(Transformer[Token, Value]):
    """Compiles a parse tree, and records what :mod:`core.desk.remarks` needs to comment on its result."""

    def __init__(self, columns: Mapping[str, RunColumn]) -> None:
        super().__init__()
        self._columns = columns
        self.equalities = list[tuple[str, str]]()
        """Names of text columns, each with a text it is compared with."""
        self.names = set[str]()
        """The columns it reads."""
        self.divisors = list[tuple[str, Condition]]()
        """Names of divisors, each with its SQL expression."""

    def value_of(self, tree: Tree[Token]) -> Value:
        """The value of a tree. Raises FilterError."""
        try:
            value: Value = self.transform(tree)
        except VisitError as error:
            raise error.orig_exc from None
        except RecursionError:
            raise FilterError("The filter is nested too deep: remove some brackets.", 0, tree.meta.end_pos) from None
        return value

    def condition_of(self, value: Value) -> Condition:
        """A boolean value as a condition. Raises FilterError for others."""
        column, token = self._known(value), value.token
        if column.kind != "yes":
            raise _error(token, f"“{short(_bare(token))}” is not yes or no: compare it, as in {token} = …")
        return Condition(column.sql, value.values)

    def _known(self, value: Value) -> RunColumn:
        """The column of a value. Raises FilterError for a literal text or number."""
        token = value.token
        if value.column is not None:
            return value.column
        if token.type not in ("NAME", "QUOTED"):
            raise _error(token, f"Expected a column name here, not {short(token)}.")
        name = _bare(token).lower()
        kind, prefix = ("saved slice", SLICE) if name.startswith(SLICE) else ("column", "")
        names = {
            own.lower().removeprefix(prefix): own for own in self._columns if own.startswith(SLICE) == bool(prefix)
        }
        close = difflib.get_close_matches(name.removeprefix(prefix), names, n=1, cutoff=0.5)
        where = "“Slices”" if prefix else "“Columns”"
        hint = f"did you mean {quoted(names[close[0]])}?" if close else f"see the list under {where}."
        raise _error(token, f"There is no {kind} “{short(_bare(token)[len(prefix) :])}”: {hint}")

    def value(self, token: Token) -> Value:
        return Value(token)

    def name(self, token: Token) -> Value:
        name = find(_bare(token), self._columns)
        if name is not None:
            self.names.add(name)
        return Value(token, None if name is None else self._columns[name])

    def call(self, token: Token, value: Value) -> Value:
        if token.lower() == "len":
            text = self._text_column(value, "len")
            return Value(token, RunColumn("number", sql=f"CAST(length({text.sql}) AS DOUBLE)"), value.values)
        if token.lower() == "abs":
            number = self._number(value)
            return Value(token, RunColumn("number", sql=f"abs({number.sql})"), number.values)
        raise _error(token, f"There is no function “{short(token)}”: use len (characters of a text) or abs.")

    def computed(self, left: Value, sign: Token, right: Value) -> Value:
        shares = [value.column is not None and value.column.share for value in (left, right)]
        one, other = self._number(left), self._number(right)
        sql = f"({one.sql} {sign} {other.sql})"
        if sign == "/":
            if right.column is None and other.values == (0.0,):
                raise _error(right.token, "A number cannot be divided by 0: divide by another number.")
            named = any(right.column is column for column in self._columns.values())
            self.divisors.append((f"“{short(right.token)}”" if named else "A divisor", other))
            sql = f"({one.sql} / nullif({other.sql}, 0))"
        share = all(shares) and sign in ("+", "-")
        return Value(left.token, RunColumn("number", share=share, sql=sql), one.values + other.values)

    def _number(self, value: Value) -> Condition:
        """A number in SQL; true is 1. Raises FilterError for other values."""
        if value.column is None and value.token.type != "NAME":
            return _literal(value.token, share=False)
        column = _graded(self._known(value))
        if column.kind not in ("number", "yes"):
            raise _error(value.token, f"“{short(_bare(value.token))}” is not a number: use a column of numbers.")
        return Condition(f"CAST({column.sql} AS DOUBLE)" if column.kind == "yes" else column.sql, value.values)

    def _text_column(self, value: Value, what: str) -> RunColumn:
        column = self._known(value)
        if column.kind != "text":
            raise _error(value.token, f"“{short(_bare(value.token))}” is not text, which “{what}” needs.")
        return column

    def either(self, left: Value, right: Value) -> Value:
        return self._joined(left, "OR", right)

    def both(self, left: Value, right: Value) -> Value:
        return self._joined(left, "AND", right)

    def _joined(self, left: Value, word: str, right: Value) -> Value:
        one, other = self.condition_of(left), self.condition_of(right)
        return _condition(left.token, f"({one.sql} {word} {other.sql})", one.values + other.values)

    def opposite(self, value: Value) -> Value:
        return _condition(value.token, f"(NOT {self.condition_of(value).sql})", value.values)

    def holds(self, value: Value, part: Value) -> Value:
        wanted = (_storable(_text(part.token).casefold()),)
        if value.column is not None and value.column.kind == "set":
            sql = f"(len(list_filter({value.column.folded}, lambda t: contains(t, ?))) > 0)"
            return _condition(value.token, sql, wanted)
        column = self._text_column(value, "contains")
        return _condition(value.token, f"contains({column.folded}, ?)", wanted)

    def has_word(self, value: Value, word: Value) -> Value:
        return self._finds(value, "has word", pattern_of([_text(word.token)]))

    def has_lemma(self, value: Value, word: Value) -> Value:
        return self._finds(value, "has lemma", pattern_of(forms_of(_text(word.token))))

    def _finds(self, value: Value, what: str, pattern: str) -> Value:
        column = self._text_column(value, what)
        # Case-insensitive matching is faster than matching the folded text.
        return _condition(value.token, f"regexp_matches({column.sql}, ?, 'i')", (_storable(pattern),))

    def matches(self, value: Value, pattern: Token) -> Value:
        column, wanted = self._text_column(value, "matches"), re.sub(r"\\/", "/", pattern[1:-1])
        if len(wanted) > LONGEST_PATTERN:
            sentence = f"The regular expression has {len(wanted)} characters; it may have {LONGEST_PATTERN}."
            raise _error(pattern, sentence)
        return _condition(value.token, f"regexp_matches({column.sql}, ?, 'i')", (_storable(wanted),))

    def among(self, value: Value, *wanted: Value) -> Value:
        return functools.reduce(self.either, (self._equal(value, one) for one in wanted))

    def not_among(self, value: Value, negation: Token, *wanted: Value) -> Value:
        return self.opposite(self.among(value, *wanted))

    def compare(self, left: Value, sign: Token, right: Value) -> Value:
        if left.column is None and right.column is not None and left.token.type in ("NUMBER", "STRING"):
            left, right, sign = right, left, sign.update(value=_MIRRORED.get(sign, sign))
        if sign not in _MIRRORED:
            equal = self._equal(left, right)
            return self.opposite(equal) if sign in ("!=", "<>") else equal
        column, other = _graded(self._known(left)), right.column and _graded(right.column)
        if column.kind != "number" or (other is not None and other.kind != "number"):
            sentence = f"“{short(_bare(left.token))}” is not a number on both sides: use =, != or “contains”."
            raise _error(left.token, sentence)
        bound = self._number(right) if other is not None else _literal(right.token, column.share)
        return _condition(left.token, f"({column.sql} {sign} {bound.sql})", left.values + bound.values)

    def _equal(self, left: Value, right: Value) -> Value:
        column, other, text = self._known(left), right.column, _text(right.token).casefold()
        both = left.values + right.values
        if other is not None and other.kind == column.kind == "text":
            return _condition(left.token, f"({column.folded} = {other.folded})")
        if other is not None and other.kind == column.kind != "set":
            return _condition(left.token, f"({column.sql} = {other.sql})", both)
        if column.grades and other is None and is_number(text):
            column = _graded(column)
        if column.kind == "number":
            bound = _literal(right.token, column.share)
            return _condition(left.token, f"({column.sql} = {bound.sql})", left.values + bound.values)
        if column.kind == "yes":
            if text not in _ANSWERS:
                name = short(_bare(left.token))
                raise _error(left.token, f"“{name}” is yes or no, not “{short(_text(right.token))}”.")
            return _condition(left.token, f"({column.sql} = ?)", (*left.values, _ANSWERS[text]))
        if column.kind == "set":
            if not text:  # no tag, annotator, ...: tags != "" keeps the tagged rows
                return _condition(left.token, f"(len({column.sql}) = 0)")
            return _condition(left.token, f"list_contains({column.folded}, ?)", (_storable(text),))
        if text:
            self.equalities.append((_bare(left.token), _text(right.token)))
        # Whether a row lacks a gold label is known: gold = "".
        sql = f"({column.folded} = ?)" if text else f"(coalesce({column.sql}, '') = ?)"
        return _condition(left.token, sql, (_storable(text),))


def _graded(column: RunColumn) -> RunColumn:
    """A column of grades as numbers; any other column unchanged."""
    return replace(column, kind="number", sql=f"TRY_CAST({column.sql} AS DOUBLE)") if column.grades else column


def _condition(token: Token, sql: str, values: tuple[object, ...] = ()) -> Value:
    return Value(token, RunColumn("yes", sql=sql), values)


def _storable(text: str) -> str:
    """The text without unpaired surrogates, which no text in a run contains."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _bare(token: Token) -> str:
    return str(token)[1:-1] if token.type == "QUOTED" else str(token)


def _text(token: Token) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token.type == "STRING" else _bare(token)


def _literal(token: Token, share: bool) -> Condition:
    """A number as stored in a column: for shares, a number above 1 is a percentage."""
    text = _text(token)
    try:
        number = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise _error(token, f"“{short(text)}” is not a number; use, for example, 3, 0.5 or 40%.")
    if share and number > 1 and not text.endswith("%"):
        number /= 100
    return Condition("CAST(? AS DOUBLE)", (number,))
