"""Where the desk keeps what is its own, and the folder that data files may come from."""

from __future__ import annotations

import os
from pathlib import Path

from core.errors import DeskError
from core.files import users_folder

SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".json", ".ndjson", ".xlsx", ".xml", ".gz", ".zst", ".parquet")
"""Endings of the files that are offered."""
MOST_FILES = 1000
NOTE = "_run.json"
"""In a folder of parts of a run, what they are parts of (:mod:`core.desk.parts`)."""


def desk_folder() -> Path:
    """Where the desk keeps runs and its database: ``PAIRLENS_DESK``, else pairlens in the user's data folder (XDG)."""
    own = os.environ.get("PAIRLENS_DESK")
    return Path(own) if own else users_folder("XDG_DATA_HOME", ".local/share")


def datasets_folder() -> Path | None:
    """The folder that ``PAIRLENS_DATASETS`` names, None without it."""
    name = os.environ.get("PAIRLENS_DATASETS")
    return Path(name) if name else None


def data_files() -> list[str]:
    """Files under that folder, and folders of parts of a run, as paths below it; at most ``MOST_FILES``, and none that
    a link leads to outside."""
    folder = datasets_folder()
    if folder is None or not folder.is_dir():
        return []
    names = []
    for place, folders, files in os.walk(folder):
        folders.sort()
        in_parts = [name for name in folders if is_folder_of_parts(Path(place) / name)]
        folders[:] = [name for name in folders if name not in in_parts]
        for name in sorted([*files, *in_parts]):
            path = Path(place) / name
            if (name in in_parts or name.endswith(SUFFIXES)) and path.resolve().is_relative_to(folder.resolve()):
                names.append(path.relative_to(folder).as_posix())
            if len(names) == MOST_FILES:
                return names
    return names


def is_folder_of_parts(path: Path) -> bool:
    """Whether a folder holds parts of a run."""
    return (path / NOTE).is_file()


def data_file(name: str) -> Path:
    """A file of that folder, or a folder of parts in it. Raises DeskError for one outside, or that is not there."""
    folder = datasets_folder()
    if folder is None:
        raise DeskError("no folder of data sets is named: set PAIRLENS_DATASETS, or upload the file")
    path = (folder / name.replace("\0", "")).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise DeskError(f"{name[:80]!r} lies outside the folder of data sets: choose a file from the list")
    if path.is_dir() and any(not child.resolve().is_relative_to(folder.resolve()) for child in path.iterdir()):
        raise DeskError(f"a link in {name[:80]!r} leads outside the folder of data sets: choose a file from the list")
    if not path.is_file() and not is_folder_of_parts(path):
        raise DeskError(f"there is no file {name[:80]!r} in the folder of data sets: choose one from the list")
    return path
