"""The desk's stored runs: one folder per data file, named by the file's checksum."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.data.lines import LARGEST
from core.desk import run_folder
from core.desk.earlier_runs import copy_run, header_of
from core.desk.folders import FACTS, shared_folder
from core.desk.run import Run, RunHeader
from core.errors import DeskError
from core.files import read_json

DIGITS = 16
"""Hexadecimal digits of a checksum in a name."""


def short(checksum: str) -> str:
    """A checksum as shown in names of runs and in links."""
    return checksum[:DIGITS]


def folder_of(file: str, desk: Path | None = None) -> Path:
    """The folder for runs of the data file with this checksum, in the desk's folder or in another ``desk``. Raises
    DeskError for anything but a checksum."""
    if not re.fullmatch(r"[0-9a-f]{16,64}", file):
        raise DeskError(f"{file[:40]!r} is not a checksum of a file: choose a run from the list")
    return _runs(desk) / short(file)


def _runs(desk: Path | None = None) -> Path:
    return (desk or shared_folder()) / "runs"


def keep(run: Run, desk: Path | None = None) -> None:
    """Stores a run, keeping other models' predictions for the same file. Raises UserError if the folder cannot be
    written."""
    run_folder.save(run, folder_of(run.dataset.sha256, desk))


def adopt(path: Path, largest: int = LARGEST) -> RunHeader:
    """Copies a run in any format to the desk. Raises DeskError if it cannot be read, or if its texts take more than
    ``largest`` bytes."""
    header = header_of(path)
    adopted, own = copy_run(path, folder_of(header.sha256), largest), {model.sha256 for model in header.models}
    return replace(adopted, models=tuple(model for model in adopted.models if model.sha256 in own))


def put_first(file: str, checkpoints: Sequence[str]) -> None:
    """Moves the models with these checksums, in this order, before the file's others."""
    folder = folder_of(file)
    known = {model.sha256: model for model in run_folder.read_header(folder).models}
    run_folder.reorder(folder, [known[checkpoint] for checkpoint in checkpoints])


def open_run(file: str, checkpoints: Sequence[str]) -> Run:
    """These checkpoints' predictions for a file, in this order; all are identified by checksum. Raises DeskError if
    they do not exist."""
    return run_folder.load(_existing(file), checkpoints)


def _existing(file: str) -> Path:
    folder = folder_of(file)
    if not run_folder.is_run(folder):
        _convert_earlier()
    if not run_folder.is_run(folder):
        raise DeskError("there is no such run: predict the file again")
    return folder


def written(file: str) -> str:
    """A text that changes whenever the runs of a file are written. Raises DeskError if there are none."""
    state = (_existing(file) / FACTS).stat()
    return f"{state.st_mtime_ns} {state.st_ino}"  # the inode too: two writes may fall into one clock tick


def runs() -> list[RunHeader]:
    """The runs of each data file, latest first. Raises DeskError if ``PAIRLENS_RUNS`` is not a folder."""
    _convert_earlier()
    found = []
    for facts in _runs().glob(f"*/{FACTS}"):
        with contextlib.suppress(DeskError, OSError):
            state = facts.stat()
            header = _header(facts.parent, state.st_mtime_ns, state.st_ino)
            if header.models:
                found.append((state.st_mtime_ns, header))
    return [header for _, header in sorted(found, key=lambda pair: -pair[0])]


@functools.lru_cache(maxsize=1000)
def _header(folder: Path, changed: int, inode: int) -> RunHeader:
    """The header in this version of its file, cached because pages read all headers on every run."""
    return run_folder.read_header(folder)


def _convert_earlier() -> None:
    """Converts the runs of earlier versions, which used one file per model, to folders; unreadable files are left
    alone."""
    with contextlib.suppress(DeskError, OSError):  # another server may be converting them at the same time
        by_time = sorted(_runs().glob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)
        for file in dict.fromkeys(path.stem.partition("-")[0] for path in by_time):
            paths = [path for path in by_time if path.stem.startswith(f"{file}-")]
            with contextlib.suppress(DeskError):  # a name that is not a run's
                _convert(file, tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths))


@functools.lru_cache(maxsize=1000)
def _convert(file: str, versions: tuple[tuple[Path, int, int], ...]) -> None:
    """Converts these files, each once per version. The rows of the last one are kept; a file with other rows is
    left alone. Models come in the order of their order file, then in the order of prediction."""
    folder, order = folder_of(file), _runs() / f"{file}.json"
    names = list[str]()
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        names = [name for name in read_json(order)["models"] if isinstance(name, str)]
    with contextlib.suppress(DeskError):
        copy_run(versions[-1][0], folder, same_texts=True)  # determines the rows that the others must have
    for path, *_ in versions:
        with contextlib.suppress(DeskError):
            copy_run(path, folder, same_texts=True)
            names.append(path.stem.partition("-")[2])
            path.unlink(missing_ok=True)
    if not run_folder.is_run(folder):
        return
    known = {short(model.sha256): model for model in run_folder.read_header(folder).models}
    run_folder.reorder(folder, [known[name] for name in dict.fromkeys(names) if name in known])
    order.unlink(missing_ok=True)
