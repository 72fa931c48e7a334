"""Formats text from files as Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """A table without a final line end; a dash for missing cells."""
    head = list(dict.fromkeys(name for row in rows for name in row))
    lines: list[list[object]] = [[*head], ["---"] * len(head), *([row.get(name, "–") for name in head] for row in rows)]
    return "\n".join(f"| {' | '.join(map(plain, line))} |" for line in lines)


def plain(text: object) -> str:
    """Text on one line, with Markdown escaped except for code marks."""
    return re.sub(r"([\\*\[<>|]|(?<!\w)_|_(?!\w))", r"\\\1", " ".join(str(text).split()))
