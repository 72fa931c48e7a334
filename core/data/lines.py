"""From a file's bytes to numbered lines of text: gzip, byte order mark, CRLF and bytes that are not UTF-8.

Also what readers of several layouts ask of lines: their JSON objects, and whether most of them look alike.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from core.data.dataset import DataError, Problem

Line = tuple[int, str]
"""Number of the line, from 1, and its text without the line end."""

HEAD = 20
"""Lines looked at to recognise a layout: some may be broken."""


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


def objects(lines: list[Line], problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON object of every line; lines that hold none are added to ``problems``."""
    for number, text in lines:
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
