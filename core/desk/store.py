"""Runs that are kept: a file for each checkpoint's part, by the checksums of data file and checkpoint, and beside them
one that says in which order the checkpoints of a data file stand."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.data import Dataset
from core.desk.folders import desk_folder
from core.desk.run import Run, RunHeader, load, read_header, save
from core.errors import DeskError
from core.files import json_text, make_folder, read_json, write_whole

DIGITS = 16
"""Hexadecimal digits of a checksum in a name."""


def short(checksum: str) -> str:
    """A checksum as names of runs and addresses have it."""
    return checksum[:DIGITS]


def _path(name: str, folder: Path | None = None) -> Path:
    return (folder or desk_folder()) / "runs" / name


def _part(file: str, checkpoint: str, folder: Path | None = None) -> Path:
    """Of the run of a file's and a checkpoint's checksum. Raises DeskError for what is no checksum."""
    for checksum in (file, checkpoint):
        if not re.fullmatch(r"[0-9a-f]{16,64}", checksum):
            raise DeskError(f"{checksum[:40]!r} is no checksum of a file or a checkpoint: choose a run from the list")
    return _path(f"{short(file)}-{short(checkpoint)}.parquet", folder)


def keep(run: Run, folder: Path | None = None) -> None:
    """Store a run, each of its models by itself, in the desk's folder or another one. Raises FileError where the
    operating system refuses."""
    for model in run.models:
        path = _part(run.dataset.sha256, model.sha256, folder)
        make_folder(path.parent)
        save(run.with_models((model,)), path)
    put_first(run.dataset.sha256, [model.sha256 for model in run.models], folder)


def put_first(file: str, checkpoints: Sequence[str], folder: Path | None = None) -> None:
    """Let these checkpoints, in this order, stand before all others of the file's: those of its last run. Raises
    FileError where the operating system refuses."""
    first = [short(checkpoint) for checkpoint in checkpoints]
    others = [checkpoint for checkpoint in _order(file, folder) if checkpoint not in first]
    order = json_text({"models": [*first, *others]}, indent=None)
    write_whole(_path(f"{short(file)}.json", folder), order)


def _order(file: str, folder: Path | None = None) -> dict[str, int]:
    """The places of a file's checkpoints (beginnings of their checksums) in its runs, from 0: A first. Parts that no
    order names come last, as they were written."""
    try:
        known = read_json(_path(f"{short(file)}.json", folder))
        named = [name for name in known["models"] if isinstance(name, str)]
    except (OSError, ValueError, KeyError, TypeError):
        named = []
    parts = sorted(_path("", folder).glob(f"{short(file)}-*.parquet"), key=lambda path: path.stat().st_mtime_ns)
    names = dict.fromkeys([*named, *(path.stem.partition("-")[2] for path in parts)])
    return {name: place for place, name in enumerate(names)}


def stored(dataset: Dataset, checkpoint_sha256: str) -> bool:
    """Whether a run of this file by this checkpoint is kept."""
    return _part(dataset.sha256, checkpoint_sha256).is_file()


def open_run(file: str, checkpoints: Sequence[str]) -> Run:
    """The kept run of these checksums, its models in this order. Parts may call the labels by different names: those
    of the file's last run hold, in whatever order they are asked for. Raises DeskError where a part is not there."""
    if not checkpoints:
        raise DeskError("a run needs a checkpoint: choose one to four")
    parts = {short(checkpoint): load(_part(file, checkpoint)) for checkpoint in checkpoints}
    places = _order(file)
    last = parts[min(parts, key=lambda checkpoint: places.get(checkpoint, len(places)))]
    return last.with_models(tuple(parts[short(checkpoint)].models[0] for checkpoint in checkpoints))


def written(file: str, checkpoints: Sequence[str]) -> tuple[int, ...]:
    """When the kept runs of these checksums and their order were written, in nanoseconds; a run is written again when
    its labels get other names. Raises DeskError where one is not there."""
    order = _path(f"{short(file)}.json")
    try:
        times = [_part(file, checkpoint).stat().st_mtime_ns for checkpoint in checkpoints]
        return (*times, order.stat().st_mtime_ns if order.is_file() else 0)
    except FileNotFoundError:
        raise DeskError("there is no such run: predict the file again") from None


def runs() -> list[RunHeader]:
    """One of each data set's runs, those used last first, the models of one file together in the order of its runs."""
    try:
        paths = sorted((desk_folder() / "runs").glob("*.parquet"), key=lambda path: -path.stat().st_mtime)
    except OSError:
        return []
    by_file: dict[str, list[RunHeader]] = {}
    for path in paths:
        with contextlib.suppress(DeskError, OSError):
            header = _header(path, path.stat().st_mtime_ns)
            by_file.setdefault(header.sha256, []).append(header)
    merged = []
    for file, headers in by_file.items():
        places = _order(file)
        models = sorted(
            (model for header in headers for model in header.models),
            key=lambda model: places.get(short(model.sha256), len(places)),
        )
        merged.append(replace(headers[0], models=tuple(models)))
    return merged


@functools.lru_cache(maxsize=1000)
def _header(path: Path, changed: int) -> RunHeader:
    """What a run's file said of itself when it was ``changed``: a page asks with every answer."""
    return read_header(path)
