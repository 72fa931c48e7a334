"""From a file's bytes to numbered lines of text: gzip, byte order mark, CRLF and bytes that are not UTF-8.

A small file can hold a large one, so that all sizes are bounded while it is read, line by line. Also what readers of
several layouts ask of lines: their JSON objects, and whether most of them look alike.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from core.data.dataset import DataError, Problem

Line = tuple[int, str]
"""Number of the line, from 1, and its text without the line end."""

HEAD = 20
"""Lines looked at to recognise a layout: some may be broken."""

LARGEST = 1 << 30
"""Bytes that a packed file may hold; one that is not packed may hold what it takes on the disk."""
LONGEST_LINE = 1 << 24
"""Bytes of a line."""
MOST_LINES = 5_000_000
MOST_VALUES = 1_000_000
"""Values of a line's JSON: of two bytes each, they take fifty times that in memory."""


def read_lines(path: Path, largest: int = LARGEST) -> tuple[list[Line], list[Problem], str]:
    """Lines of a (gzipped) text file, one problem for every line that is not UTF-8, and the SHA-256 of its bytes.

    A byte order mark and carriage returns at line ends are taken away; lines of only spaces are left out.
    Raises DataError when the file cannot be read, or unpacks to more than ``largest`` bytes.
    """
    lines: list[Line] = []
    problems: list[Problem] = []
    try:
        with path.open("rb", buffering=0) as file:
            source = _Checksummed(file)
            # What is not packed takes no more room than its file does.
            raws = _raw_lines(path, source, max(largest, path.stat().st_size))
            for number, raw in enumerate(raws, start=1):
                try:
                    text = raw.decode("utf-8")
                except UnicodeDecodeError as error:
                    problems.append(Problem(number, f"not valid UTF-8 (byte {error.start + 1} of the line)"))
                    continue
                if text.strip():
                    lines.append((number, text))
    except FileNotFoundError:
        raise DataError(f"{path} does not exist; give the path of a data file (see --help for the layouts)") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; give the path of one data file in it") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DataError(f"{path} is a damaged gzip file; download it again") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); check its permissions") from None
    return lines, problems, source.digest.hexdigest()


class _Checksummed(io.RawIOBase):
    """A file's bytes, with the checksum of those that were read: a pipe can be read only once."""

    def __init__(self, file: io.RawIOBase | IO[bytes]) -> None:
        self._file = cast(io.RawIOBase, file)
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        size = self._file.readinto(buffer)
        self.digest.update(memoryview(buffer)[: size or 0])
        return size


def _raw_lines(path: Path, source: _Checksummed, most: int) -> Iterator[bytes]:
    """The lines of a (gzipped) file without their ends. Raises DataError beyond the bounds."""
    packed = io.BufferedReader(source)
    unpacked = gzip.GzipFile(fileobj=packed) if packed.peek(2)[:2] == b"\x1f\x8b" else packed
    number, left = 0, most
    while raw := unpacked.readline(LONGEST_LINE + 1):
        number, left = number + 1, left - len(raw)
        if left < 0 or number > MOST_LINES:
            what = f"{MOST_LINES:,} lines" if left >= 0 else f"{most / 1e6:,.0f} MB of text"
            raise DataError(f"{path.name} holds more than {what}; divide it")
        if len(raw) > LONGEST_LINE:
            raise DataError(
                f"line {number} of {path.name} has more than {LONGEST_LINE:,} bytes; give a file with a row a line"
            )
        if number == 1:
            if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise DataError(f"{path} is UTF-16 text; save it as UTF-8 and try again")
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        yield raw.removesuffix(b"\n").removesuffix(b"\r")


def says_something(text: str) -> bool:
    """Whether a side has a character that becomes a token: not only spaces, control or zero-width characters."""
    return any(c.isprintable() and not c.isspace() for c in text)


def objects(lines: list[Line], problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON object of every line; lines that hold none are added to ``problems``."""
    for number, text in lines:
        if len(text) > MOST_VALUES and sum(map(text.count, "[{,")) > MOST_VALUES:
            problems.append(Problem(number, f"more than {MOST_VALUES:,} values"))
            continue
        try:
            record = json.loads(text)
            if "\\u" in text or text.count("[") + text.count("{") > 100:
                # Only what can be written again is of use; the brackets are room for those who write it.
                json.dumps([[[[[[record]]]]]], ensure_ascii=False).encode()
        except UnicodeEncodeError:
            problems.append(Problem(number, "a \\u escape that is half of a character (a lone surrogate)"))
            continue
        except (ValueError, RecursionError):
            problems.append(Problem(number, "not a JSON object (cut off?)"))
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            problems.append(Problem(number, "not a JSON object"))


def mostly(head: list[Line], fits: Callable[[str], bool]) -> bool:
    """Whether more than half of the first lines fit: how a layout without a header is recognised."""
    return 2 * sum(fits(text) for _, text in head) > len(head)
