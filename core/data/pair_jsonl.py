"""Pairs as JSON lines whose keys are the columns of a table of pairs, such as premise, hypothesis and label."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping

from core.data.dataset import Example, other_columns
from core.data.lines import Line, objects
from core.data.names import IDS, LABELS, found, nested, plain, value_at
from core.data.reader import HEADER, RowReader, layouts
from core.data.table import ColumnLayout, fitting, is_sentence, no_label, row_of
from core.json_types import JsonObject

NAME = "pair jsonl"
_LIST = ColumnLayout(NAME, (("first", "second"),), LABELS)


@layouts(NAME, clue=HEADER)
def recognise(head: list[Line]) -> RowReader | None:
    """One of the first lines is a JSON object with the two texts of a pair."""
    matches = (matched for _, record in objects(head, []) if (matched := keys_of(record)))
    layout, keys = next(matches, (None, {}))
    if layout is None:
        return None
    names = [*dict.fromkeys(key for _, record in objects(head, []) for key in record)]
    missing = "" if "label" in keys else no_label(names)
    return RowReader(NAME, functools.partial(row, layout, keys), objects, task=layout.task, no_label=missing)


def keys_of(record: JsonObject) -> tuple[ColumnLayout, dict[str, str]] | None:
    """The keys of an object, or dotted names of what is nested in it, that hold the parts of a pair."""
    flat = dict(nested(record))
    inner = [name for name in flat if not name.endswith((".1", ".2"))]
    parts = [name.split(".") for name in inner]
    # What is nested may be named by its own key, that of what it lies in, or the first.
    ways = ([*record], *([part[max(-len(part), level)] for part in parts] for level in (-1, -2, 0)))
    for names, shown in zip(([*record], inner, inner, inner), ways, strict=True):
        matched = fitting(shown)
        if matched and matched[0].of_pairs:
            keys = {what: names[at] for what, at in matched[1].items()}
            texts = [matched[1][what] for what in ("first", "second")]
            if all(isinstance(value_at(record, names[at]), str) and shown.count(shown[at]) == 1 for at in texts):
                return matched[0], keys
    return _in_a_list(flat)


def _in_a_list(flat: Mapping[str, object]) -> tuple[ColumnLayout, dict[str, str]] | None:
    """A pair as a list of two texts, such as ``set`` of sentence-transformers: the only texts of the object."""
    lists = [name.removesuffix(".1") for name in flat if name.endswith(".1") and f"{name[:-2]}.2" in flat]
    texts = {f"{name}.{place}" for name in lists for place in (1, 2)}
    if len(lists) != 1 or any(is_sentence(value) for name, value in flat.items() if name not in texts):
        return None
    names = [name for name in flat if name not in texts]
    others = found([plain(name) for name in names], label=LABELS, id=IDS)
    keys = {"first": f"{lists[0]}.1", "second": f"{lists[0]}.2", **{part: names[at] for part, at in others.items()}}
    return _LIST, keys


def row(layout: ColumnLayout, keys: Mapping[str, str], number: int, record: JsonObject) -> Example:
    """The row of an object whose ``keys`` hold a layout's fields; raises as :func:`row_of` does."""
    for what in ("first", "second"):
        if not isinstance(value := value_at(record, keys[what]), str):
            raise ValueError(
                f"no {keys[what]}" if value is None and keys[what] not in record else f"{keys[what]} is not text"
            )
    fields = {what: text for what, key in keys.items() if (text := _text(value_at(record, key))) is not None}
    taken = {*keys.values(), keys["first"].removesuffix(".1")}
    return row_of(layout, fields, other_columns(record.items(), taken), number)


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
