"""Which of the models that are there a page offers, told from their cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.checkpoint import CheckpointError, available, read_card, records_of
from core.evidence import Record

Card = Mapping[str, Any]


def offered(wanted: Callable[[Card], bool], *, unreadable: bool = False) -> dict[str, Path]:
    """Folders by name of the models whose card is ``wanted``; with ``unreadable`` also those whose card cannot be read,
    so that choosing one tells what is wrong with it."""
    found = {}
    for name, folder in available().items():
        try:
            fits = wanted(read_card(folder))
        except CheckpointError:
            fits = unreadable
        if fits:
            found[name] = folder
    return found


def reads_pairs(card: Card) -> bool:
    """Whether the model reads two texts, not a single one."""
    roles = card["roles"]
    return not isinstance(roles, Mapping) or roles.get("second") != ""


def shows(record: type[Record]) -> Callable[[Card], bool]:
    """Whether a model's explanations hold this record: what a page about it asks."""
    return lambda card: record in records_of(card)
