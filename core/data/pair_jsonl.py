"""Pairs as JSON lines whose keys are the columns of a table of pairs, such as premise, hypothesis and label."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping

from core.data.dataset import Example, other_columns
from core.data.lines import Line, objects
from core.data.reader import HEADER, RowReader, layouts
from core.data.table import ColumnLayout, fitting, row_of
from core.json_types import JsonObject

NAME = "pair jsonl"


@layouts(NAME, clue=HEADER)
def recognise(head: list[Line]) -> RowReader | None:
    """One of the first lines is a JSON object with the two texts of a pair."""
    for _, record in objects(head, []):
        names = list(record)
        matched = fitting([name.lower() for name in names])
        if matched and matched[0].second:
            layout, columns = matched
            keys = {what: names[at] for what, at in columns.items()}
            no_label = "" if "label" in keys else f"no key named {' or '.join(layout.label)}"
            return RowReader(NAME, functools.partial(row, layout, keys), objects, task=layout.task, no_label=no_label)
    return None


def row(layout: ColumnLayout, keys: Mapping[str, str], number: int, record: JsonObject) -> Example:
    """The row of an object whose ``keys`` hold a layout's fields; raises as :func:`row_of` does."""
    for what in ("first", "second"):
        if not isinstance(record.get(keys[what]), str):
            raise ValueError(f"{keys[what]} is not text" if keys[what] in record else f"no {keys[what]}")
    fields = {what: text for what, key in keys.items() if (text := _text(record.get(key))) is not None}
    return row_of(layout, fields, other_columns(record.items(), keys.values()), number)


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
