"""Tables as CSV files and as terminal text, and figures as JSON. (Markdown: trainers.paper.)"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.files import whole_file

Rows = Sequence[Mapping[str, object]]
"""Cells by column; the first row determines the column order."""


def write_rows(path: Path, rows: Rows) -> None:
    """Writes a header and one line per row, atomically."""
    with whole_file(path) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file; empty if it does not exist or is not CSV."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error):
        return []


def told(record: object, text: str, as_json: bool) -> str:
    """A command's output: all figures as JSON with --json, else the text."""
    return json.dumps(record, indent=1, ensure_ascii=False) if as_json else text


_NUMBER = re.compile(r"[-−+<>≤]?\s?[\d.]|–$")
"""The beginning of a number, possibly followed by an interval, or a dash for a missing one."""


def text(rows: Rows) -> str:
    """A text table: columns of words left-aligned, columns of numbers right-aligned, a dash for missing cells."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = [[name, *(str(row.get(name, "–")) for row in rows)] for name in names]
    widths = [max(map(len, column)) for column in columns]
    signs = [">" if all(map(_NUMBER.match, column[1:])) else "<" for column in columns]
    lines = zip(*columns, strict=True)
    return "\n".join(
        "  ".join(f"{cell:{sign}{width}}" for cell, sign, width in zip(line, signs, widths, strict=True)).rstrip()
        for line in lines
    )
