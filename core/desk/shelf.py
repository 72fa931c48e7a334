"""Where runs and notes of jobs are kept, as whole files by name: in the desk's folder, or in the one that
``PAIRLENS_RUNS`` names, which servers may share."""

from __future__ import annotations

import os
import stat
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from core.desk.folders import desk_folder
from core.errors import DeskError
from core.files import make_folder, whole_file

SETTING = "PAIRLENS_RUNS"


@dataclass(frozen=True)
class Kept:
    """A file that is there. ``name``: FOLDER/FILE; ``changed``: when it was written, in nanoseconds; ``version``:
    another one for another content."""

    name: str
    changed: int
    version: str


@dataclass(frozen=True)
class Shelf:
    """Files of a folder, by their names."""

    path: Path

    def listed(self, folder: str, start: str = "") -> list[Kept]:
        """Those of a folder whose names begin like this, by name."""
        found = sorted((self.path / folder).glob(f"{start}*"))
        return [kept for path in found if (kept := self.kept(f"{folder}/{path.name}"))]

    def kept(self, name: str) -> Kept | None:
        """One of them, None where it is not there."""
        path = self.path / name
        try:
            state = path.stat()
        except OSError:
            return None
        version = f"{state.st_mtime_ns} {state.st_ino}"  # an inode as well: two writes may fall into one tick
        return Kept(name, state.st_mtime_ns, version) if stat.S_ISREG(state.st_mode) else None

    def opened(self, name: str) -> IO[bytes]:
        """It for reading. Raises FileNotFoundError where it is not there."""
        return (self.path / name).open("rb")

    def writing(self, name: str) -> AbstractContextManager[Path]:
        """A path to write to, of the same file name; what stands there when the block ends takes the file's place."""
        make_folder((self.path / name).parent)
        return whole_file(self.path / name)

    def remove(self, name: str) -> None:
        """Take it away, if it is there."""
        (self.path / name).unlink(missing_ok=True)


def of_desk(folder: Path | None = None) -> Shelf:
    """The shelf of the desk's runs: the folder, else the one that ``PAIRLENS_RUNS`` names, else the desk's own. Raises
    DeskError for the address of a store, which may hold a password and stays out of the sentence."""
    place = os.environ.get(SETTING)
    if folder or not place:
        return Shelf(folder or desk_folder())
    protocol, sign, path = place.partition("://")
    if sign and protocol not in ("file", "local"):
        raise DeskError(f"{SETTING} names no folder: copy the runs from the bucket into one first (docs/server.md)")
    return Shelf(Path(path if sign else place))
