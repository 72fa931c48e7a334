"""Documents as JSON lines: an object with ``text`` and ``label``, perhaps ``title`` and ``id``.

The layout of DBpedia, IMDB, Yelp and 20 Newsgroups; posts of the last are read without header, signature and quotes.
"""

from __future__ import annotations

import functools

from core.data.dataset import Example, other_columns
from core.data.lines import Line, objects, says_something
from core.data.newsgroups import body, is_post
from core.data.reader import HEADER, RowReader, layouts
from core.data.table import ColumnLayout, drops_a_text, fitting, row_of
from core.json_types import JsonObject

NAME = "document jsonl"
NEWSGROUPS = "20 Newsgroups jsonl"


@layouts(NAME, NEWSGROUPS, clue=HEADER)
def recognise(head: list[Line]) -> RowReader | None:
    """One of the first lines is a JSON object with the text of a document and no second text."""
    records = [record for _, record in objects(head, [])]
    keys: dict[str, str] = {}
    for record in records:  # those of the object that has most
        names = list(record)
        layout, places = fitting(names) or (None, {})
        if (
            layout
            and not layout.of_pairs
            and len(places) > len(keys)
            and isinstance(record[names[places["first"]]], str)
        ):
            known, keys = layout, {what: names[at] for what, at in places.items()}
    if not keys or 2 * sum(_drops_a_text(known, keys, record) for record in records) > len(records):
        return None
    texts = [str(record.get(keys["first"])) for record in records]
    posts = 2 * sum(is_post(text) for text in texts) > len(texts)
    return RowReader(NEWSGROUPS if posts else NAME, functools.partial(_row, known, keys, posts), objects)


def _drops_a_text(layout: ColumnLayout, keys: dict[str, str], record: JsonObject) -> bool:
    names = list(record)
    places = {what: names.index(key) for what, key in keys.items() if key in names}
    return drops_a_text(layout, places, names, [list(record.values())])


def _row(layout: ColumnLayout, keys: dict[str, str], posts: bool, number: int, record: JsonObject) -> Example:
    fields = {what: value for what, key in keys.items() if (value := record.get(key)) is not None}
    text = fields.get("first")
    if not isinstance(text, str):
        raise ValueError("no text" if text is None else "the text is not a string")
    if not isinstance(fields.get("title", ""), str):
        raise ValueError("the title is not a string")
    if isinstance(fields.get("label"), dict | list):
        raise ValueError("the label is neither text nor a number")
    if posts and says_something(text):
        fields["first"] = body(text)
        if not says_something(fields["first"]):
            raise ValueError("nothing is left without header, signature and quotes")
    texts = {what: str(value) for what, value in fields.items()}
    return row_of(layout, texts, other_columns(record.items(), keys.values()), number)
