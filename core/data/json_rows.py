"""JSON lines whose keys, including nested ones, are the columns of a layout."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.data.layouts import (
    LAYOUTS,
    SNLI,
    ColumnLayout,
    drops_a_text,
    fitting,
    is_sentence,
    nested,
    reader_of,
    value_at,
)
from core.data.lines import Line, objects
from core.data.reader import RowReader, recogniser
from core.json_types import JsonObject
from core.lazy import import_alone

PAIRS, DOCUMENTS, NEWSGROUPS = "pair jsonl", "document jsonl", "20 Newsgroups jsonl"
_LIST = ColumnLayout(PAIRS, (("first", "second"),))


@recogniser
def recognise(head: list[Line]) -> RowReader | None:
    """Recognises files with a JSON object that has a layout's texts in the first lines."""
    records = [record for _, record in objects(head, [])]
    found = _document(records) or next(filter(None, map(_pair, records)), None)
    if found is None:
        return None
    layout, keys = found
    names = [*dict.fromkeys(key for record in records for key in record)]
    return reader_of(layout, keys, objects, names if layout.of_pairs else ())


def _document(records: Sequence[JsonObject]) -> tuple[ColumnLayout, dict[str, str]] | None:
    """The keys of documents, from the object with most of them; None if objects have two texts."""
    layout, keys = None, dict[str, str]()
    for record in records:
        known, parts = fitting([*record]) or (None, {})
        if known and not known.of_pairs and isinstance(record[parts["first"]], str) and len(parts) > len(keys):
            layout, keys = known, parts
    if layout is None or drops_a_text(layout, keys, records):
        return None
    if 2 * sum(_is_post(str(record.get(keys["first"]))) for record in records) > len(records):
        return replace(layout, name=NEWSGROUPS, clean=_body), {key: keys[key] for key in keys if key != "title"}
    return replace(layout, name=DOCUMENTS), keys


def _pair(record: JsonObject) -> tuple[ColumnLayout, dict[str, str]] | None:
    """The keys of an object (dotted names for nested ones) that hold the parts of a pair."""
    flat = dict(nested(record))
    inner = [name for name in flat if not name.endswith((".1", ".2"))]
    parts = [name.split(".") for name in inner]
    # A nested value may be named by its own key, by its parent's, or by the outermost.
    ways = ([*record], *([part[max(-len(part), level)] for part in parts] for level in (-1, -2, 0)))
    for names, shown in zip(([*record], inner, inner, inner), ways, strict=True):
        layout, keys = fitting(names, (SNLI, *LAYOUTS), shown) or (None, {})
        if layout and layout.of_pairs:
            texts = [keys["first"], keys["second"]]
            unique = all(shown.count(shown[names.index(key)]) == 1 for key in texts)
            if unique and all(isinstance(value_at(record, key), str) for key in texts):
                return layout if layout is SNLI else replace(layout, name=PAIRS), keys
    return _in_a_list(flat)


def _in_a_list(flat: Mapping[str, object]) -> tuple[ColumnLayout, dict[str, str]] | None:
    """A pair stored as a list of two texts, such as ``set`` in sentence-transformers: the only texts of the object."""
    lists = [name.removesuffix(".1") for name in flat if name.endswith(".1") and f"{name[:-2]}.2" in flat]
    texts = {f"{name}.{place}" for name in lists for place in (1, 2)}
    if len(lists) != 1 or any(is_sentence(value) for name, value in flat.items() if name not in texts):
        return None
    others = [name for name in flat if name not in texts]
    return fitting([f"{lists[0]}.1", f"{lists[0]}.2", *others], (_LIST,), ["first", "second", *others])


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
    import_alone("sklearn.datasets")
    from sklearn.datasets import _twenty_newsgroups as newsgroups  # slow to import

    unsigned = newsgroups.strip_newsgroup_footer(newsgroups.strip_newsgroup_header(post))
    body: str = newsgroups.strip_newsgroup_quoting(unsigned)
    return body.strip()
