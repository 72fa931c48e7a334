"""Text of files as Markdown: tables, and commands to type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any


def table(head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A table without a line end after its last line."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(plain, line))} |" for line in lines)


def commands(lines: Iterable[str]) -> str:
    """Commands as a block of code."""
    return "\n".join(f"    {line}" for line in lines)


def plain(text: Any) -> str:
    """Text on one line, with no sign of Markdown at work but code marks."""
    return re.sub(r"([\\*\[<>|]|(?<!\w)_|_(?!\w))", r"\\\1", " ".join(str(text).split()))
