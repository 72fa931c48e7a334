"""User-defined columns computed from others, one per line: ``gap = len(hypothesis) - len(premise)``."""

from __future__ import annotations

import itertools

import pyarrow as pa

from core.desk.columns import Cells, RunColumn, find
from core.desk.filters import Compiler, FilterError, one_sentence, parsed, quoted, short
from core.desk.remarks import divisions
from core.desk.table import LONGEST_SECONDS, RunTable

MOST_COLUMNS = 10
_TYPES = {"number": pa.float64(), "yes": pa.bool_()}


def with_formulas(table: RunTable, text: str) -> tuple[RunTable, list[str]]:
    """The table with one more column per line of the text (a line may use earlier ones), and sentences about invalid
    lines and divisions by 0."""
    sentences = list[str]()
    for number, line in enumerate(filter(str.strip, text.splitlines())):
        name, _, formula = map(str.strip, line.partition("="))
        try:
            if number == MOST_COLUMNS:
                sentences.append(f"Only the first {MOST_COLUMNS} columns are computed: remove some.")
                break
            table, notes = _with_formula(table, name, formula, number)
            sentences += [f"{name}: {note}" for note in notes]
        except FilterError as error:
            sentences.append(f"Column “{short(line.strip())}” is left out. {error}")
    return table, sentences


def _with_formula(table: RunTable, name: str, formula: str, number: int) -> tuple[RunTable, list[str]]:
    """The table with one more column, and sentences about divisions by 0. Raises FilterError."""
    if not formula or quoted(name) != name:
        raise FilterError("Write a name of one word, =, and a formula: gap = len(hypothesis) - len(premise).", 0, 1)
    if find(name, table.columns):
        raise FilterError(f"There is a column “{name}”: choose another name.", 0, 1)
    compiler = Compiler(table.columns)
    value = compiler.value_of(parsed(formula))
    column = value.column
    if column is None or column.kind not in _TYPES:
        raise FilterError("A formula computes a number, or yes or no, from other columns.", 0, 1)
    with one_sentence(formula):
        sql = f"SELECT {column.sql} FROM {{rows}} ORDER BY row"
        found = table.query(sql, value.values, seconds=LONGEST_SECONDS).column(0).combine_chunks()
    read = (table.columns[each].computed_from or {each} for each in compiler.names)
    own = RunColumn(
        column.kind, short(formula, 80), name, share=column.share, computed_from=frozenset(itertools.chain(*read))
    )
    cells = {name: Cells(own, found.cast(_TYPES[column.kind]))}
    return table.joined(f"own{number}", None, cells), [*divisions(table, compiler.divisors)]
