"""The metadata of a filter map: its model, data and settings."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class MapSource(TypedDict):
    """A data file; ``texts``: how many of its texts were held out."""

    file: str
    layout: str
    rows: int
    sha256: str
    texts: NotRequired[int]


class Weights(TypedDict):
    """The model whose filters the map shows."""

    sha256: str
    name: str


class MapCard(TypedDict, total=False):
    """The keys read from a map's card: its data, command, model and settings, and, for a map read from a file, the
    checksum of its tensors."""

    data: MapSource
    command: str
    held_out: MapSource
    checkpoint: Weights
    metric: str
    perplexity: float
    seed: int
    quality_neighbours: int
    sha256: str
