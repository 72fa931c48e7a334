"""The rows of a run in DuckDB: texts from the run's Parquet files, joined with predictions and features.

Queries consist of predefined expressions; user input is passed as parameters. A connection cannot access files outside
the run's folder, has two threads, and uses up to 150 MB.
"""

from __future__ import annotations

import glob
import os
import re
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
from duckdb.func import PythonUDFType
from duckdb.sqltypes import VARCHAR

from core.data.layouts import EXPORTED
from core.desk.columns import CHECKED, DECIDED, LABEL, Cells, RunColumn, cells, facts, texts_of_row
from core.desk.features import feature_columns, features_of
from core.desk.file_state import FileState, RowState
from core.desk.run import LETTERS, OTHER_COLUMN, TEXT_COLUMNS, Run
from core.desk.run_folder import DATA
from core.desk.votes import distances

LONGEST_SECONDS = 10
"""Time limit of a filter or formula in seconds."""
MOST_VALUES = 20
"""A column with more distinct values makes no slices, and none of them is suggested."""
DEALT = "dealt"
"""The column of :func:`with_deal`."""
SEPARATOR = " | "
"""Separator between a row's tags, and between its notes, in exports; tag names never contain it."""
_OF_PEOPLE = ("tags", "annotators", "notes", "settled", CHECKED)
"""The columns of :func:`with_tags`, without the labels, and of labels to check."""
_OF_A_MODEL = re.compile(rf"[{LETTERS}](\..*)?")
"""The columns of a run's models (:func:`core.desk.run.column_of`)."""


class Condition(NamedTuple):
    """An SQL condition with a value for each of its parameters."""

    sql: str
    values: tuple[object, ...] = ()


@dataclass(frozen=True)
class RunTable:
    """The columns of a run by their names in filters, and the tables behind them."""

    rows: int
    columns: Mapping[str, RunColumn]
    connection: duckdb.DuckDBPyConnection
    tables: tuple[str, ...]
    """Tables with one row per row of the run, in order; in all of them, ``row`` is its index."""
    sparse: Mapping[str, pa.Table]
    """Tables with only the rows that have values, keyed by ``row``."""
    dense: Mapping[str, pa.Table] = field(default_factory=dict)
    """Like ``tables``, in memory."""

    def query(
        self, sql: str, values: Sequence[object] = (), seconds: float | None = None, **more: pa.Table
    ) -> pa.Table:
        """The result of a query over ``{rows}``, the joined tables; ``more``: additional tables it uses, of which
        ``picked`` selects rows and adds its columns. Raises duckdb.InterruptException if it takes longer than
        ``seconds``."""
        first, *others = (*self.tables, *self.dense)
        if "picked" in more:  # DuckDB skips most of the file, which it cannot in a positional join
            source = "".join(["picked", *(f" JOIN {name} USING (row)" for name in (first, *others))])
        else:
            source = "".join([first, *(f" POSITIONAL JOIN (SELECT * EXCLUDE (row) FROM {name})" for name in others)])
        source = f"(SELECT * FROM {source})"
        for name in self.sparse:
            source = f"({source} LEFT JOIN {name} USING (row))"
        with self.connection.cursor() as cursor:
            cursor.execute("USE packed")
            for name, table in {**self.sparse, **self.dense, **more}.items():
                cursor.register(name, table)
            timer = threading.Timer(seconds or threading.TIMEOUT_MAX, cursor.interrupt)
            if seconds is not None:
                timer.start()
            try:
                return cursor.sql(sql.format(rows=source), params=list(values)).to_arrow_table()
            finally:
                timer.cancel()

    def values(self, name: str) -> list[str]:
        """The distinct texts in a column with few of them; empty for other columns."""
        column = self.columns[name].sql
        sql = f"SELECT DISTINCT {column} FROM {{rows}} WHERE {column} IS NOT NULL LIMIT {MOST_VALUES + 1}"
        texts: list[str] = self.query(sql).column(0).to_pylist()
        return sorted(texts) if len(texts) <= MOST_VALUES else []

    def ordered(self, mask: np.ndarray, name: str, *, largest_first: bool) -> np.ndarray:
        """The indices of the rows in ``mask`` (bool ``[N]``) sorted by a column; ties keep the file's order, unknown
        values come last, and sets have no order."""
        column = self.columns[name]
        if column.kind == "set":
            return np.flatnonzero(mask)
        direction = "DESC" if largest_first else "ASC"
        sql = f"SELECT row FROM {{rows}} ORDER BY {column.sql} {direction} NULLS LAST, row"
        order: np.ndarray = self.query(sql).column("row").to_numpy()
        return order[mask[order]]

    def masks(
        self, conditions: Sequence[Condition], rows: np.ndarray | None = None, seconds: float | None = None
    ) -> pa.Table:
        """Whether each condition holds in each of these rows (by default all), in one pass: one boolean column per
        condition. ``seconds``: as for :meth:`query`."""
        what = ", ".join(f"coalesce({one.sql}, false) AS s{i}" for i, one in enumerate(conditions))
        values = [value for condition in conditions for value in condition.values]
        if rows is None:
            found = self.query(f"SELECT row, {what} FROM {{rows}}", values, seconds)
            places = found.column("row").to_numpy()
            # They are usually already sorted, which is faster to check than to have DuckDB sort them.
            return (found if (np.diff(places) > 0).all() else found.take(np.argsort(places))).drop_columns("row")
        return self.query(f"SELECT {what} FROM {{rows}} ORDER BY place", values, picked=picked(rows))

    def take(self, rows: np.ndarray, names: Sequence[str], spelled: bool = False) -> pa.Table:
        """The values of these columns in these rows, in order; ``spelled``: numbers of the file as it spells them."""
        columns = [self.columns[name] for name in names]
        what = ", ".join(f"{(spelled and one.spelled) or one.sql} AS v{i}" for i, one in enumerate(columns))
        found = self.query(f"SELECT {what} FROM {{rows}} ORDER BY place", picked=picked(rows))
        return found.rename_columns(list(names))

    def joined(self, name: str, rows: Sequence[int] | None, columns: Mapping[str, Cells]) -> RunTable:
        """The table with more columns, which have values only in ``rows`` (None: in all); ``name`` is a new SQL
        name."""
        values, known = _named(columns, name)
        table = pa.table({"row": pa.array(np.arange(self.rows) if rows is None else rows, pa.int64()), **values})
        if rows is None:
            return replace(self, columns={**self.columns, **known}, dense={**self.dense, name: table})
        for key, column in known.items():
            if column.kind in ("set", "text"):
                empty = "[]" if column.kind == "set" else "''"
                known[key] = replace(column, sql=f"coalesce({column.sql}, {empty})")
        return replace(self, columns={**self.columns, **known}, sparse={**self.sparse, name: table})


def open_table(run: Run, known: Callable[[str], bool] | None = None) -> RunTable:
    """The table of a run; the file's own columns come last, as ``file.NAME`` if a name is taken. ``known``: whether a
    word is in the vocabulary, by default the shared one."""
    connection = _connection()
    connection.execute("SET allowed_directories = $folders", {"folders": [str(run.folder)]})
    connection.read_parquet(glob.escape(str(run.folder / DATA)), file_row_number=True).create_view("stored")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    others = run.rows.other_columns()
    aliases = [*TEXT_COLUMNS, *(f"c{i}" for i in range(len(others))), "row"]
    names = ", ".join(f"d_{name}" if name in TEXT_COLUMNS else name for name in aliases)
    connection.execute(f"CREATE VIEW data AS SELECT * FROM stored AS stored({names})")
    features = features_of(run, known)
    asking = "SELECT avg(CAST(regexp_matches(d_first, '\\?\\s*$') AS INT)) > 0.5 FROM data"
    asks = connection.sql(asking).fetchall()[0][0]
    arrays, columns = _named(facts(run) | feature_columns(run, features, asks), "f")
    columns = {"id": columns.pop("id"), **texts_of_row(run), **columns}
    arrays["judged"] = pa.array(run.judged)
    columns |= distances(run, columns)
    taken = {*columns, *_OF_PEOPLE}
    exported = run.dataset.layout == EXPORTED
    for i, name in enumerate(others):
        if exported and (name in taken or _OF_A_MODEL.fullmatch(name)):
            continue  # computed by the desk, which computes it again
        own = name.replace("`", "'")  # filters write names in backticks
        while own in taken or own.startswith(LABEL):
            own = f"file.{own}"
        taken.add(own)
        numbers, text = features.get(OTHER_COLUMN + name), f"coalesce(c{i}, '')"
        column = RunColumn("text" if numbers is None else "number", "a column of the file", own)
        columns[own] = replace(column, sql=text if numbers is None else f"n{i}", spelled=text)
        if numbers is not None:
            arrays[f"n{i}"] = numbers
    _store_facts(connection, arrays)
    return RunTable(len(run.dataset.rows), columns, connection, ("data", "facts"), {})


def with_tags(table: RunTable, run: Run, state: FileState) -> RunTable:
    """The table with the annotators' tags, notes and labels."""
    said = {place: state.rows[key] for key, place in run.places(state.rows).items()}
    tags = [sorted(row.tags_that_hold()) for row in said.values()]
    looked = [sorted(row.reviewers) for row in said.values()]
    notes = [SEPARATOR.join(f"{by}: {text}" for by, text in row.notes.items()) for row in said.values()]
    columns = {
        "tags": cells(tags, "set", "tags of the row", dimension="tag"),
        "annotators": cells(looked, "set", "annotators who reviewed the row"),
        "notes": cells(notes, "text", "all notes on the row"),
        "settled": cells(
            [sorted(row.decisions()) for row in said.values()], "set", "decisions about tags that annotators dispute"
        ),
        **_labels([*said.values()]),
    }
    if state.hands and DEALT not in table.columns:
        table = with_deal(table, run, state)
    return table.joined("people", list(said), columns)


def with_deal(table: RunTable, run: Run, state: FileState) -> RunTable:
    """The table with the annotators to whom each row is assigned, if rows are assigned."""
    if state.hands:
        hands = [(), *state.hands]
        dealt = cells(
            [hands[hand + 1] for hand in state.dealt(run.draws)], "set", "annotators to whom the row is dealt"
        )
        return table.joined("hands", None, {DEALT: dealt})
    return table


def _labels(rows: Sequence[RowState]) -> dict[str, Cells]:
    """The columns of the labels that people gave to these rows, if they gave any."""
    people = sorted({name for row in rows for name in row.labels})
    if not people and all(row.decision is None for row in rows):
        return {}
    columns = {}
    for name in people:
        own = [row.labels.get(name, "") for row in rows]
        spelled = name.replace("`", "'")  # filters write names in backticks
        if spelled.casefold() in ("decided", "votes"):
            spelled += "'"
        columns[LABEL + spelled] = cells(own, "text", f"label by {name}")
    decided = [row.decided.label if row.decided else "" for row in rows]
    columns[DECIDED] = cells(decided, "text", "label decided on, or given by all who labelled the row")
    votes = [", ".join(f"{label}: {count}" for label, count in sorted(row.votes.items())) for row in rows]
    columns[LABEL + "votes"] = cells(votes, "text", "how many annotators gave each label")
    return columns


def picked(rows: np.ndarray) -> pa.Table:
    """These rows for a query (:meth:`RunTable.query`), with their ``place`` in this order."""
    return pa.table({"row": rows.astype(np.int64), "place": np.arange(len(rows))})


def _store_facts(connection: duckdb.DuckDBPyConnection, arrays: Mapping[str, pa.Array]) -> None:
    table = pa.table(dict(arrays))
    connection.register("given", table.append_column("row", pa.array(np.arange(table.num_rows))))
    connection.execute("CREATE TABLE facts AS SELECT * FROM given")
    connection.unregister("given")
    connection.execute("CHECKPOINT packed")


def _connection() -> duckdb.DuckDBPyConnection:
    """An empty in-memory database, compressed to a fifth, with the function ``fold``, Python's casefold."""
    connection = duckdb.connect(config={"threads": 2, "memory_limit": "150MB"})
    # DuckDB may read anything in its folder for temporary files, so the folder is not shared.
    folder = Path(tempfile.gettempdir(), f"pairlens-duckdb-{os.getpid()}")
    connection.execute("SET temp_directory = ?", [str(folder)])
    connection.execute("ATTACH ':memory:' AS packed (COMPRESS)")
    connection.execute("USE packed")
    connection.create_function("casefold", _casefold, [VARCHAR], VARCHAR, type=PythonUDFType.ARROW)
    connection.execute("CREATE MACRO fold(x) AS CASE WHEN strlen(x) = length(x) THEN lower(x) ELSE casefold(x) END")
    return connection


def _casefold(texts: pa.ChunkedArray) -> pa.Array:
    return pa.array([None if text is None else text.casefold() for text in texts.to_pylist()], pa.string())


def _named(columns: Mapping[str, Cells], prefix: str) -> tuple[dict[str, pa.Array], dict[str, RunColumn]]:
    """Arrays under generated names, and the columns that read them."""
    arrays, known = dict[str, pa.Array](), dict[str, RunColumn]()
    for i, (name, (column, values)) in enumerate(columns.items()):
        sql = f"{prefix}_{i}"
        arrays[sql], known[name] = values, replace(column, sql=sql)
    return arrays, known
