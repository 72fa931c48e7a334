"""The first sheet of an Excel workbook (.xlsx) as lines of CSV for the table readers."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Iterator
from typing import IO

from core.archives import TooLargeError, pieces
from core.data.dataset import DataError

_MOST_ROWS = 1_048_576
"""Excel's limit for a sheet; a damaged file may have larger row numbers."""


def rows_as_csv(name: str, file: IO[bytes], largest: int, notes: list[str]) -> Iterator[bytes]:
    """One line per row of the first sheet, with every cell quoted; an empty line for an empty row. ``notes`` receives a
    sentence if there are further sheets. Raises DataError for another kind of zip file, a damaged one, and one that
    decompresses to more than ``largest`` bytes."""
    content = file.read(largest + 1)
    try:
        # openpyxl would trust the stated sizes.
        parts = dict.fromkeys(part for part, _ in pieces(io.BytesIO(content), largest))
    except TooLargeError:
        raise DataError(f"{name} holds more than {largest / 1e6:,.0f} MB of text; divide it") from None
    except (OSError, ValueError):
        raise DataError(f"{name} is a damaged zip file or workbook; download or save it again") from None
    if "xl/workbook.xml" not in parts:
        inside = ", ".join(list(parts)[:5])
        raise DataError(f"{name} is a zip file ({inside[:200]}), not an .xlsx workbook; unpack it and give one file")
    yield from _rows(name, io.BytesIO(content), notes)


def _rows(name: str, content: IO[bytes], notes: list[str]) -> Iterator[bytes]:
    import openpyxl  # imported here, so that other files need no openpyxl

    try:
        book = openpyxl.load_workbook(content, read_only=True, data_only=True)
        sheets = book.worksheets
        if len(sheets) > 1:
            notes.append(f"only the first of {len(sheets)} sheets, “{sheets[0].title}”, was read")
        sheet = sheets[0]
        sheet.reset_dimensions()  # some programs write wrong dimensions
        width = 0
        for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
            if number > _MOST_ROWS:
                raise DataError(f"{name} numbers its rows beyond {_MOST_ROWS:,}; save it as CSV")
            width = width or len(row)  # trailing empty cells may be missing
            yield _line([as_text(value) for value in (*row, *[None] * (width - len(row)))])
    except DataError:
        raise
    except Exception as error:  # openpyxl may raise anything while parsing a damaged workbook
        raise DataError(f"{name} is a damaged workbook ({type(error).__name__}); save it again, or as CSV") from None


def _line(cells: list[str]) -> bytes:
    if not any(cells):
        return b"\n"
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(cells)
    return out.getvalue().encode("utf-8", "replace")


def as_text(value: object) -> str:
    """A cell's value as displayed by a spreadsheet: 1 for 1.0, nothing for an empty cell."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time.min:
        return str(value.date())
    return str(value).replace("\r\n", "\n").replace("_x000D_", "")
