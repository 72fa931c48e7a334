"""Checkpoints of visitors, adapted or trained: unlisted for a day, or saved under a name that everybody sees. Anyone
who knows an unlisted checkpoint's name, ``BASE~TOKEN``, can open it. The token cannot be guessed; the base can still be
read from a link after the checkpoint was removed. All servers that share the folder of runs share these checkpoints. A
checkpoint belongs to its maker, whose key is stored as a checksum on its card.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from core.checkpoint.epochs import copy as copy_epochs
from core.checkpoint.epochs import folder_of as folder_of_epoch
from core.checkpoint.epochs import kept as kept_epochs
from core.checkpoint.epochs import split, title_of
from core.desk.folders import shared_folder
from core.errors import CheckpointError, DeskError
from core.files import json_text, read_json, whole_folder, write_whole

D = TypeVar("D")

PAIRS = "pairs.csv"
"""File with the pairs that a checkpoint was adapted to, if they are kept."""
SECONDS = 24 * 3600
"""Seconds for which an unlisted checkpoint is kept."""
TRAINING = "training"
"""Folder of an unfinished training, inside its checkpoint's (:mod:`core.desk.training`)."""
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


def unlisted() -> list[Path]:
    """The folders of unlisted checkpoints, including checkpoints in training."""
    try:
        return sorted((shared_folder() / "adapted").iterdir())
    except (OSError, DeskError):
        return []


def made_by(maker: str) -> list[str]:
    """The names of the unlisted checkpoints of a maker, newest first; ``maker``: the key."""
    found, own = list[tuple[int, str]](), checksum(maker)
    for folder in unlisted():
        with contextlib.suppress(OSError):  # it is being trained, or was removed meanwhile
            changed = (folder / "card.json").stat().st_mtime_ns
            name, theirs = _name_and_maker(folder, changed)
            if theirs == own and folder_of(name) == folder:
                found.append((changed, name))
    return [name for _, name in sorted(found, reverse=True)]


@functools.lru_cache(maxsize=1000)
def _name_and_maker(folder: Path, changed: int) -> tuple[str, str]:
    """Reads the card of an unlisted checkpoint. Cached, because every list of models needs it."""
    try:
        card = read_json(folder / "card.json")
        return str(card.get("name", "")), str(card.get("maker", ""))
    except ValueError:
        return "", ""


def remove_old() -> None:
    """Removes unlisted checkpoints after a day, and trainings without progress for a day."""
    for folder in unlisted():
        with contextlib.suppress(OSError):
            card = folder / "card.json"
            if time.time() - (card if card.is_file() else folder / TRAINING).stat().st_mtime > SECONDS:
                shutil.rmtree(folder)


def discard(name: str) -> None:
    """Removes an unlisted checkpoint, if it exists."""
    folder = folder_of(name)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def saving() -> bool:
    """Whether visitors may save models for all: unless ``PAIRLENS_SAVING`` is "off"."""
    return os.environ.get("PAIRLENS_SAVING") != "off"


def saved_models() -> Path:
    """The folder of the models that visitors saved."""
    return shared_folder() / "models"


def save_as(unlisted: Path, name: str, title: str, maker: str, *, with_pairs: bool) -> Path:
    """Saves an unlisted checkpoint under a name for all visitors; ``maker``: the key of its maker. Raises
    CheckpointError for a name that cannot be used, FileError if the folder cannot be written."""
    if not saving():
        raise CheckpointError("saving models is switched off on this server: download the model instead")
    if not re.fullmatch(r"[\w-][\w.-]{0,59}", name):
        raise CheckpointError("a name has up to 60 letters, digits, hyphens, dots and underscores: choose another one")
    folder = saved_models() / name
    card = read_json(unlisted / "card.json")
    with whole_folder(folder, last="card.json") as scratch:
        if (folder / "card.json").exists():
            raise CheckpointError(f"there is a model named {name} already: choose another name")
        for file in unlisted.iterdir():
            if file.is_file() and (with_pairs or file.name != PAIRS) and file.suffix in (".safetensors", ".csv"):
                shutil.copyfile(file, scratch / file.name)
        mine = {"name": name, "title": title or card["title"], "maker": checksum(maker)}
        copy_epochs(unlisted, folder, name, mine["title"])
        (scratch / "card.json").write_text(json_text(card | mine), encoding="utf-8")
    return folder


def saved_by(maker: str) -> dict[str, Path]:
    """The models that a visitor saved, by name, newest first."""
    try:
        folders = [folder for folder in saved_models().iterdir() if is_made_by(folder, maker)]
        ordered = sorted(folders, key=lambda folder: (folder / "card.json").stat().st_mtime, reverse=True)
    except (OSError, DeskError):
        return {}
    return {folder.name: folder for folder in ordered}


def is_visitors(name: str, folder: Path) -> bool:
    """Whether the model listed as ``name`` was made by a visitor of this server."""
    with contextlib.suppress(DeskError):
        return bool(base_of(name)) or folder.parent == saved_models()
    return False


def is_made_by(folder: Path, maker: str) -> bool:
    """Whether a visitor made this model, saved or not; ``maker``: the visitor's key."""
    try:
        ours = folder.parent in (saved_models(), shared_folder() / "adapted")
        return ours and read_json(folder / "card.json").get("maker") == checksum(maker)
    except (OSError, ValueError, DeskError):
        return False


def rename(folder: Path, title: str) -> None:
    """Gives a saved model, and its epochs, another title. Raises FileError."""
    for epoch in kept_epochs(folder):
        _retitle(folder_of_epoch(folder, epoch), title_of(title, epoch))
    _retitle(folder, title)


def _retitle(folder: Path, title: str) -> None:
    write_whole(folder / "card.json", json_text(read_json(folder / "card.json") | {"title": title}))


def disown(folder: Path) -> None:
    """Removes an unlisted checkpoint from its maker's list, because it has been saved. Raises FileError."""
    card = read_json(folder / "card.json")
    write_whole(folder / "card.json", json_text({key: value for key, value in card.items() if key != "maker"}))


def remove(folder: Path) -> None:
    """Deletes a saved model. Its name is free again."""
    shutil.rmtree(folder)


def checksum(maker: str) -> str:
    """The checksum of a maker's key that is stored instead of the key, so that others cannot read it."""
    return hashlib.sha256(maker.encode()).hexdigest()


class Folders(dict[str, Path]):
    """Checkpoint folders by name. An unlisted one, or a model after one of its epochs, is found by its name, but
    iteration does not show it."""

    def __missing__(self, name: str) -> Path:
        model, epoch = split(name)
        folder = folder_of_epoch(self[model], epoch) if epoch else folder_of(name)
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
