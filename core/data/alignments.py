"""Sentence pairs with human word alignments.

    read(path) -> Alignments

The layout is Jacana's JSON (RTE-2, Edinburgh++), a list of objects with ``source``, ``target``, ``sureAlign`` and
``possibleAlign`` ("3-0 4-1": positions of whitespace tokens, source first).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from core.data.dataset import DataError, Problem
from core.data.lines import MOST_LINES, lines_of, says_something
from core.files import parse_json

Link = tuple[int, int]
"""Positions of a source word and a target word, from 0."""


@dataclass(frozen=True)
class AlignedPair:
    """Two sentences with their annotated links; positions count whitespace tokens."""

    id: str
    source: str
    target: str
    sure: frozenset[Link] = frozenset()
    possible: frozenset[Link] = frozenset()
    """Links marked as possible, but not as sure."""


@dataclass(frozen=True)
class Alignments:
    """All usable pairs in a file, and one sentence for each unusable entry."""

    name: str
    pairs: tuple[AlignedPair, ...]
    problems: tuple[str, ...] = ()


def read(path: str | Path) -> Alignments:
    """Read a file of word alignments. Broken entries are reported in ``problems`` and left out.

    Raises DataError if the layout is unknown or no entry is usable.
    """
    path = Path(path)
    broken = list[Problem]()
    text = "\n".join(text for _, text in lines_of(path, broken, hashlib.sha256(), most=MOST_LINES))
    problems, pairs = [str(problem) for problem in broken], []
    try:
        entries = parse_json(text)
    except ValueError:
        entries = None
    if not isinstance(entries, list):
        raise DataError(f"{path} holds no alignments: give a JSON list of objects with source, target and sureAlign")
    for place, entry in enumerate(entries, start=1):
        try:
            pairs.append(_linked(place, entry))
        except ValueError as error:
            problems.append(f"entry {place}: {error}")
    if not pairs:
        why = f" ({problems[0]})" if problems else ""
        raise DataError(f"{path} has no pair with alignments{why}; fix the file or give another one")
    return Alignments(path.name, tuple(pairs), tuple(problems))


def _linked(place: int, entry: object) -> AlignedPair:
    if not isinstance(entry, dict):
        raise ValueError("not a JSON object")
    source, target = (_sentence(key, entry.get(key)) for key in ("source", "target"))
    sizes = [len(source.split()), len(target.split())]
    sure, possible = (_links(key, entry.get(key, ""), sizes) for key in ("sureAlign", "possibleAlign"))
    return AlignedPair(str(entry.get("id", place)), source, target, sure, possible - sure)


def _sentence(key: str, text: object) -> str:
    if not isinstance(text, str) or not says_something(text):
        raise ValueError(f"{key} is not a sentence")
    return text


def _links(key: str, text: object, sizes: list[int]) -> frozenset[Link]:
    if not isinstance(text, str):
        raise ValueError(f"{key} is not a string")
    links = set()
    for item in text.split():
        if not re.fullmatch(r"[0-9]+-[0-9]+", item):
            raise ValueError(f"{key} has {item[:40]!r}, not two positions such as 3-0")
        source, target = map(int, item.split("-"))
        if source >= sizes[0] or target >= sizes[1]:
            raise ValueError(f"{key} has {item[:40]}, but the sentences have {sizes[0]} and {sizes[1]} words")
        links.add((source, target))
    return frozenset(links)
