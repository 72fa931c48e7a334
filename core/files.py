"""Reads and writes whole files and reports every problem in one sentence: JSON from any source, and results that
replace older ones only when complete."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from filelock import FileLock
from safetensors import SafetensorError

from core.errors import UserError


class FileError(UserError):
    """The file cannot be written; the message is one sentence with the remedy."""


def parse_json(text: str) -> Any:
    """Parses JSON text. Raises ValueError for text that is not JSON, that is nested too deeply for Python's parser, or
    that contains an unpaired surrogate, which can be neither displayed nor saved."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if "\\ud" in text.lower():
        json.dumps(value, ensure_ascii=False).encode()
    return value


LARGEST_JSON = 256 << 20
"""Size limit in bytes of any JSON file."""


def read_json(path: Path, largest: int = LARGEST_JSON) -> Any:
    """The value of a JSON file. Raises OSError, and ValueError as :func:`read_bounded` and :func:`parse_json` do."""
    return parse_json(read_bounded(path, largest).decode("utf-8"))


def read_bounded(path: Path, largest: int) -> bytes:
    """The contents of a regular file. Raises OSError, and ValueError for anything but a regular file (reading a FIFO
    would block, a device may never end) and for a file of more than ``largest`` bytes."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("is not a regular file")
    with path.open("rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"is larger than {largest >> 20} MB")
    return content


def read_yaml(path: Path) -> Any:
    """The value of a YAML file. Raises OSError, and ValueError with the line of a syntax error."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)  # eight times as fast as the default
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 1}" if where else ""
        raise ValueError(f"{path.name} is not readable YAML{line}") from None


def users_folder(kind: str, usual: str) -> Path:
    """PairLens's folder inside a user folder such as ``XDG_CACHE_HOME``; ``usual``: that folder's default location in
    the home folder."""
    return Path(os.environ.get(kind) or Path.home() / usual) / "pairlens"


def refusal(error: OSError) -> str:
    """An operating-system error as one sentence with the remedy."""
    what = f"{_short(error.filename)}: " if error.filename is not None else ""
    return f"{what}{error.strerror or error}; give another path, or fix its permissions and the disk's free space"


def make_folder(folder: Path) -> None:
    """Creates a folder and its missing parents. Raises FileError if the operating system refuses."""
    with _as_file_error(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path with the same name, for this writer only. When the block ends, the written file replaces
    ``path``; if it fails, ``path`` is unchanged. If several writers run at once, the last to finish wins. Raises
    FileError if the operating system refuses.

    Anything other than a regular file (``/dev/stdout``) is written directly.
    """
    with _as_file_error(path):
        target = path.resolve()
        if target.exists() and not target.is_file():
            yield target
            return
        with _scratch_folder(target.parent) as scratch:
            written = scratch / target.name
            yield written
            _sync(written)
            written.replace(target)


def write_whole(path: Path, text: str) -> None:
    """Writes a text file atomically (:func:`whole_file`)."""
    with whole_file(path) as scratch:
        scratch.write_text(text, encoding="utf-8")


def json_text(value: object, indent: int | None = 1) -> str:
    """Serialises a value as the text of a JSON file."""
    return json.dumps(value, ensure_ascii=False, indent=indent) + "\n"


@contextmanager
def whole_folder(folder: Path, last: str) -> Iterator[Path]:
    """Like :func:`whole_file` for several files: yields an empty folder whose files move to ``folder`` when the block
    ends, the one named ``last`` after the others. No file is replaced before all are on disk, and files from two
    writers never mix. Other files in ``folder`` stay."""
    new = not folder.exists()
    with _as_file_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with _scratch_folder(folder) as scratch:
                yield scratch
                files = sorted(scratch.iterdir(), key=lambda path: path.name == last)
                for path in files:
                    _sync(path)
                with one_at_a_time(folder):
                    for path in files:
                        path.replace(folder / path.name)
        except BaseException:
            if new:
                with contextlib.suppress(OSError):  # which it raises if there is anything in it
                    folder.rmdir()
            raise


_PATIENCE = 60
"""Seconds to wait for other writers: longer only if a disk hangs or does not support locks."""

_SCRATCH = ".unfinished-*.tmp"
"""Names of scratch folders. Each is locked; the system releases the lock when its writer ends for any reason."""


@contextmanager
def _scratch_folder(folder: Path) -> Iterator[Path]:
    """An empty folder inside ``folder`` (to move its files within one file system) for this writer only."""
    prefix, suffix = _SCRATCH.split("*")
    with one_at_a_time(folder):  # without its lock, a scratch folder would look like a killed writer's
        _remove_abandoned(folder)
        scratch = Path(tempfile.mkdtemp(prefix=prefix, suffix=suffix, dir=folder))
        alive = FileLock(scratch / "lock")
        alive.acquire()
    try:
        written = scratch / "files"
        written.mkdir()
        yield written
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        alive.release()


def _remove_abandoned(folder: Path) -> None:
    for scratch in folder.glob(_SCRATCH):
        with contextlib.suppress(OSError), FileLock(scratch / "lock", blocking=False):
            shutil.rmtree(scratch)


@contextmanager
def one_at_a_time(folder: Path, name: str = ".writing.lock") -> Iterator[None]:
    """A block that only one process or thread at a time can execute for ``folder``. Blocks with the same lock file
    ``name`` exclude each other. Raises filelock.Timeout after a minute."""
    lock = folder / name
    with FileLock(lock, timeout=_PATIENCE):
        try:
            yield
        finally:
            # A process that waited for the removed lock file finds it missing, and creates another.
            with contextlib.suppress(OSError):
                lock.unlink()


def _sync(path: Path) -> None:
    """Waits until a file is on disk: a full disk may only be reported now."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


@contextmanager
def _as_file_error(path: Path) -> Iterator[None]:
    """Re-raises operating-system and safetensors errors in this block as FileError."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        why = (isinstance(error, OSError) and error.strerror) or str(error).splitlines()[0]
        raise FileError(
            f"{_short(path)} cannot be written ({why}); free space on the disk or give another path"
        ) from error


def check_writable(path: Path, option: str, *, folder: bool = False) -> None:
    """Raises FileError if ``path``, given by this option, cannot be written, before any work is done. A ``folder`` may
    still have to be created; a file's folder must exist."""
    try:
        if folder:
            place = next(above for above in (path, *path.absolute().parents) if above.exists())
        elif path.is_dir():
            raise FileError(f"{option} {path} is a folder; give a file")
        elif not path.parent.exists():
            raise FileError(f"the folder of {option} {path} does not exist; make it first")
        elif path.exists() and not os.access(path, os.W_OK):
            raise FileError(f"{option} {path} is write-protected; give another file")
        else:
            place = path.parent
        if not place.is_dir():
            raise FileError(f"{option} {path} cannot be written to: {place} is a file; give another {option}")
        if path.exists() and not (path.is_file() or path.is_dir()):
            return
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise FileError(f"{option} {_short(path)} cannot be written ({error.strerror}); give another one") from error


def _short(path: Path | str) -> str:
    text = str(path)
    return text if len(text) <= 200 else f"{text[:200]}…"
