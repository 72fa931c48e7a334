"""CSV that is safe to open in a spreadsheet.

A spreadsheet runs a cell that begins with one of ``= + - @``, a tab or a carriage return as a formula, so such cells
get a leading apostrophe; so do cells that begin with an apostrophe, so that exactly one can be removed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from types import SimpleNamespace

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "'")


def neutral(text: str) -> str:
    """The text as a cell that no spreadsheet executes."""
    return "'" + text if text.startswith(_DANGEROUS) else text


def csv_text(head: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV with Unix line ends; texts are neutralised, numbers unchanged."""
    lines: list[str] = []
    # The csv module quotes cells with characters of its line terminator: with "\r\n" also a bare carriage return, which
    # a spreadsheet would treat as the end of the row.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    for row in (head, *rows):
        writer.writerow([neutral(cell) if isinstance(cell, str) else cell for cell in row])
    return "".join(f"{line.removesuffix(writer.dialect.lineterminator)}\n" for line in lines)
