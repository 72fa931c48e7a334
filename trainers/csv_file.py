"""Tables of rows as CSV files."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.files import whole_file


def write_rows(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write a line a row under the names of the first row's columns, all or nothing."""
    with whole_file(path) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
