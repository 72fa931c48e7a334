"""What Compare gives the browser to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.components import PairFrame
from app.panels import Drawing

Places = Sequence[tuple[int, int]]
"""Places of words that two sentences have in common: in the one and in the other."""


@dataclass(frozen=True)
class Section:
    """One model, or version: the pair's drawing with its frame, or the ``problem`` that prevented one.

    - ``question``: the request for the word effects, which are about the class ``followed`` (its display name);
    - ``same``: by role, the words that this sentence has in common with that of the first section.
    """

    title: str
    problem: str = ""
    drawing: Drawing | None = None
    frame: PairFrame | None = None
    question: Mapping[str, str] | None = None
    followed: str = ""
    same: Mapping[str, Places] = field(default_factory=dict)


@dataclass(frozen=True)
class Compared:
    """All models, or ``versions`` of the pair."""

    sections: Sequence[Section]
    versions: bool
