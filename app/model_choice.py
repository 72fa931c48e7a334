"""Which of the models that are there a page offers, told from their cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.checkpoint import CheckpointError, available, read_card

Card = Mapping[str, Any]


def offered(wanted: Callable[[Card], bool], *, unreadable: bool = False) -> dict[str, Path]:
    """Folders by name of the models whose card is ``wanted``; with ``unreadable`` also those whose card cannot be read,
    so that choosing one tells what is wrong with it."""
    folders = {}
    for name, folder in available().items():
        try:
            fits = wanted(read_card(folder))
        except CheckpointError:
            fits = unreadable
        if fits:
            folders[name] = folder
    return folders


def reads_pairs(card: Card) -> bool:
    """Whether the model reads two texts, not a single one."""
    return bool(card["roles"]["second"])


def makes_filters(card: Card) -> bool:
    """Whether the model makes filters from its texts: only these have a place on a filter map."""
    return card["architecture"] in ("acnn", "adaqa") and card["config"].get("adaptivity") != "none"
