"""JSON lines whose keys, including nested ones, are the columns of a layout."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core.data.dataset import Example, other_columns
from core.data.layouts import LAYOUTS, SNLI, ColumnLayout, drops_a_text, fitting, is_sentence, no_label, row_of
from core.data.lines import Line, objects
from core.data.reader import RowReader, recogniser
from core.json_types import JsonObject

PAIRS, DOCUMENTS, NEWSGROUPS = "pair jsonl", "document jsonl", "20 Newsgroups jsonl"
_LIST = ColumnLayout(PAIRS, (("first", "second"),))


@recogniser
def recognise(head: list[Line]) -> RowReader | None:
    """Recognises files with a JSON object that has a layout's texts in the first lines."""
    records = [record for _, record in objects(head, [])]
    layout, keys = _document(records) or next(filter(None, map(_pair, records)), (None, {}))
    if layout is None:
        return None
    names = [*dict.fromkeys(key for record in records for key in record)]
    missing = no_label(names) if layout.of_pairs and "label" not in keys else ""
    row = functools.partial(json_row, layout, keys)
    return RowReader(layout.name, row, objects, task=layout.task, no_label=missing)


def _document(records: Sequence[JsonObject]) -> tuple[ColumnLayout, dict[str, str]] | None:
    """The keys of documents, from the object with most of them; None if objects have two texts."""
    layout, keys = None, dict[str, str]()
    for record in records:
        names = [*record]
        known, places = fitting(names) or (None, {})
        if not known or known.of_pairs or not isinstance(record[names[places["first"]]], str):
            continue
        if len(places) > len(keys):
            layout, keys = known, {part: names[at] for part, at in places.items()}
    if layout is None or 2 * sum(_drops_a_text(layout, keys, record) for record in records) > len(records):
        return None
    if 2 * sum(_is_post(str(record.get(keys["first"]))) for record in records) > len(records):
        return replace(layout, name=NEWSGROUPS, clean=_body), {key: keys[key] for key in keys if key != "title"}
    return replace(layout, name=DOCUMENTS), keys


def _drops_a_text(layout: ColumnLayout, keys: Mapping[str, str], record: JsonObject) -> bool:
    names = [*record]
    places = {part: names.index(key) for part, key in keys.items() if key in names}
    return drops_a_text(layout, places, names, [[*record.values()]])


def _pair(record: JsonObject) -> tuple[ColumnLayout, dict[str, str]] | None:
    """The keys of an object (dotted names for nested ones) that hold the parts of a pair."""
    flat = dict(nested(record))
    inner = [name for name in flat if not name.endswith((".1", ".2"))]
    parts = [name.split(".") for name in inner]
    # A nested value may be named by its own key, by its parent's, or by the outermost.
    ways = ([*record], *([part[max(-len(part), level)] for part in parts] for level in (-1, -2, 0)))
    for names, shown in zip(([*record], inner, inner, inner), ways, strict=True):
        layout, places = fitting(shown, (SNLI, *LAYOUTS)) or (None, {})
        if layout and layout.of_pairs:
            texts = [places["first"], places["second"]]
            if all(isinstance(value_at(record, names[at]), str) and shown.count(shown[at]) == 1 for at in texts):
                layout = layout if layout is SNLI else replace(layout, name=PAIRS)
                return layout, {part: names[at] for part, at in places.items()}
    return _in_a_list(flat)


def _in_a_list(flat: Mapping[str, object]) -> tuple[ColumnLayout, dict[str, str]] | None:
    """A pair stored as a list of two texts, such as ``set`` in sentence-transformers: the only texts of the object."""
    lists = [name.removesuffix(".1") for name in flat if name.endswith(".1") and f"{name[:-2]}.2" in flat]
    texts = {f"{name}.{place}" for name in lists for place in (1, 2)}
    if len(lists) != 1 or any(is_sentence(value) for name, value in flat.items() if name not in texts):
        return None
    names = ["first", "second", *(name for name in flat if name not in texts)]
    layout, places = fitting(names, (_LIST,)) or (_LIST, {})
    keys = [f"{lists[0]}.1", f"{lists[0]}.2", *names[2:]]
    return layout, {part: keys[at] for part, at in places.items()}


def json_row(
    layout: ColumnLayout, keys: Mapping[str, str], number: int, record: JsonObject, joined: bool = False
) -> Example:
    """The row for an object whose ``keys`` (possibly dotted) hold a layout's parts. Raises ValueError for a broken row.

    ``joined``: converts other values to text (lists are joined by spaces) instead of rejecting the row.
    """
    values = {part: value_at(record, key) for part, key in keys.items()}
    for part in ("first", "second", "title") if not joined else ():
        value = values.get(part)
        if value is None and part in keys and part != "title":
            raise ValueError(f"no {keys[part]}")
        if not isinstance(value, str | None):
            raise ValueError(f"{keys[part]} is not a string")
    if not layout.of_pairs and not joined and isinstance(values.get("label"), dict | list):
        raise ValueError(f"{keys['label']} is neither text nor a number")
    # A list of sentences shows how many there were, so the row also keeps it.
    taken = {keys[part].removesuffix(".1") for part, value in values.items() if not isinstance(value, list)}
    taken |= {*keys.values()} if not joined else set()
    others = {name: text for name, text in other_columns(record.items(), taken).items() if not _repeats(layout, name)}
    return row_of(layout, {part: _text(value, joined) for part, value in values.items()}, others, number)


def _repeats(layout: ColumnLayout, name: str) -> bool:
    """Whether this is one of SNLI's parses, which repeat both sentences twice: a gigabyte in its training file."""
    return layout is SNLI and name.startswith("sentence") and name.endswith("_parse")


def _text(value: object, joined: bool) -> str:
    if joined and isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def nested(record: Mapping[str, object], prefix: str = "", depth: int = 4) -> Iterator[tuple[str, object]]:
    """Each value in an object under its dotted name, ``example.premise``; two texts in a list are ``set.1`` and
    ``set.2``."""
    for key, value in record.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and value and depth:
            yield from nested(value, f"{name}.", depth - 1)
        elif isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value):
            yield from ((f"{name}.{place}", part) for place, part in enumerate(value, start=1))
        else:
            yield name, value


def value_at(value: object, name: str) -> object:
    """The value under a key or dotted name, with list elements counted from 1; None if there is none."""
    if isinstance(value, dict) and name in value:
        return value[name]
    parts = name.split(".")
    # A key may itself contain a dot.
    for size in range(len(parts) - 1, 0, -1):
        key, rest = ".".join(parts[:size]), ".".join(parts[size:])
        if isinstance(value, dict) and key in value:
            return value_at(value[key], rest)
        if isinstance(value, list) and size == 1 and key.isdecimal() and 0 < int(key) <= len(value):
            return value_at(value[int(key) - 1], rest)
    if isinstance(value, list) and name.isdecimal() and 0 < int(name) <= len(value):
        return value[int(name) - 1]
    return None


_QUOTED = re.compile(r"writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>")
_SUBJECT = re.compile(r"^Subject:", re.MULTILINE)


def _is_post(text: str) -> bool:
    """True if a header with a subject precedes the first empty line."""
    header, gap, _ = text.partition("\n\n")
    return bool(gap and _SUBJECT.search(header))


def _body(post: str) -> str:
    """The post without header, signature and quotes, which reveal the newsgroup; empty if nothing else is left.

    The rules are from scikit-learn's ``fetch_20newsgroups(remove=("headers", "footers", "quotes"))``, so that scores
    can be compared; like it, they mistake a short post's last paragraph for a signature.
    """
    lines = post.partition("\n\n")[2].strip().split("\n")
    # The signature is everything after the last line that is empty or consists of hyphens.
    ends = [at for at, line in enumerate(lines) if at and not line.strip().strip("-")]
    unsigned = lines[: ends[-1]] if ends else lines
    return "\n".join(line for line in unsigned if not _QUOTED.search(line)).strip()
