"""Zip files from users, read in pieces: the sizes in their directory may be wrong."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

MOST_MEMBERS = 1000
_LARGEST_DIRECTORY = 1 << 20
"""Size limit of the directory in bytes: Python parses all of it before it tells the number of members."""
_PIECE = 1 << 16
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The methods that Python decompresses in pieces: 4 kB of bzip2 may become gigabytes at once."""


class TooLargeError(ValueError):
    """The zip file decompresses to more than it may, or has too many members."""


class _InPieces:
    """A file that refuses to read a large directory at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int = -1) -> bytes:
        if size > _LARGEST_DIRECTORY:
            raise TooLargeError("too many members")
        return self._file.read(size)


def pieces(file: IO[bytes], largest: int) -> Iterator[tuple[str, bytes]]:
    """Each member's name with the pieces of its content, in order; an empty piece begins a member. Folders are skipped.
    Raises TooLargeError for more than ``largest`` bytes in all or ``MOST_MEMBERS`` members, and ValueError for a
    damaged or encrypted zip file and for unusual compression."""
    left = largest
    try:
        with zipfile.ZipFile(_InPieces(file)) as archive:  # type: ignore[call-overload]
            members = archive.infolist()
            if len(members) > MOST_MEMBERS or sum(member.file_size for member in members) > largest:
                raise TooLargeError("too many members, or too large ones")
            for member in members:
                if member.is_dir():
                    continue
                if member.compress_type not in _METHODS:
                    raise ValueError("unusual compression")
                yield member.filename, b""
                with archive.open(member) as content:
                    while piece := content.read(_PIECE):
                        left -= len(piece)
                        if left < 0:
                            raise TooLargeError("larger than it says")
                        yield member.filename, piece
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise ValueError("not a readable zip file") from error
