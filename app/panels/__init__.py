"""What the pages draw. A panel of evidence is one folder: what it draws of a kind of record (``PANEL`` in Python), how
(JavaScript) and in what style (CSS). It knows no model, and a new folder is on the page without another line."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from app.panels.panel import Page, Panel, Payload, Place, Words
from app.panels.verdict import Verdict
from core.evidence import Explanation, Record
from core.linguistics.negation import negatable


@functools.cache
def folders() -> dict[Path, Panel]:
    """All panels by the folder that holds their scripts and styles."""
    names = sorted(item.name for item in pkgutil.iter_modules(__path__, f"{__name__}.") if item.ispkg)
    modules = [importlib.import_module(name) for name in names]
    return {Path(str(module.__file__)).parent: module.PANEL for module in modules}


def panels_of(explanation: Explanation) -> list[tuple[Panel, list[Record]]]:
    """The panels that draw this explanation's records, each with them, in the order of their first records."""
    kinds = [record.kind for record in explanation.evidence]
    panels = [panel for panel in folders().values() if not set(kinds).isdisjoint(panel.kinds)]
    panels.sort(key=lambda panel: min(kinds.index(kind) for kind in panel.kinds if kind in kinds))
    return [(panel, [record for record in explanation.evidence if record.kind in panel.kinds]) for panel in panels]


@dataclass(frozen=True)
class DrawnPanel:
    """A panel's ``data`` in its ``place`` on the page; ``kind`` names its script."""

    kind: str
    place: Place
    data: Payload


@dataclass(frozen=True)
class DrawnSide(Words):
    """A sentence as the page draws it. ``axis``: which part of a selection names its words; ``read``: False for one
    that the model does not look at; ``negatable``: the words before which “not” can stand."""

    axis: str
    judged: bool
    read: bool
    negatable: tuple[int, ...]


@dataclass(frozen=True)
class Drawing:
    """What the browser draws of an explanation: verdict, both sentences in reading order, and the panels."""

    sides: tuple[DrawnSide, ...]
    verdict: Verdict
    panels: tuple[DrawnPanel, ...]

    @property
    def directions(self) -> list[str]:
        """The roles of the sentences whose words look at others."""
        return [panel.data.rows for panel in self.panels if panel.data.show is not None and panel.data.rows is not None]

    def length(self, axis: str) -> int:
        """How many words the side along this axis has."""
        return next(len(side.tokens) for side in self.sides if side.axis == axis)


@dataclass(frozen=True)
class Below:
    """The panels below a drawing. ``of``: the drawing's number in its session."""

    of: int
    panels: tuple[DrawnPanel, ...]


PLACES: tuple[Place, ...] = get_args(Place)
"""From the top of the page."""
ABOVE, BELOW = PLACES[:-1], PLACES[-1:]


def drawn(explanation: Explanation, show: str, places: Collection[Place]) -> tuple[DrawnPanel, ...]:
    """The panels that draw an explanation in these places; ``show`` as :func:`drawing` takes it."""
    return tuple(
        DrawnPanel(panel.kinds[0], panel.place, data)
        for panel, records in panels_of(explanation)
        if panel.place in places
        for data in panel.payloads(records, explanation, show)
    )


def drawing(
    explanation: Explanation,
    verdict: Verdict | None = None,
    show: str = "weight",
    unread: str = "",
    places: Collection[Place] = PLACES,
) -> Drawing:
    """The drawing of an explanation, with this verdict where it has more than its own. ``show``: what a matrix shows
    (weight, column or score); ``unread``: the role that this model does not look at; ``places``: of the panels."""
    panels = drawn(explanation, show, places)
    roles = [explanation.first.role, explanation.second.role]
    edges = next(((panel.data.rows, panel.data.columns) for panel in panels if panel.data.columns is not None), None)
    row, column = edges or (explanation.judged if explanation.judged in roles else roles[1], "")
    if row == column:  # a text that looks at itself
        sides = [(row, "column"), (row, "row")]
    else:
        sides = [(role, "row" if role == row else "column") for role in roles]
    return Drawing(
        tuple(_side(explanation, role, axis, unread) for role, axis in sides),
        verdict or Verdict.of(explanation),
        panels,
    )


def _side(explanation: Explanation, role: str, axis: str, unread: str) -> DrawnSide:
    side = explanation.sentence(role)
    places = negatable([token.text for token in side.tokens])
    return DrawnSide.of(side, axis, explanation.judges(role), role != unread, tuple(places))


def late(explanation: Explanation) -> dict[str, Mapping[str, object]]:
    """What each kind of panel gets with a selection, without a new drawing."""
    return {panel.kinds[0]: panel.late(records) for panel, records in panels_of(explanation)}


def pages(explanation: Explanation) -> list[Page]:
    """The pages that show more of this explanation's records."""
    return [panel.page for panel, _ in panels_of(explanation) if panel.page is not None]
