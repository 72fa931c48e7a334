"""The weights that a training kept after its epochs: each is a checkpoint, in the folder ``epochs`` of the finished
one. ``mine@3`` is the model ``mine`` after its third epoch; it is found by this name, but not listed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from core.files import json_text, read_json

FOLDER = "epochs"
MOST = 10
"""Number of epochs, the last ones, that a training on the user's own file keeps."""
_NAME = re.compile(r"(?P<model>.+)@(?P<epoch>[1-9]\d{0,3})")


def name_of(model: str, epoch: int) -> str:
    """The name of a model after an epoch."""
    return f"{model}@{epoch}"


def split(name: str) -> tuple[str, int]:
    """The model in the name of an epoch, and the epoch; 0 for a name without one."""
    found = _NAME.fullmatch(name)
    return (found["model"], int(found["epoch"])) if found else (name, 0)


def folder_of(model: Path, epoch: int) -> Path:
    """The folder of a model's epoch, which may not exist."""
    return model / FOLDER / str(epoch)


def split_folder(folder: Path) -> tuple[Path, int]:
    """The folder of the model in the folder of an epoch, and the epoch; 0 for any other folder."""
    own = folder.parent.name == FOLDER and folder.name.isdecimal()
    return (folder.parents[1], int(folder.name)) if own else (folder, 0)


def kept(model: Path) -> list[int]:
    """The epochs kept in the folder of a model, ascending."""
    cards = (model / FOLDER).glob("*/card.json")
    return sorted(int(card.parent.name) for card in cards if card.parent.name.isdecimal())


def copy(model: Path, target: Path, name: str, title: str) -> None:
    """Copies the epochs of a model to the folder of a copy with another name and title. Raises OSError."""
    for epoch in kept(model):
        own, folder = folder_of(model, epoch), folder_of(target, epoch)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(own / "weights.safetensors", folder / "weights.safetensors")
        card = read_json(own / "card.json") | {"name": name_of(name, epoch), "title": title_of(title, epoch)}
        (folder / "card.json").write_text(json_text(card), encoding="utf-8")


def title_of(model: str, epoch: int) -> str:
    """The title of a model after an epoch."""
    return f"{model}, epoch {epoch}"
