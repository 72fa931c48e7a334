"""The texts behind a map's reference items, if the map's data file is on this machine.

A map only stores ids, classes and titles, because many data sets must not be redistributed. ``PAIRLENS_DATA`` names the
user's data folder, as for the trainers: the file is searched for there and up to two levels down, by name and checksum.
If it is missing or unreadable, the page works without the texts.
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import streamlit as st

from app.pairs import SIDES
from core.checkpoint import Checkpoint
from core.data import DataError, Example, read
from core.data.lines import checksum
from core.filter_map.map import FilterMap, MapItem

_DEPTH = 2
"""Levels below the data folder that are searched for a data file: official layouts have one folder per data set."""
Stamp = tuple[str, str, str, int]
"""Checksums of weights and map, and the file's path and modification time: equal for equal texts."""


@dataclass(frozen=True)
class ReferenceTexts:
    """The texts of a map's items; empty for an item that does not match a single row in the file."""

    own: tuple[str, ...]
    """One per item: the text that the point on the map represents."""
    by_role: Mapping[str, tuple[str, ...]]
    """The texts for each role, one per item, empty for items with the other role."""
    stamp: Stamp


def reference_texts(checkpoint: Checkpoint, filter_map: FilterMap) -> ReferenceTexts | None:
    """The map's texts, read once for all sessions; None if its data file is missing or changed."""
    folder, data = os.environ.get("PAIRLENS_DATA"), filter_map.card.get("data")
    if not folder or not isinstance(data, Mapping):
        return None
    for path, changed in _files(Path(folder), str(data.get("file"))):
        stamp = (str(checkpoint.card["sha256"]), str(filter_map.card["sha256"]), str(path), changed)
        texts = _read(stamp, str(data.get("sha256")), filter_map.items, checkpoint.roles)
        if texts is not None:
            return texts
    return None


def _files(folder: Path, name: str) -> list[tuple[Path, int]]:
    """Files with this name, each with its modification time in nanoseconds."""
    try:
        if Path(name).name != name:  # a path that leaves the folder
            return []
        places = [path for depth in range(_DEPTH + 1) for path in folder.glob("*/" * depth + glob.escape(name))]
        return [(path, path.stat().st_mtime_ns) for path in sorted(places) if path.is_file()]
    except (OSError, ValueError):
        return []


@st.cache_resource(max_entries=16, show_spinner="Reading the reference texts …")
def _read(stamp: Stamp, sha256: str, _items: Sequence[MapItem], _roles: Mapping[str, str]) -> ReferenceTexts | None:
    """None for a different file with this name, an unreadable one, or one without any of the rows."""
    path = Path(stamp[2])
    try:
        # Most files with the same name are ruled out without reading a row.
        if checksum(path) != sha256:
            return None
        rows = read(path).rows
    except (OSError, DataError):
        return None
    texts = texts_of(_items, rows, _roles, stamp)
    return texts if any(texts.own) else None


def texts_of(
    items: Sequence[MapItem], rows: Sequence[Example], roles: Mapping[str, str], stamp: Stamp
) -> ReferenceTexts:
    """The texts of ``items`` from the rows named by their ids; an id shared by several rows names none."""
    often = Counter(row.id for row in rows)
    known = {row.id: row for row in rows if often[row.id] == 1}
    places = {roles[place]: place for place in SIDES} | {"": "first"}

    def text_of(item: MapItem, role: str) -> str:
        row = known.get(item.id)
        return str(getattr(row, places[role])) if row is not None and role in places else ""

    by_role = {}
    for role in (roles[place] for place in SIDES if roles[place]):
        # A one-way model's map contains only questions, so each represents its row's answer too.
        absent = not any(item.side in (role, "") for item in items)
        by_role[role] = tuple(text_of(item, role) if absent or item.side in (role, "") else "" for item in items)
    return ReferenceTexts(tuple(text_of(item, item.side) for item in items), MappingProxyType(by_role), stamp)
