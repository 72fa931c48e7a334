"""Notes on a filter's result: misspelled values, divisions by 0, and the condition that excludes all rows.

A valid filter is never rejected for these: a saved link may be opened on another file.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from lark import Token, Tree

from core.desk.columns import find
from core.desk.filters import Compiler, parsed, short
from core.desk.table import Condition, RunTable
from core.wording import counted

MOST_CONDITIONS = 20
"""Maximum number of conditions counted separately if a filter leaves no row."""


def remarks(text: str, table: RunTable, kept: int) -> list[str]:
    """Sentences about the result of a valid filter that keeps ``kept`` rows."""
    if not text.strip():
        return []
    tree, compiler = parsed(text), Compiler(table.columns)
    compiler.value_of(tree)
    unknown = [sentence for name, value in compiler.equalities if (sentence := _unknown(table, name, value))]
    return [*unknown, *divisions(table, compiler.divisors), *([] if kept else _emptied(text, tree, table))]


def divisions(table: RunTable, divisors: Sequence[tuple[str, Condition]]) -> Iterator[str]:
    """A sentence about each divisor that is 0 in some rows."""
    for name, number in divisors:
        (zeros,) = _counts(table, [Condition(f"({number.sql} = 0)", number.values)])
        if zeros:
            yield f"{name} is 0 in {counted(zeros, 'row')}: a division by it has no value there."


def _unknown(table: RunTable, written: str, value: str) -> str:
    """A sentence about a value that occurs in no row of a column with few values; empty for others."""
    name = find(written, table.columns) or written
    known = {each.casefold(): each for each in table.values(name)}
    if not known or value.casefold() in known:
        return ""
    close = difflib.get_close_matches(value.casefold(), known, n=1)
    hint = f"did you mean {known[close[0]]}?" if close else f"its values are {', '.join(known.values())}."
    return f"No row has “{short(value)}” as {name}: {hint}"


def _emptied(text: str, tree: Tree[Token], table: RunTable) -> Iterator[str]:
    """The first condition joined by “and” that leaves no row."""
    parts = list(_conjuncts(tree))
    if not 1 < len(parts) <= MOST_CONDITIONS:
        return
    compiler = Compiler(table.columns)
    conditions = [compiler.condition_of(compiler.value_of(part)) for part in parts]
    alone = counts = _counts(table, conditions)
    if 0 not in alone:
        counts = _counts(table, [_all(conditions[: place + 1]) for place in range(len(parts))])
    place = counts.index(0)
    (without,) = _counts(table, [_all([*conditions[:place], *conditions[place + 1 :]])])
    written = short(text[parts[place].meta.start_pos : parts[place].meta.end_pos], 80)
    left = f"without it, {counted(without, 'row')} would be left"
    if 0 in alone:
        yield f"No row has “{written}”; {left}."
    else:
        before = counted(counts[place - 1], "row")
        yield f"“{written}” rules out the {before} that the conditions before it keep; {left}."


def _conjuncts(tree: Tree[Token]) -> Iterator[Tree[Token]]:
    """The conditions joined by “and”."""
    if tree.data == "both":
        for child in tree.children:
            assert isinstance(child, Tree)
            yield from _conjuncts(child)
    else:
        yield tree


def _all(conditions: Sequence[Condition]) -> Condition:
    return Condition(" AND ".join(one.sql for one in conditions), tuple(v for one in conditions for v in one.values))


def _counts(table: RunTable, conditions: Sequence[Condition]) -> list[int]:
    """Number of rows for which each condition holds."""
    counts = ", ".join(f"count(*) FILTER ({condition.sql})" for condition in conditions)
    values = [value for condition in conditions for value in condition.values]
    return [column[0].as_py() for column in table.query(f"SELECT {counts} FROM {{rows}}", values).columns]
