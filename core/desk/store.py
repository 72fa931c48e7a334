"""Runs that are kept, by the checksums of their file and their checkpoint."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.data import Dataset
from core.desk.folders import desk_folder
from core.desk.run import Run, about, load, save
from core.errors import DeskError

DIGITS = 16
"""Hexadecimal digits of a checksum in a name."""


def short(checksum: str) -> str:
    """A checksum as names of runs and addresses have it."""
    return checksum[:DIGITS]


def _path(file: str, checkpoint: str, folder: Path | None = None) -> Path:
    """Of the run of a file's and a checkpoint's checksum. Raises DeskError for what is no checksum."""
    for checksum in (file, checkpoint):
        if not re.fullmatch(r"[0-9a-f]{16,64}", checksum):
            raise DeskError(f"{checksum[:40]!r} is no checksum of a file or a checkpoint: choose a run from the list")
    return (folder or desk_folder()) / "runs" / f"{short(file)}-{short(checkpoint)}.parquet"


def keep(run: Run, folder: Path | None = None) -> None:
    """Store a run, each of its models by itself, in the desk's folder or another one. Raises FileError where the
    operating system refuses."""
    for model in run.models:
        path = _path(run.dataset.sha256, model.sha256, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        save(run.with_models((model,)), path)


def stored(dataset: Dataset, checkpoint_sha256: str) -> bool:
    """Whether a run of this file by this checkpoint is kept."""
    return _path(dataset.sha256, checkpoint_sha256).is_file()


def open_run(file: str, checkpoints: Sequence[str]) -> Run:
    """The kept run of these checksums. Raises DeskError where one of them is not there."""
    if not checkpoints:
        raise DeskError("a run needs a checkpoint: choose one to four")
    parts = [load(_path(file, checkpoint)) for checkpoint in checkpoints]
    return parts[0].with_models(tuple(model for part in parts for model in part.models))


def written(file: str, checkpoints: Sequence[str]) -> tuple[int, ...]:
    """When the kept runs of these checksums were written, in nanoseconds; a run is written again when its labels get
    other names. Raises DeskError where one is not there."""
    try:
        return tuple(_path(file, checkpoint).stat().st_mtime_ns for checkpoint in checkpoints)
    except FileNotFoundError:
        raise DeskError("there is no such run: predict the file again") from None


def runs() -> list[dict[str, Any]]:
    """What each data set's runs say of themselves (see :func:`core.desk.run.about`), those used last first, the models
    of one file together."""
    try:
        paths = sorted((desk_folder() / "runs").glob("*.parquet"), key=lambda path: -path.stat().st_mtime)
    except OSError:
        return []
    by_file: dict[str, dict[str, Any]] = {}
    for path in paths:
        try:
            known = _known(path, path.stat().st_mtime_ns)
            models = by_file.setdefault(str(known["sha256"]), known | {"models": []})["models"]
            models.extend(known["models"])
        except (DeskError, KeyError, OSError):
            continue
    return list(by_file.values())


@functools.lru_cache(maxsize=1000)
def _known(path: Path, changed: int) -> dict[str, Any]:
    """What a run's file said of itself when it was ``changed``: a page asks with every answer."""
    return about(path)


def forget(file: str, checkpoint: str) -> None:
    """Delete a kept run; tags and notes of its rows stay."""
    _path(file, checkpoint).unlink(missing_ok=True)
