"""Documents as JSON lines: an object with ``text`` and ``label``, perhaps ``title`` and ``id``.

The layout of DBpedia, IMDB, Yelp and 20 Newsgroups; posts of the last are read without header, signature and quotes.
"""

from __future__ import annotations

from typing import Any

from core.data.dataset import Example, Parsed, Problem, other_columns
from core.data.lines import HEAD, Line, objects, says_something
from core.data.newsgroups import body, is_post
from core.data.table import fitting

NAME = "document jsonl"
NEWSGROUPS = "20 Newsgroups jsonl"


def recognises(head: list[Line]) -> bool:
    """True when one of the first lines is a JSON object with the text of a document and no second text."""
    return bool(_keys(head))


def _keys(head: list[Line]) -> dict[str, str]:
    """The keys that hold ``first`` (the text), ``label``, ``title`` and ``id``, from the object that has most."""
    best: dict[str, str] = {}
    for _, record in objects(head, []):
        names = list(record)
        matched = fitting([name.lower() for name in names])
        if matched and not matched[0].second and len(matched[1]) > len(best):
            best = {what: names[at] for what, at in matched[1].items()}
    return best


def read(lines: list[Line], labelled: bool) -> Parsed:
    """All rows; those whose label is ``-`` are dropped, or kept without label if not ``labelled``."""
    keys = _keys(lines[:HEAD])
    texts = [str(record.get(keys["first"])) for _, record in objects(lines[:HEAD], [])]
    posts = 2 * sum(is_post(text) for text in texts) > len(texts)
    rows: list[Example] = []
    problems: list[Problem] = []
    dropped = 0
    for number, record in objects(lines, problems):
        fields: dict[str, Any] = {what: record.get(key) for what, key in keys.items()}
        label = "" if fields.get("label") is None else str(fields["label"]).strip().lower()
        what = _wrong(fields, label, labelled)
        if what:
            problems.append(Problem(number, what))
            continue
        text = body(fields["first"]) if posts else fields["first"]
        if not says_something(text):
            problems.append(Problem(number, "nothing is left without header, signature and quotes"))
        elif labelled and label == "-":
            dropped += 1
        else:
            key = fields.get("id")
            name = f"line {number}" if key is None else str(key)
            known, title = None if label in ("", "-") else label, fields.get("title") or ""
            rows.append(Example.document(name, text, known, title, other_columns(record.items(), keys.values())))
    return rows, problems, dropped, NEWSGROUPS if posts else NAME


def _wrong(fields: dict[str, Any], label: str, labelled: bool) -> str:
    text = fields["first"]
    if text is None:
        return "no text"
    if not isinstance(text, str):
        return "the text is not a string"
    if not says_something(text):
        return "the text is empty"
    if not isinstance(fields.get("title") or "", str):
        return "the title is not a string"
    if isinstance(fields.get("label"), dict | list):
        return "the label is neither text nor a number"
    return "no label" if labelled and not label else ""
