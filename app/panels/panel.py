"""What a folder of app.panels declares: which records its panel draws, where on the page, and what it draws of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal, NamedTuple, Self, TypeVar

from core.evidence import Sentence

Number = TypeVar("Number", float, float | None)


def significant(numbers: Iterable[Number], digits: int = 6) -> tuple[Number, ...]:
    """The numbers with so many significant digits: what a figure can show, in a third of the characters."""
    return tuple(number if number is None else float(f"{number:.{digits}g}") for number in numbers)


def scale_end(values: Iterable[float], most: float = inf) -> float:
    """Where a colour scale from 0 ends: at the largest value, and no earlier than at twice the mean, so that weights
    that are all alike are not painted brightest. ``most``: the largest value that there can be."""
    known = tuple(values)
    return max(*known, 1e-9, min(most, 2 * sum(known) / max(len(known), 1)))


Place = Literal["first", "main", "beside", "changes", "below"]
"""Where a panel stands on the page, from its top; what stands ``below`` is drawn when the rest is on screen."""


@dataclass(frozen=True, kw_only=True)
class Payload:
    """What a panel draws; its fields are what its script reads. ``rows`` and ``columns``: the roles along the edges of
    a panel that has some; ``show``: which of :data:`app.page_state.explore.SHOWN` its cells show, of a panel whose rows
    are words that look at others; ``lead``: how far a row's best score lies above its next one, where it has scores."""

    rows: str | None = None
    columns: str | None = None
    show: str | None = None
    lead: float | None = None


class Page(NamedTuple):
    """The page that shows more of these records: its file's name in app/views, and what a link to it says."""

    name: str
    label: str


@dataclass(frozen=True)
class Panel:
    """``kinds``: of the records that it draws; the first is the folder's name and that of its script's
    ``PANELS.<kind>``. ``payloads(records, explanation, show)``: one for each panel to draw. ``late(records)``: what a
    new selection adds without a new drawing, by the role of the rows."""

    kinds: tuple[str, ...]
    place: Place = "below"
    payloads: Callable[..., Sequence[Payload]] = lambda records, explanation, show: ()
    late: Callable[..., Mapping[str, object]] = lambda records: {}
    page: Page | None = None


@dataclass(frozen=True)
class Words:
    """A sentence's words: text, the places of those for which the word table has no row, how many were cut
    off, and where its lines begin."""

    role: str
    tokens: tuple[str, ...]
    unknown: tuple[int, ...]
    truncated: int
    lines: tuple[int, ...]

    @classmethod
    def of(cls, side: Sentence, *more: object) -> Self:
        """The words of a sentence; ``more``: the fields that a subclass has beside them."""
        unknown = tuple(i for i, token in enumerate(side.tokens) if token.unknown)
        tokens = tuple(token.text for token in side.tokens)
        return cls(side.role, tokens, unknown, side.truncated, tuple(side.line_starts), *more)
