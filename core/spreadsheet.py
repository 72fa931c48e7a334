"""CSV that is safe to open in a spreadsheet.

A spreadsheet runs a cell that begins with one of ``= + - @``, a tab or a carriage return as a formula, so such cells
get a leading apostrophe; so do cells that begin with an apostrophe, so that exactly one can be removed
(:func:`original`). Numbers and dashes stay, because they compute nothing: ``-0.5``, and ``-``, SNLI's mark of no label.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Sequence
from types import SimpleNamespace

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "'")
_HARMLESS = re.compile(r"-+|-[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?", re.IGNORECASE)


def neutral(text: str) -> str:
    """The text as a cell that no spreadsheet executes."""
    return "'" + text if text.startswith(_DANGEROUS) and not _HARMLESS.fullmatch(text) else text


def original(cell: str) -> str:
    """The text from which :func:`neutral` made this cell; a cell that it cannot have made is returned unchanged."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_DANGEROUS) else cell


def is_rows_export(names: Collection[str]) -> bool:
    """Whether a table with these columns is the Error desk's export of rows, whose cells are :func:`neutral`, even if
    some of its columns were deleted."""
    return "gold" in names and not {"held_back", "A.right", "A.p"}.isdisjoint(names)


def csv_text(head: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV with Unix line ends; texts are neutralised, numbers unchanged."""
    lines: list[str] = []
    # The csv module quotes cells with characters of its line terminator: with "\r\n" also a bare carriage return, which
    # a spreadsheet would treat as the end of the row.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    for row in (head, *rows):
        writer.writerow([neutral(cell) if isinstance(cell, str) else cell for cell in row])
    return "".join(f"{line.removesuffix(writer.dialect.lineterminator)}\n" for line in lines)
