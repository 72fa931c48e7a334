"""Turns a file's bytes into numbered lines of text: gzip, zstd, encodings, byte order marks, line ends. A row of a
Parquet file becomes a line of JSON with its columns, a row of a workbook a line of CSV.

A small file can decompress to a huge one, so all sizes are checked while lines are read. Also has functions that
several readers share: parsing JSON objects, and testing whether most lines fit a layout.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from core.data.dataset import DataError, Problem
from core.data.workbook import rows_as_csv
from core.json_types import JsonObject
from core.wording import counted

Line = tuple[int, str]
"""Line number, from 1, and the text without the line end."""

HEAD = 20
"""Number of lines examined to recognise a layout, because some may be broken."""

LARGEST = 1 << 30
"""Size limit of a decompressed file in bytes; uncompressed files may be as large as they are on disk."""
LONGEST_LINE = 1 << 24
"""Size limit of a line in bytes."""
_AT_ONCE = 256
"""Rows decoded at once; few, because their texts may be long."""
MOST_LINES = 5_000_000
"""The limit for files whose lines are all held at once."""
MOST_VALUES = 1_000_000
"""Maximum number of values in a line of JSON: values of two bytes each take fifty times as much memory."""


def lines_of(
    path: Path,
    problems: list[Problem],
    digest: hashlib._Hash,
    largest: int = LARGEST,
    most: int | None = None,
    notes: list[str] | None = None,
) -> Iterator[Line]:
    """Lines of a text file (compressed or not), or the rows of a Parquet file or workbook, as an iterator. ``problems``
    receives one problem for every line that is not text, ``digest`` its bytes, ``notes`` a sentence if the file
    is not read as UTF-8, or not in full.

    Byte order marks and line ends are removed; blank lines are skipped. Raises DataError if the file cannot be read,
    decompresses to more than ``largest`` bytes or has more than ``most`` lines.
    """
    packing, notes = "", [] if notes is None else notes
    try:
        with path.open("rb", buffering=0) as file:
            packed = io.BufferedReader(_Checksummed(file, digest), _PEEKED)
            packing = _packing(packed)
            # Uncompressed data cannot be larger than the file itself.
            largest = max(largest, path.stat().st_size)
            raws = _raws(path, packed, packing, largest, notes)
            yield from _decoded(_bounded(path, raws, largest, most), problems, notes)
    except OSError as error:
        if packing and error.errno is None:  # raised by Arrow
            raise DataError(f"{path.name} is a damaged {packing} file; download it again") from None
        raise _refused(path, error) from None


def _raws(path: Path, packed: io.BufferedReader[Any], packing: str, largest: int, notes: list[str]) -> Iterator[bytes]:
    """The lines of a file of any kind, as bytes. Raises DataError for a file without text lines."""
    if packing == "Parquet":
        return _parquet_rows(path, packed)
    unpacked = _unpacked(packed, packing)
    inner = _packing(unpacked)
    if inner == "zip":
        return rows_as_csv(path.name, unpacked, largest, notes)
    if inner:  # a compressed file inside another, or a file without text
        raise DataError(
            f"{path.name} is {_NOT_READ.get(inner, f'{inner} within {packing}')}; give CSV, TSV, JSON lines, Parquet "
            "or an .xlsx workbook"
        )
    start = unpacked.peek(1)[:1000]
    if not start.startswith(_UTF_16) and 10 * start.count(0) > len(start):
        raise DataError(f"{path.name} is not text, or UTF-16 without its mark; save it as UTF-8 text or as .xlsx")
    return _raw_lines(unpacked)


def _decoded(raws: Iterator[bytes], problems: list[Problem], notes: list[str]) -> Iterator[Line]:
    """The lines as text. Bytes that are not UTF-8 are read as Windows-1252, the encoding of older spreadsheets, unless
    the file has shown signs of UTF-8 before."""
    utf8, western = False, 0
    for number, raw in enumerate(raws, start=1):
        if raw.startswith(codecs.BOM_UTF8):  # also in the middle, if files were concatenated
            raw, utf8 = raw.removeprefix(codecs.BOM_UTF8), True
        try:
            text = raw.decode("utf-8")
            utf8 = utf8 or not text.isascii()
        except UnicodeDecodeError as error:
            western_text = None if utf8 else _western(raw)
            if western_text is None:
                what = f"not valid UTF-8 (byte {error.start + 1} of the line); save the file as UTF-8"
                problems.append(Problem(number, what))
                continue
            text = western_text
            western += 1
        if number == 1 and _SEPARATOR.fullmatch(text):
            continue
        if "\0" in text:
            problems.append(Problem(number, "a NUL byte, which no text has"))
        elif text.strip():
            yield number, text
    if western:
        one = western == 1
        notes.append(
            f"{counted(western, 'line')} {'is' if one else 'are'} not UTF-8 and {'was' if one else 'were'} read as "
            "Windows-1252; save the file as UTF-8 if letters look wrong"
        )


_SEPARATOR = re.compile(r'"?sep=(.)"?\1*', re.IGNORECASE)
"""The first line by which Excel learns the delimiter of a CSV file."""


def _western(raw: bytes) -> str | None:
    """Bytes as Windows-1252; None if they are more likely in another alphabet: most letters in Western languages are
    ASCII."""
    if 3 * sum(byte > 127 for byte in raw) > len(raw):
        return None
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return None


def _refused(path: Path, error: OSError) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path} does not exist; give the path of a data file (see --help for the layouts)")
    if isinstance(error, IsADirectoryError):
        return DataError(f"{path.name} is a folder; give the path of one data file in it")
    return DataError(f"{path.name} cannot be read ({error.strerror}); check its permissions")


_PEEKED = 1 << 16
"""Bytes examined to determine the kind of a file."""
_BEGINNINGS = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PAR1": "Parquet",
    b"PK\x03\x04": "zip",
    b"\xd0\xcf\x11\xe0": "OLE",
    b"%PDF": "PDF",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"7z\xbc\xaf": "7z",
    b"Rar!": "RAR",
    b"ARROW1": "Arrow",
    b"SQLite format 3": "SQLite",
}
"""First bytes of files that are not plain text."""
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NOT_READ = {
    "OLE": "an old Excel workbook (.xls) or one with a password, which is not read",
    **{name: f"a {name} file, which is not read" for name in ("PDF", "bzip2", "7z", "SQLite")},
    **{name: f"an {name} file, which is not read" for name in ("xz", "RAR", "Arrow")},
}


def _packing(file: Any) -> str:
    """The kind of file, empty for plain lines; ``file`` must support peeking."""
    start = file.peek(16)
    return next((name for begin, name in _BEGINNINGS.items() if start.startswith(begin)), "")


def _unpacked(packed: io.BufferedReader[Any], packing: str) -> io.BufferedReader[Any]:
    if packing not in ("gzip", "zstd"):
        return packed
    import pyarrow as pa  # imported here, so that other files need no Arrow

    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(packed, mode="r"), packing))


class _Checksummed(io.RawIOBase):
    """A file's bytes with a running checksum, because a pipe can be read only once. Carriage returns of a plain text do
    not count, so that a copy with another system's line ends is the same data set, with the same tags."""

    def __init__(self, file: io.RawIOBase | IO[bytes], digest: hashlib._Hash) -> None:
        self._file = cast(io.RawIOBase, file)
        self.digest = digest
        self._plain: bool | None = None
        """Whether the file is neither an archive nor compressed; None before the first bytes."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        size = self._file.readinto(buffer)
        read = bytes(memoryview(buffer)[: size or 0])
        if self._plain is None:
            self._plain = not read.startswith(tuple(_BEGINNINGS))
        self.digest.update(read.replace(b"\r", b"") if self._plain else read)
        return size


def checksum(path: Path) -> str:
    """The SHA-256 by which a data file is known (:class:`_Checksummed`). Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        reader = io.BufferedReader(_Checksummed(file, digest), _PEEKED)
        while reader.read(_PEEKED):
            pass
    return digest.hexdigest()


def _parquet_rows(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    """One line per row, read lazily; types that JSON lacks (dates) become text. The file's bytes are first read once
    through ``file``, for its checksum. Raises DataError for a damaged file and for one that cannot be read twice, such
    as a pipe."""
    import pyarrow as pa  # imported here, so that other files need no Arrow
    import pyarrow.parquet as pq

    if not path.is_file():
        raise DataError(f"{path.name} is a pipe, through which Parquet cannot be read; give a file")
    while file.read(1 << 20):
        pass
    try:
        with pq.ParquetFile(path) as table:
            for batch in table.iter_batches(_AT_ONCE):
                for row in batch.to_pylist():
                    yield json.dumps(row, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")
    except (pa.ArrowException, ValueError, OSError):
        raise DataError(f"{path.name} is a damaged Parquet file; download it again") from None


def _raw_lines(file: Any) -> Iterator[bytes]:
    """The lines including their ends. UTF-16 is converted to UTF-8; in a file without line feeds, lines end at carriage
    returns."""
    start, longest = file.peek(_PEEKED), LONGEST_LINE + 1
    if start.startswith(_UTF_16):
        with io.TextIOWrapper(file, "utf-16", "replace") as text:
            yield from (line.encode() for line in iter(lambda: text.readline(longest), ""))
    elif b"\r" in start[:-1] and b"\n" not in start:
        with io.TextIOWrapper(file, "latin-1") as text:  # any encoding that preserves every byte
            yield from (line.encode("latin-1") for line in iter(lambda: text.readline(longest), ""))
    else:
        yield from iter(lambda: file.readline(longest), b"")


def _bounded(path: Path, raws: Iterator[bytes], largest: int, most: int | None) -> Iterator[bytes]:
    """The lines without their ends. Raises DataError beyond the limits."""
    left = largest
    for number, raw in enumerate(raws, start=1):
        left -= len(raw)
        if left < 0 or (most is not None and number > most):
            what = f"{most:,} lines" if left >= 0 else f"{largest / 1e6:,.0f} MB of text"
            raise DataError(f"{path.name} holds more than {what}; divide it")
        if len(raw) > LONGEST_LINE:
            raise DataError(
                f"line {number} of {path.name} has more than {LONGEST_LINE:,} bytes; give a file with a row a line"
            )
        yield raw.removesuffix(b"\n").removesuffix(b"\r")


def says_something(text: str) -> bool:
    """Whether the text has a character that becomes a token, not only spaces, control or zero-width characters."""
    return any(c.isprintable() and not c.isspace() for c in text)


def objects(lines: Iterable[Line], problems: list[Problem]) -> Iterator[tuple[int, JsonObject]]:
    """The JSON object on every line; lines without one are added to ``problems``."""
    for number, text in lines:
        if len(text) > MOST_VALUES and sum(map(text.count, "[{,")) > MOST_VALUES:
            problems.append(Problem(number, f"more than {MOST_VALUES:,} values"))
            continue
        try:
            record = json.loads(text)
            if "\\u" in text or text.count("[") + text.count("{") > 100:
                # Checks that the object can be serialised again, inside as many brackets as callers may add.
                json.dumps([[[[[[record]]]]]], ensure_ascii=False).encode()
        except UnicodeEncodeError:
            problems.append(Problem(number, "a \\u escape with an unpaired surrogate"))
            continue
        except (ValueError, RecursionError):
            problems.append(Problem(number, "not a JSON object (cut off?)"))
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            problems.append(Problem(number, "not a JSON object"))
