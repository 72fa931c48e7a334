"""What columns of a table and keys of JSON are called: one table of the field's names for the parts of a row.

Names are compared without case, spaces and punctuation: ``sentence_A``, ``Sentence A`` and ``sentenceA`` are one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

PAIRS: tuple[tuple[str, str], ...] = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"), ("sent1", "sent2"), ("s1", "s2"), ("sentencea", "sentenceb"), ("senta", "sentb"),
    ("1string", "2string"), ("string1", "string2"), ("text1", "text2"), ("texta", "textb"),
    ("text", "textpair"), ("text", "text2"), ("sentence", "sentence2"), ("sentence", "sentencepair"),
    ("question", "question2"), ("question1", "question2"), ("q1", "q2"), ("first", "second"), ("source", "target"),
    ("context", "hypothesis"), ("text", "hypothesis"), ("t", "h"),
    ("qtext", "atext"), ("context", "query"),
    ("query", "passage"), ("question", "passage"), ("query", "document"), ("query", "answer"),
    ("question", "sentence"), ("question", "answer"), ("claim", "evidence"), ("sentence", "paraphrase"),
    *itertools.product(("premise", "prem", "sentence1", "first", "text1", "question1"),
                       ("hypothesis", "hyp", "sentence2", "second", "text2", "question2")),
)  # fmt: skip
"""The two texts of a pair, in this order; of several that fit the first counts."""
TEXTS = ("text", "content", "abstract", "description", "review", "document", "sentence")
"""A document's text."""
LABELS = (
    "label", "goldlabel", "gold", "isduplicate", "majoritylabel", "quality", "entailment", "judgment", "judgement",
    "entailmentjudgment", "entailmentlabel", "relation", "class", "target", "value", "score", "similarity",
    "similarityscore", "relatednessscore",
)  # fmt: skip
CLASSES = ("label", "class", "classindex", "category", "sentiment")
"""A document's label."""
IDS = ("id", "pairid", "uid", "guid")
ABOUT = ("explanation", "reason", "rationale", "comment", "note", "summary", "source", "url", "title", "author")
"""Beginnings of names of texts about a row, which are no part of it."""
_SIDES = {name for pair in PAIRS for name in pair}


def plain(name: str) -> str:
    """The name as it is compared."""
    return re.sub(r"[\W_]+", "", name.lower())


def found(names: Sequence[str], **wanted: Sequence[str]) -> dict[str, int]:
    """The place among ``names`` (plain) of each part of a row that has one, by the first of its spellings that is
    there."""
    spelled = ((part, next((one for one in known if one in names), None)) for part, known in wanted.items())
    return {part: names.index(name) for part, name in spelled if name is not None}


def is_known(name: str) -> bool:
    """Whether this is a name of some part of a row."""
    return plain(name) in _SIDES.union(TEXTS, LABELS, CLASSES, IDS)


def names_a_side(names: Sequence[str]) -> bool:
    """Whether one of these (plain) is a side of a pair: a document has none beside its text."""
    return not _SIDES.isdisjoint(names)


def unique(names: Sequence[str]) -> list[str]:
    """Names of columns, each once: a second ``text`` becomes ``text 2``."""
    out: dict[str, None] = {}
    for name in names:
        own, count = name, 1
        while own in out:
            count += 1
            own = f"{name} {count}"
        out[own] = None
    return [*out]


def nested(record: Mapping[str, object], prefix: str = "", depth: int = 4) -> Iterator[tuple[str, object]]:
    """Each value of an object under its dotted name, ``example.premise``; of two texts in a list ``set.1`` and
    ``set.2``."""
    for key, value in record.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and value and depth:
            yield from nested(value, f"{name}.", depth - 1)
        elif isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value):
            yield from ((f"{name}.{place}", part) for place, part in enumerate(value, start=1))
        else:
            yield name, value


def value_at(record: Mapping[str, object], name: str) -> object:
    """The value under a key or a dotted name, parts of lists counted from 1; None where there is none."""
    if name in record:
        return record[name]
    value: object = record
    parts = name.split(".")
    while parts:
        # A key may itself have a dot in it.
        for size in range(len(parts), 0, -1) if isinstance(value, dict) else (1,):
            key = ".".join(parts[:size])
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and key.isdecimal() and 0 < int(key) <= len(value):
                value = value[int(key) - 1]
            else:
                continue
            parts = parts[size:]
            break
        else:
            return None
    return value
