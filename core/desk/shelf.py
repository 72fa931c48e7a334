"""Where runs and notes of jobs are kept, as whole files by name: in a folder, or in a store that servers share
(``PAIRLENS_RUNS``, an address that fsspec reads, such as s3://BUCKET/FOLDER)."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any, cast

from core.desk.folders import desk_folder
from core.errors import DeskError
from core.files import make_folder, whole_file

SETTING = "PAIRLENS_RUNS"
_OPTIONS = {"s3": {"config_kwargs": {"connect_timeout": 5, "read_timeout": 30, "retries": {"max_attempts": 2}}}}
"""By protocol: how long a page waits for a store that does not answer."""
_TIMES = "LastModified", "last_modified", "mtime", "updated", "created"
"""What stores call the time of an object's last change."""


@dataclass(frozen=True)
class Kept:
    """A file that is there. ``name``: FOLDER/FILE; ``changed``: when it was written, in nanoseconds; ``version``:
    another one for another content."""

    name: str
    changed: int
    version: str


@dataclass(frozen=True)
class Folder:
    """Files of a folder, by their names. Folder and store raise FileNotFoundError for a file that is not there, where
    they need it, and MendableError where they cannot be used."""

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

    def opened(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """It for reading, of which only what is read is fetched."""
        return (self.path / name).open("rb")

    def local(self, name: str) -> AbstractContextManager[Path]:
        """All of it as a file of this machine, while the block lasts."""
        return nullcontext(self.path / name)

    def writing(self, name: str) -> AbstractContextManager[Path]:
        """A path to write to, of the same file name; what stands there when the block ends takes the file's place."""
        make_folder((self.path / name).parent)
        return whole_file(self.path / name)

    def remove(self, name: str) -> None:
        """Take it away, if it is there."""
        (self.path / name).unlink(missing_ok=True)


@dataclass(frozen=True)
class Store:
    """The same of objects of a store, below an address of fsspec. A store that writes objects whole, as S3 does, never
    shows half of one; of another kind such a run counts as damaged, and is predicted again."""

    files: Any
    """An fsspec.AbstractFileSystem."""
    root: str

    def listed(self, folder: str, start: str = "") -> list[Kept]:
        with _as_desk_error():
            self.files.invalidate_cache()  # another server writes there
            try:
                infos = self.files.ls(f"{self.root}/{folder}", detail=True)
            except FileNotFoundError:
                return []
        listed = [_kept(folder, info) for info in infos if info["type"] == "file"]
        own = [kept for kept in listed if kept.name.startswith(f"{folder}/{start}")]
        return sorted(own, key=lambda kept: kept.name)

    def kept(self, name: str) -> Kept | None:
        with _as_desk_error():
            self.files.invalidate_cache()
            try:
                return _kept(name.rpartition("/")[0], self.files.info(f"{self.root}/{name}"))
            except FileNotFoundError:
                return None

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        with _as_desk_error(), self.files.open(f"{self.root}/{name}", "rb") as file:
            yield cast(IO[bytes], file)

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / Path(name).name
            with _as_desk_error():
                self.files.get_file(f"{self.root}/{name}", str(path))
            yield path

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / Path(name).name
            yield path
            try:
                with _as_desk_error():
                    self.files.put_file(str(path), f"{self.root}/{name}")
            except FileNotFoundError:
                raise DeskError(f"the bucket or folder that {SETTING} names is not there: make it first") from None

    def remove(self, name: str) -> None:
        with _as_desk_error():
            self.files.invalidate_cache()
            if self.files.exists(f"{self.root}/{name}"):
                self.files.rm_file(f"{self.root}/{name}")


Shelf = Folder | Store


def of_desk(folder: Path | None = None) -> Shelf:
    """The shelf of the desk's runs: the folder, else what ``PAIRLENS_RUNS`` names, else the desk's own folder. Raises
    DeskError for an address that cannot be used."""
    place = os.environ.get(SETTING)
    if folder or not place:
        return Folder(folder or desk_folder())
    protocol, sign, path = place.partition("://")
    if not sign:
        return Folder(Path(place))
    if protocol in ("file", "local"):
        return Folder(Path(path))
    from fsspec.core import url_to_fs

    with _as_desk_error():
        files, root = url_to_fs(place, **_OPTIONS.get(protocol, {}))
    return Store(files, root.rstrip("/"))


def _kept(folder: str, info: dict[str, Any]) -> Kept:
    time = next((info[name] for name in _TIMES if info.get(name)), 0)
    if isinstance(time, datetime):
        time = time.timestamp()
    if not isinstance(time, int | float):
        time = 0
    known = info.get("ETag"), info.get("size"), time
    version = hashlib.sha256(repr(known).encode()).hexdigest()[:16]
    return Kept(f"{folder}/{info['name'].rpartition('/')[2]}", int(time * 1e9), version)


@contextmanager
def _as_desk_error() -> Iterator[None]:
    """Raise whatever a store's library raises as a DeskError; the address, which may hold a password, stays out."""
    try:
        yield
    except (FileNotFoundError, DeskError):
        raise
    except ImportError as error:
        raise DeskError(f"{SETTING} needs a library ({error}): install it, or name a folder") from None
    except Exception as error:
        why = type(error).__name__ if not isinstance(error, ValueError) else str(error).splitlines()[0][:200]
        raise DeskError(
            f"the store of runs cannot be used ({why}): check the address in {SETTING}, and that its server runs"
        ) from error
