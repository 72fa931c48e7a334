"""Trained models in folders: lists them and opens one by name."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path

from core.card import Card
from core.card import is_external as of_external
from core.checkpoint.checkpoint import Checkpoint as Checkpoint
from core.checkpoint.files import format_of
from core.checkpoint.files import load as load
from core.checkpoint.files import read_card as read_card
from core.checkpoint.files import save as save
from core.checkpoint.memory import is_loaded, loaded
from core.checkpoint.unlisted import Folders, base_of, saved_models
from core.errors import CheckpointError as CheckpointError
from core.errors import DeskError
from core.evidence import Record
from core.external.folder import has
from core.external.names import functions
from core.models import ConfigError, spec_of

PRETRAINED = Path(__file__).resolve().parents[2] / "pretrained"


_LISTED: ContextVar[Folders | None] = ContextVar("_LISTED", default=None)


@contextlib.contextmanager
def listed_once(folders: Folders) -> Iterator[None]:
    """Within the block, :func:`available` returns these ``folders``: an answer needs them often, and listing
    them costs as much as a forward pass."""
    before = _LISTED.set(folders)
    try:
        yield
    finally:
        _LISTED.reset(before)


def available() -> Folders:
    """Checkpoint folders by name: those that visitors saved, shipped ones, the user's (in the folder
    ``PAIRLENS_CHECKPOINTS``), then the functions listed in ``PAIRLENS_GUESTS``, whose name stands for the folder.

    A user's checkpoint with a shipped name is listed as ``own/NAME``. Folders without a card (ours or Hugging Face's)
    are skipped; unreadable ones are listed, so that :func:`read_card` can report the problem. An unlisted checkpoint
    (:mod:`core.checkpoint.unlisted`) is found by its name.
    """
    return _LISTED.get() or _listing()


def title_of(name: str) -> str:
    """The title of a checkpoint, for texts that all visitors see, instead of its name: an unlisted model's name would
    let anyone open it."""
    with contextlib.suppress(KeyError, CheckpointError):
        return str(read_card(available()[name])["title"])
    return base_of(name) or name


def _listing() -> Folders:
    folders = {folder.name: folder for folder in _children(PRETRAINED) if folder.name != "words"}
    own = os.environ.get("PAIRLENS_CHECKPOINTS")
    for folder in _children(Path(own)) if own else []:
        folders[f"own/{folder.name}" if folder.name in folders else folder.name] = folder
    with contextlib.suppress(DeskError):
        folders = {folder.name: folder for folder in _children(saved_models())} | folders
    return Folders(folders) | {name: Path(name) for name in functions()}


def _children(parent: Path) -> list[Path]:
    try:
        return sorted(folder for folder in parent.iterdir() if _holds_card(folder))
    except FileNotFoundError:
        return []
    except OSError:
        return [parent]


def _holds_card(folder: Path) -> bool:
    if has(folder, "card.json"):  # cheapest test first: pages list all folders on every run
        return True
    try:
        next(folder.iterdir(), None)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return format_of(folder).holds(folder)


def open_checkpoint(name: str, class_names: Sequence[str] = ()) -> Checkpoint:
    """A checkpoint by the name under which ``available`` lists it, or from its folder. ``class_names`` replace the
    class names of an external model, in the order of its logits. Raises CheckpointError."""
    if class_names:
        return load(available().get(name, Path(name)), class_names)
    return load_named(name) if name in available() or not os.path.isdir(name) else load(name)  # noqa: PTH112


def open_checkpoints(names: Sequence[str], class_names: Sequence[str] = ()) -> list[Checkpoint]:
    """Several checkpoints; ``class_names`` apply to models with numbered classes. Raises CheckpointError."""
    if len(names) == 1:
        return [open_checkpoint(names[0], class_names)]
    numbered = [bool(class_names) and _is_numbered(name) for name in names]
    if class_names and not any(numbered):
        raise CheckpointError(f"{', '.join(names)[:200]} already name their classes: leave out --class-names")
    return [open_checkpoint(name, class_names if own else ()) for name, own in zip(names, numbered, strict=True)]


def _is_numbered(name: str) -> bool:
    return bool(read_card(available().get(name, Path(name))).get("asked"))


def load_named(name: str) -> Checkpoint:
    """The checkpoint listed as ``name``, shared by all threads (:func:`core.checkpoint.memory.loaded`)."""
    folders = available()
    if name not in folders:
        known = ", ".join(folders) or "none"
        shown = name if len(name) <= 100 else f"{name[:100]}…"
        raise CheckpointError(f"there is no checkpoint named {shown!r}: choose one of {known}")
    return loaded(folders[name])


def in_memory(name: str) -> bool:
    """Whether :func:`load_named` can return the checkpoint listed as ``name`` without reading its weights."""
    folder = available().get(name)
    return folder is not None and is_loaded(folder)


def records_of(card: Card) -> tuple[type[Record], ...]:
    """The record types in a checkpoint's explanations, from its card alone; none for an unknown architecture."""
    if of_external(card):
        import core.external.checkpoint  # noqa: F401  registers what a guest can be
    try:
        return spec_of(card["architecture"]).model.shows(card["config"])
    except ConfigError:
        return ()
