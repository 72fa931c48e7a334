"""Documents as JSON lines: an object with ``text`` and ``label``, perhaps ``title`` and ``id``.

The layout of DBpedia, IMDB, Yelp and 20 Newsgroups; posts of the last are read without header, signature and quotes.
"""

from __future__ import annotations

import functools

from core.data.dataset import Example, other_columns
from core.data.lines import Line, objects, says_something
from core.data.newsgroups import body, is_post
from core.data.reader import HEADER, RowReader, layouts
from core.data.table import fitting
from core.json_types import JsonObject

NAME = "document jsonl"
NEWSGROUPS = "20 Newsgroups jsonl"


@layouts(NAME, NEWSGROUPS, clue=HEADER)
def recognise(head: list[Line]) -> RowReader | None:
    """One of the first lines is a JSON object with the text of a document and no second text."""
    keys = _keys(head)
    if not keys:
        return None
    texts = [str(record.get(keys["first"])) for _, record in objects(head, [])]
    posts = 2 * sum(is_post(text) for text in texts) > len(texts)
    return RowReader(NEWSGROUPS if posts else NAME, functools.partial(_row, keys, posts), objects)


def _keys(head: list[Line]) -> dict[str, str]:
    """The keys that hold ``first`` (the text), ``label``, ``title`` and ``id``, from the object that has most."""
    best: dict[str, str] = {}
    for _, record in objects(head, []):
        names = list(record)
        matched = fitting([name.lower() for name in names])
        if matched and not matched[0].second and len(matched[1]) > len(best):
            best = {what: names[at] for what, at in matched[1].items()}
    return best


def _row(keys: dict[str, str], posts: bool, number: int, record: JsonObject, labelled: bool) -> Example | None:
    """None where the label is ``-`` and one is needed."""
    fields: JsonObject = {what: record.get(key) for what, key in keys.items()}
    label = "" if fields.get("label") is None else str(fields["label"]).strip().lower()
    _check(fields, label, labelled)
    text = body(fields["first"]) if posts else fields["first"]
    if not says_something(text):
        raise ValueError("nothing is left without header, signature and quotes")
    if labelled and label == "-":
        return None
    key = fields.get("id")
    name = f"line {number}" if key is None else str(key)
    known, title = None if label in ("", "-") else label, fields.get("title") or ""
    return Example.document(name, text, known, title, other_columns(record.items(), keys.values()))


def _check(fields: JsonObject, label: str, labelled: bool) -> None:
    text = fields["first"]
    if text is None:
        raise ValueError("no text")
    if not isinstance(text, str):
        raise ValueError("the text is not a string")
    if not says_something(text):
        raise ValueError("the text is empty")
    if not isinstance(fields.get("title") or "", str):
        raise ValueError("the title is not a string")
    if isinstance(fields.get("label"), dict | list):
        raise ValueError("the label is neither text nor a number")
    if labelled and not label:
        raise ValueError("no label")
