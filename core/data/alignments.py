"""Pairs of sentences whose words, or chunks of words, people aligned.

    read(path) -> Alignments

Two layouts: Jacana's JSON (RTE-2, Edinburgh++), a list of objects with ``source``, ``target``, ``sureAlign`` and
``possibleAlign`` ("3-0 4-1": positions of whitespace tokens, source first); and the ``.wa`` files of SemEval-2016
task 2 (iSTS), chunks with the type of their relation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.data.dataset import DataError
from core.data.lines import read_lines, says_something
from core.files import parse_json

Link = tuple[int, int]
"""Positions of a word of the source and of a word of the target, from 0."""


@dataclass(frozen=True)
class ChunkPair:
    """Positions of whitespace tokens of a chunk of the source and of the chunk of the target aligned with it."""

    source: frozenset[int]
    target: frozenset[int]
    kind: str
    """The relation: EQUI, OPPO, SPE1, SPE2, SIMI or REL, perhaps with _FACT or _POL."""


@dataclass(frozen=True)
class AlignedPair:
    """Two sentences with their annotated links; positions count whitespace tokens."""

    id: str
    source: str
    target: str
    sure: frozenset[Link] = frozenset()
    possible: frozenset[Link] = frozenset()
    """Links that are possible, but not sure."""
    chunks: tuple[ChunkPair, ...] = ()


@dataclass(frozen=True)
class Alignments:
    """All usable pairs of a file, and one sentence for each entry that could not be used."""

    name: str
    chunked: bool
    """Whether chunks are aligned, not words."""
    pairs: tuple[AlignedPair, ...]
    problems: tuple[str, ...] = ()


def read(path: str | Path) -> Alignments:
    """Read a file of alignments. Broken entries are named in ``problems`` and left out.

    Raises DataError when the layout is unknown or no entry is usable.
    """
    path = Path(path)
    lines, broken, _ = read_lines(path)
    texts = [text for _, text in lines]
    problems = [str(problem) for problem in broken]
    chunked = bool(texts) and texts[0].lstrip().startswith("<sentence")
    pairs = []
    for place, entry in _sentences(texts) if chunked else _objects(path, "\n".join(texts)):
        try:
            pairs.append(_chunked(place, entry) if chunked else _linked(place, entry))
        except ValueError as error:
            problems.append(f"entry {place}: {error}")
    if not pairs:
        why = f" ({problems[0]})" if problems else ""
        raise DataError(f"{path} has no pair with alignments{why}; fix the file or give another one")
    return Alignments(path.name, chunked, tuple(pairs), tuple(problems))


def _objects(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    try:
        entries = parse_json(text)
    except ValueError:
        entries = None
    if not isinstance(entries, list):
        raise DataError(
            f"{path} holds no alignments: give a JSON list of objects with source, target and sureAlign, "
            "or a .wa file of SemEval-2016 task 2"
        )
    return enumerate(entries, start=1)


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


def _sentences(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The lines of each ``<sentence>``, with its place in the file from 1."""
    starts = [i for i, line in enumerate(lines) if line.startswith("<sentence")]
    for place, (start, end) in enumerate(zip(starts, [*starts[1:], None], strict=True), start=1):
        yield place, lines[start:end]


def _chunked(place: int, lines: list[str]) -> AlignedPair:
    if lines[-1].strip() != "</sentence>":
        raise ValueError("cut off before </sentence>")
    parts: dict[str, list[str]] = {"source": [], "translation": [], "alignment": []}
    part: list[str] = []
    for line in lines[1:-1]:
        tag = line.strip().strip("<>/")
        if tag in parts:
            part = [] if line.startswith("</") else parts[tag]
        else:
            part.append(line)
    words = [[_numbered(line, k) for k, line in enumerate(parts[name], start=1)] for name in ("source", "translation")]
    if not all(words):
        raise ValueError("one of its sentences has no words")
    chunks = [pair for line in parts["alignment"] if (pair := _chunk_pair(line, [len(side) for side in words]))]
    identity = re.search(r'id="([^"]*)"', lines[0])
    source, target = map(" ".join, words)
    return AlignedPair(identity[1] if identity else str(place), source, target, chunks=tuple(chunks))


def _numbered(line: str, position: int) -> str:
    """The word of a line such as ``2 cat :`` (it may be a colon itself)."""
    fields = line.split()
    if len(fields) < 2 or fields[0] != str(position):
        raise ValueError(f"word {position} reads {line[:40]!r}, not such as {position} cat :")
    return fields[1]


def _chunk_pair(line: str, sizes: list[int]) -> ChunkPair | None:
    """The chunks of a line such as ``1 2 <==> 1 2 3 // SPE2 // 4 // …``, None where one is aligned with nothing."""
    fields = [field.strip() for field in line.split("//")]
    sides = [side.split() for side in fields[0].split("<==>")]
    if len(fields) < 2 or len(sides) != 2 or not all(item.isdecimal() for side in sides for item in side):
        raise ValueError(f"an alignment reads {line[:40]!r}, not such as 1 2 <==> 1 // EQUI // 5")
    # Positions count from 1; 0 stands for nothing.
    source, target = (frozenset(int(item) - 1 for item in side if int(item)) for side in sides)
    if any(max(side, default=0) >= size for side, size in zip((source, target), sizes, strict=True)):
        raise ValueError(
            f"an alignment reads {fields[0][:40]!r}, but the sentences have {sizes[0]} and {sizes[1]} words"
        )
    return ChunkPair(source, target, fields[1]) if source and target else None
