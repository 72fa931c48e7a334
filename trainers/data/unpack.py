"""Extracts files from an untrusted zip: only those named, and no more bytes than allowed."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

from core.files import whole_file
from trainers.data.download import DownloadError
from trainers.data.registry import Archive

_PIECE = 1 << 20


def unpack(path: Path, archive: Archive, folder: Path) -> None:
    """Writes the archive's files to the data folder, each atomically. Paths inside the zip have no effect: a file goes
    where the registry says. Raises DownloadError for a zip that is damaged, lacks a file or has one that is too large,
    and FileError if the disk is full."""
    try:
        with zipfile.ZipFile(path) as packed:
            for name, target in archive.files.items():
                place = folder / target
                if place.is_file():
                    continue
                place.parent.mkdir(parents=True, exist_ok=True)
                with whole_file(place) as scratch:
                    _take(packed, name, scratch, archive.largest)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DownloadError(
            f"{path.name} is not a readable zip ({error}); delete it and run the command again, or see the page of the "
            "data set"
        ) from None


def _take(packed: zipfile.ZipFile, name: str, out: Path, largest: int) -> None:
    try:
        member = packed.getinfo(name)
    except KeyError:
        raise DownloadError(f"{Path(packed.filename or '').name} has no {name}; its layout has changed") from None
    size = 0
    with packed.open(member) as source, out.open("wb") as file:
        while piece := source.read(_PIECE):
            size += len(piece)  # counted, because the size stated in the zip may be false
            if size > largest:
                raise DownloadError(f"{name} has more than the {largest:,} bytes that it may have; it is not kept")
            file.write(piece)
