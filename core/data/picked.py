"""Tables and JSON lines whose columns the user picks: first text, second text and label.

    read(path, columns=Picked("claim", "evidence", "label"))
    read(path, columns=Picked("1", "2", "3"))   # a table without a header, by number

For files whose layout :mod:`core.data` does not know, or would read differently.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from core.data.dataset import DataError
from core.data.layouts import ColumnLayout, is_known, is_sentence, nested, plain, reader_of, value_at
from core.data.lines import Line, objects
from core.data.reader import RowReader
from core.data.table import guessed

NAME = "picked columns"
_PAIR, _TEXT = ColumnLayout(NAME, (("first", "second"),)), ColumnLayout(NAME, (("first",),))
_NO_LABEL = "no column is picked as the label; add it, as in --columns premise=…,hypothesis=…,label=NAME"
_FEWEST_ROWS, _WORDS_OF_TEXT = 5, 3.0
"""Rows needed for a guess, and the mean number of words of a column of texts."""
_WORDS_OF_NAME = 6
"""Maximum number of words of a class."""
_SAMPLED = 100
"""Further rows that a guess reads."""
_IDENTIFIER = re.compile(r"\S*\d\S*")
"""Not a class: of many classes, the first rows may have each only once."""
_SHOWN = 20
"""Maximum number of column names in a message."""


PARTS = {
    **dict.fromkeys(("premise", "first", "sentence1", "question", "text"), "first"),
    **dict.fromkeys(("hypothesis", "second", "sentence2", "answer"), "second"),
    **{part: part for part in ("label", "id", "group")},
}
"""The fields of :class:`Picked` by the names of the parts in --columns and recipes."""


@dataclass(frozen=True)
class Picked:
    """A file's columns by name, or by number from 1 if it has no header; empty for missing parts. Without ``second``
    rows are single texts. Nested JSON values have dotted names, such as ``example.premise``."""

    first: str
    second: str = ""
    label: str = ""
    id: str = ""
    group: str = ""
    header: bool | None = None
    """Whether the first line of a table is a header; None: yes, unless columns are given by number."""

    @classmethod
    def of(cls, parts: Mapping[str, str], header: bool | None = None) -> Picked:
        """Create from ``{part of a row: column name}``."""
        first, second, label, id, group = (parts.get(part, "") for part in ("first", "second", "label", "id", "group"))
        return cls(first, second, label, id, group, header)

    @property
    def parts(self) -> dict[str, str]:
        """The picked columns by the part of a row."""
        return {part: name for part, name in asdict(self).items() if part != "header" and name}

    def checksum(self, sha256: str) -> str:
        """The checksum of a file read with these columns: the same file read differently is another data set."""
        told = {part: name for part, name in asdict(self).items() if part != "header" or name is False}
        return hashlib.sha256(f"{sha256} {json.dumps(told)}".encode()).hexdigest()


@dataclass(frozen=True)
class Seen:
    """The columns found in a file's first lines, to pick from."""

    names: tuple[str, ...]
    """Column names, or keys and dotted names in JSON objects."""
    first: tuple[str, ...] = ()
    """The cells of a table's first line; empty for JSON."""
    doubtful: bool = False
    """Whether that line looks like a row rather than a header."""
    rows: tuple[tuple[str, ...], ...] = ()
    """The cells of rows below it."""

    def guess(self) -> dict[str, str]:
        """The columns with the texts and the label by the part of a row, if a table's header is certain and its rows
        leave no doubt: the one or two columns with many words; and the only other one with few values, which recur;
        without a label if there is none, and one without empty cells first. Empty if there is any doubt. The id is the
        only other column of single words with digits that are all different."""
        columns = list(zip(*(row for row in self.rows if len(row) == len(self.names)), strict=True))
        if self.doubtful or len(columns) < 2 or len(columns[0]) < _FEWEST_ROWS:
            return {}
        words = [sum(len(cell.split()) for cell in column) / len(column) for column in columns]
        wordy = [at for at, count in enumerate(words) if count >= _WORDS_OF_TEXT]
        texts = [at for at in wordy if not _are_names(columns[at])] or wordy
        recurring = [at for at, column in enumerate(columns) if at not in texts and _recurs(column)]
        classes = [at for at in recurring if all(columns[at])] or recurring
        if len(texts) not in (1, 2) or len(classes) > 1:
            return {}
        parts = [*("first", "second")[: len(texts)], "label"]
        found = dict(zip(parts, (self.names[at] for at in (*texts, *classes)), strict=False))
        ids = [
            at
            for at, column in enumerate(columns)
            if at not in texts and len({*column}) == len(column) and all(map(_IDENTIFIER.fullmatch, column))
        ]
        return found | ({"id": self.names[ids[0]]} if len(ids) == 1 else {})


def _recurs(column: Sequence[str]) -> bool:
    """Whether a column has few values, which recur; rows without a label have an empty cell."""
    values = [cell for cell in column if cell.strip()]
    return len(values) >= _FEWEST_ROWS and 1 < len({*values}) <= len(values) / 2


def _are_names(column: Sequence[str]) -> bool:
    """Whether a column has the same few short values again and again: classes, even if their names are phrases."""
    values = [cell for cell in column if cell.strip()]
    return 4 * len({*values}) <= len(values) and all(len(cell.split()) <= _WORDS_OF_NAME for cell in {*values})


def seen(head: Sequence[Line], further: Sequence[Line] = ()) -> Seen:
    """The columns found in these lines. The guess also reads ``further`` ones: the rows may be sorted by class."""
    if _is_json(head):
        records = [record for _, record in objects(head, [])]
        keys = dict.fromkeys(key for record in records for key in record)
        inner = dict.fromkeys(name for record in records for name, _ in nested(record))
        return Seen(tuple(filter(None, keys | inner)))
    table, cells = guessed(head), guessed(head, header=False)
    first = cells.first(head)[0]
    rows = [cells.split(text) for _, text in head[1:]]
    recurs = any(cell in {row[at] for row in rows if at < len(row)} for at, cell in enumerate(first) if cell)
    columns = ([row[at] for row in rows if at < len(row)] for at in range(len(first)))
    doubtful = recurs or any(map(_could_be_below, first, columns))
    sampled = further[:: max(1, len(further) // _SAMPLED)]
    return Seen(
        table.names, tuple(first), doubtful, tuple(map(tuple, [*rows, *(cells.split(text) for _, text in sampled)]))
    )


def _could_be_below(name: str, cells: Sequence[str]) -> bool:
    """Whether the first cell of a column is like the others: a sentence above sentences, or a number above numbers. A
    question above classes is a name."""
    kinds = [like for like in (_is_text, _is_number) if like(name)]
    return any(not cells or any(map(like, cells)) for like in kinds)


def _is_text(cell: str) -> bool:
    return is_sentence(cell) or len(cell) > 60


def _is_json(head: Sequence[Line]) -> bool:
    return head[0][1].lstrip().startswith("{") and any(record for _, record in objects(head, []))


def _is_number(cell: str) -> bool:
    return cell.strip().lstrip("+-").replace(".", "", 1).replace(",", "", 1).isdecimal()


def not_known(name: str, head: Sequence[Line]) -> str:
    """One sentence about a file with an unknown layout: what was found, and what to do."""
    known, begin = seen(head), f"the layout of {name} is not known"
    names = _listed(known.names)
    if not known.names:
        return f"{begin}: its rows have no keys; give a file with texts"
    if not known.first:
        ask = "pick the texts and the label (--columns premise=KEY,hypothesis=KEY,label=KEY)"
        return f"{begin}: its rows have the keys {names}; {ask}"
    if len(known.first) == 1:
        return (
            f"{begin}: its first line is “{_shown(head[0][1])}”; give CSV, TSV, JSON lines, Parquet or .xlsx with "
            "named columns, such as premise,hypothesis,label or text,label"
        )
    if known.doubtful:
        line = " · ".join(cell.strip() for cell in known.first)
        ask = "if it is one, give columns by number (--columns premise=1,hypothesis=2,label=3), otherwise by name"
        return f"{begin}, and its first line looks like a row, not like a header (“{_shown(line)}”): {ask}"
    return (
        f"{begin}: it has the columns {names}; pick the texts and the label (--columns "
        "premise=NAME,hypothesis=NAME,label=NAME)"
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(_shown(name, 40) for name in names[:_SHOWN]) + more


def _shown(text: str, most: int = 80) -> str:
    """A text for a message: shortened, without invisible characters."""
    seen = "".join(c if c.isprintable() else " " for c in text[: most + 1])
    return seen if len(seen) <= most else f"{seen[:most]}…"


def reader_by(picked: Picked, head: Sequence[Line], name: str) -> RowReader:
    """The reader for the picked columns of a file with these first lines. Raises DataError for a column that does not
    exist."""
    if not picked.first:
        raise DataError(f"no text of {name} is picked; name its column")
    layout, missing = _PAIR if picked.second else _TEXT, "" if picked.label else _NO_LABEL
    if _is_json(head):
        records = [record for _, record in objects(head, [])]
        names = seen(head).names
        keys = {
            part: column
            if any(value_at(record, column) is not None for record in records)
            else _named(names, column, name)
            for part, column in picked.parts.items()
        }
        return replace(reader_of(layout, keys, objects, joined=True), no_label=missing)
    wanted = picked.parts.values()
    table, header = guessed(head), picked.header
    numbers = all(column.isdecimal() for column in wanted) and not all(column in table.names for column in wanted)
    if header is None:
        header = not numbers or all(map(is_known, _keys(table.names, picked, name).values()))
    if not header:
        table = guessed(head, header=False)
    keys = _keys(table.names, picked, name)
    if not header and table.delimiter == "\t":  # texts contain commas but no tabs: cells keep their position
        table = replace(table, least=1 + max(map(table.names.index, keys.values())))
    return replace(table.reader(layout, keys, joined=True), no_label=missing)


def _keys(names: Sequence[str], picked: Picked, name: str) -> dict[str, str]:
    """The picked columns by their names. Raises DataError for a column that does not exist."""
    numbers = {str(place): known for place, known in enumerate(names, start=1)}
    return {
        part: numbers[column] if column in numbers and column not in names else _named(names, column, name)
        for part, column in picked.parts.items()
    }


def _named(names: Sequence[str], column: str, name: str) -> str:
    """The column with this name; another case or spelling is accepted if unambiguous."""
    if column in names:
        return column
    spelled = [known for known in names if plain(known) == plain(column) != ""]
    if len(spelled) != 1:
        raise DataError(f"{name} has no column {_shown(column)!r}; it has {_listed(names)}")
    return spelled[0]
