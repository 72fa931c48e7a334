"""Where the desk keeps what is its own, and the folder that data files may come from."""

from __future__ import annotations

import os
from pathlib import Path

from core.errors import DeskError

SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".json", ".gz", ".parquet")
"""Endings of the files that are offered."""
MOST_FILES = 1000


def desk_folder() -> Path:
    """Where the desk keeps runs and its database: ``PAIRLENS_DESK``, else pairlens in the user's data folder (XDG)."""
    own = os.environ.get("PAIRLENS_DESK")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "pairlens"


def datasets_folder() -> Path | None:
    """The folder that ``PAIRLENS_DATASETS`` names, None without it."""
    name = os.environ.get("PAIRLENS_DATASETS")
    return Path(name) if name else None


def data_files() -> list[str]:
    """Files under that folder, as paths below it; at most ``MOST_FILES``, and none that a link leads to outside."""
    folder = datasets_folder()
    if folder is None or not folder.is_dir():
        return []
    names = []
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(place) / name
            if name.endswith(SUFFIXES) and path.resolve().is_relative_to(folder.resolve()):
                names.append(path.relative_to(folder).as_posix())
            if len(names) == MOST_FILES:
                return names
    return names


def data_file(name: str) -> Path:
    """A file of that folder. Raises DeskError for one outside of it, or that is not there."""
    folder = datasets_folder()
    if folder is None:
        raise DeskError("no folder of data sets is named: set PAIRLENS_DATASETS, or upload the file")
    path = (folder / name.replace("\0", "")).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise DeskError(f"{name[:80]!r} lies outside the folder of data sets: choose a file from the list")
    if not path.is_file():
        raise DeskError(f"there is no file {name[:80]!r} in the folder of data sets: choose one from the list")
    return path
