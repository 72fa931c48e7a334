"""Text of files as Markdown: tables, and commands to type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """A table without a line end after its last line; a dash where a row lacks one of the columns."""
    head = list(dict.fromkeys(name for row in rows for name in row))
    lines: list[list[object]] = [[*head], ["---"] * len(head), *([row.get(name, "–") for name in head] for row in rows)]
    return "\n".join(f"| {' | '.join(map(plain, line))} |" for line in lines)


def commands(lines: Iterable[str]) -> str:
    """Commands as a block of code."""
    return "\n".join(f"    {line}" for line in lines)


def plain(text: object) -> str:
    """Text on one line, with no sign of Markdown at work but code marks."""
    return re.sub(r"([\\*\[<>|]|(?<!\w)_|_(?!\w))", r"\\\1", " ".join(str(text).split()))
