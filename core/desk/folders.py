"""The folders of the desk and its runs, and the folder of data files to choose from."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from core.errors import DeskError
from core.files import users_folder

SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".json", ".ndjson", ".xlsx", ".xml", ".gz", ".zst", ".parquet")
"""Suffixes of the files offered."""
MOST_FILES = 1000
FACTS = "run.json"
"""The facts about a run, in its folder (:mod:`core.desk.run_folder`)."""
RUNS_SETTING, DESK_SETTING = "PAIRLENS_RUNS", "PAIRLENS_DESK"


def desk_folder() -> Path:
    """The folder of the desk's database: ``PAIRLENS_DESK``, or else pairlens in the user's data folder (XDG)."""
    own = os.environ.get(DESK_SETTING)
    return Path(own) if own else users_folder("XDG_DATA_HOME", ".local/share")


def shared_folder() -> Path:
    """The folder of runs: ``PAIRLENS_RUNS``, which servers may share, or else :func:`desk_folder`.
    Raises DeskError for a bucket's address, without repeating it, because it may contain a password."""
    place = os.environ.get(RUNS_SETTING)
    if not place:
        return desk_folder()
    protocol, sign, path = place.partition("://")
    if sign and protocol not in ("file", "local"):
        raise DeskError(f"{RUNS_SETTING} is not a folder: set it to a folder that all servers can write")
    return Path(path if sign else place)


def check_writable(folder: Path, setting: str) -> None:
    """Creates the desk's folder, given by this ``setting``. Raises DeskError if it cannot be written, without its path
    on the server, which visitors should not see."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DeskError(
            f"the desk's folder cannot be written ({error.strerror}); set {setting} to a folder that can be"
        ) from None


def datasets_folder() -> Path | None:
    """The folder in ``PAIRLENS_DATASETS``, None if it is not set."""
    name = os.environ.get("PAIRLENS_DATASETS")
    return Path(name) if name else None


def data_files() -> list[str]:
    """Data files and run folders under that folder, as relative paths; at most ``MOST_FILES``, excluding links that
    lead outside."""
    folder = datasets_folder()
    if folder is None or not folder.is_dir():
        return []
    names = []
    for parent, folders, files in os.walk(folder):
        runs = [name for name in sorted(folders) if is_run(Path(parent) / name)]
        folders[:] = [name for name in sorted(folders) if name not in runs]
        for name in sorted([*files, *runs]):
            path = Path(parent) / name
            if (name in runs or name.endswith(SUFFIXES)) and path.resolve().is_relative_to(folder.resolve()):
                names.append(path.relative_to(folder).as_posix())
            if len(names) == MOST_FILES:
                return names
    return names


def is_run(path: Path) -> bool:
    """Whether this is the folder of a run."""
    return (path / FACTS).is_file()


def data_file(name: str) -> Path:
    """A data file or run folder in that folder. Raises DeskError for a path that is outside or does not exist."""
    folder = datasets_folder()
    if folder is None:
        raise DeskError("there is no folder of data sets: set PAIRLENS_DATASETS, or upload the file")
    path = (folder / name.replace("\0", "")).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise DeskError(f"{name[:80]!r} lies outside the folder of data sets: choose a file from the list")
    if path.is_dir() and any(not child.resolve().is_relative_to(folder.resolve()) for child in path.iterdir()):
        raise DeskError(f"a link in {name[:80]!r} leads outside the folder of data sets: choose a file from the list")
    if not path.is_file() and not is_run(path):
        raise DeskError(f"there is no file {name[:80]!r} in the folder of data sets: choose one from the list")
    return path
