"""Adapted checkpoints that no list shows: whoever knows the name of one can open it, for a day.

The name is ``BASE~TOKEN``. The token cannot be guessed, and the base remains readable from a link to a checkpoint that
has been removed since. All servers that share the folder of runs share them.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from core.desk.folders import shared_folder
from core.errors import DeskError

D = TypeVar("D")

SECONDS = 24 * 3600
"""How long an unlisted checkpoint is kept."""
_NAME = re.compile(r"(?P<base>[\w./-]{1,200})~(?P<token>[0-9a-f]{32})")


def new_name(base: str) -> str:
    """A name for a checkpoint adapted from the one listed as ``base``."""
    return f"{base_of(base) or base}~{secrets.token_hex(16)}"


def base_of(name: str) -> str:
    """The base in the name of an unlisted checkpoint; empty for any other name."""
    found = _NAME.fullmatch(name)
    return found["base"] if found else ""


def folder_of(name: str) -> Path | None:
    """The folder of an unlisted checkpoint, which may not exist; None for any other name."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    try:
        return shared_folder() / "adapted" / found["token"]
    except DeskError:
        return None


def remove_old() -> None:
    """Removes unlisted checkpoints older than a day."""
    try:
        folders = [*(shared_folder() / "adapted").iterdir()]
    except (OSError, DeskError):
        return
    for folder in folders:
        with contextlib.suppress(OSError):
            if time.time() - (folder / "card.json").stat().st_mtime > SECONDS:
                shutil.rmtree(folder)


class Folders(dict[str, Path]):
    """Checkpoint folders by name. An unlisted one is found by its name, but iteration does not show it."""

    def __missing__(self, name: str) -> Path:
        folder = folder_of(name)
        if folder is None or not (folder / "card.json").is_file():
            raise KeyError(name)
        return folder

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and self.get(name) is not None)

    def get(self, name: str, default: D = None) -> Path | D:  # type: ignore[assignment, override]
        """The folder of a listed or unlisted checkpoint."""
        try:
            return self[name]
        except KeyError:
            return default

    def __or__(self, other: Mapping[str, Path]) -> Folders:  # type: ignore[override]
        return Folders({**self, **other})
