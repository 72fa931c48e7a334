"""From a file's bytes to numbered lines of text: gzip, byte order mark, CRLF and bytes that are not UTF-8."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from pathlib import Path

from trainers.data.records import DataError, Problem

Line = tuple[int, str]
"""Number of the line, from 1, and its text without the line end."""


def read_lines(path: Path) -> tuple[list[Line], list[Problem], str]:
    """Lines of a (gzipped) text file, one problem for every line that is not UTF-8, and the SHA-256 of its bytes.

    A byte order mark and carriage returns at line ends are taken away; lines of only spaces are left out.
    Raises DataError when the file cannot be read.
    """
    try:
        data = path.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except FileNotFoundError:
        raise DataError(f"{path} does not exist; give the path of a data file (see --help for the layouts)") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; give the path of one data file in it") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DataError(f"{path} is a damaged gzip file; download it again") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); check its permissions") from None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError(f"{path} is UTF-16 text; save it as UTF-8 and try again")
    lines: list[Line] = []
    problems: list[Problem] = []
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            text = raw.removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            problems.append(Problem(number, f"not valid UTF-8 (byte {error.start + 1} of the line)"))
            continue
        if text.strip():
            lines.append((number, text))
    return lines, problems, digest


def says_something(text: str) -> bool:
    """Whether a side has a character that becomes a token: not only spaces, control or zero-width characters."""
    return any(c.isprintable() and not c.isspace() for c in text)
