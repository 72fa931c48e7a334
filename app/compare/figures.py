"""The data that Compare passes to the browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.components import Frame
from app.panels import Drawing

Places = Sequence[tuple[int, int]]
"""Positions of words shared by two sentences: in the first and in the second."""


@dataclass(frozen=True)
class Section:
    """A model or version: the pair's drawing with its frame, or the ``problem`` that prevented it.

    - ``question``: the request for word effects on the class ``followed`` (its display name);
    - ``same``: by role, the words that this sentence shares with its counterpart in the first section.
    """

    title: str
    problem: str = ""
    drawing: Drawing | None = None
    frame: Frame | None = None
    question: Mapping[str, str] | None = None
    followed: str = ""
    same: Mapping[str, Places] = field(default_factory=dict)


@dataclass(frozen=True)
class Compared:
    """All models, or ``versions`` of the pair."""

    sections: Sequence[Section]
    versions: bool
