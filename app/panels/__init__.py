"""What the pages draw. A panel of evidence is one folder: what it draws of a kind of record (``PANEL`` in Python), how
(JavaScript) and in what style (CSS). It knows no model, and a new folder is on the page without another line."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from pathlib import Path

from app.negation import negatable
from app.panels import verdict
from app.panels.panel import Page, Panel, Payload, sentence
from core.evidence import Explanation


@functools.cache
def folders() -> dict[Path, Panel]:
    """All panels by the folder that holds their scripts and styles."""
    names = sorted(item.name for item in pkgutil.iter_modules(__path__, f"{__name__}.") if item.ispkg)
    modules = [importlib.import_module(name) for name in names]
    return {Path(str(module.__file__)).parent: module.PANEL for module in modules}


def panels_of(explanation: Explanation) -> list[tuple[Panel, list[object]]]:
    """The panels that draw this explanation's records, each with them, in the order of their first records."""
    kinds = [record.kind for record in explanation.evidence]
    panels = [panel for panel in folders().values() if not set(kinds).isdisjoint(panel.kinds)]
    panels.sort(key=lambda panel: min(kinds.index(kind) for kind in panel.kinds if kind in kinds))
    return [(panel, [record for record in explanation.evidence if record.kind in panel.kinds]) for panel in panels]


def drawing(
    explanation: Explanation,
    show: str = "weight",
    alone: Explanation | None = None,
    unread: str = "",
    trained: Explanation | None = None,
) -> Payload:
    """What the browser draws of an explanation: verdict, both sentences in reading order, and the panels.

    ``show``: what a matrix shows (weight, column or score). ``alone``: what a model says that read the judged sentence
    only. ``unread``: the role that this model does not look at. ``trained``: what it says itself, where the explanation
    is one of what if. A side's ``axis`` says which part of a selection names its words.
    """
    drawn: list[Payload] = [
        {"kind": panel.kinds[0], "place": panel.place, "data": data}
        for panel, records in panels_of(explanation)
        for data in panel.payloads(records, explanation, show)
    ]
    roles = [explanation.first.role, explanation.second.role]
    edges = next(((p["data"]["rows"], p["data"]["columns"]) for p in drawn if "columns" in p["data"]), None)
    row, column = edges or (explanation.judged if explanation.judged in roles else roles[1], "")
    sides = [explanation.sentence(role) for role in ([row, row] if row == column else roles)]
    axes = ["row" if role == row else "column" for role in roles] if row != column else ["column", "row"]
    return {
        "sides": [
            sentence(side)
            | {"axis": axis, "judged": explanation.judges(side.role), "read": side.role != unread}
            | {"negatable": negatable([token.text for token in side.tokens])}
            for side, axis in zip(sides, axes, strict=True)
        ],
        "verdict": verdict.payload(explanation, alone, trained),
        "panels": drawn,
    }


def focus(drawn: Payload) -> int | None:
    """The row that is selected before anything is, or None."""
    rows = (panel["data"].get("focus") for panel in drawn["panels"])
    return next((row for row in rows if row is not None), None)


def late(explanation: Explanation) -> Payload:
    """What each kind of panel gets with a selection, without a new drawing."""
    return {panel.kinds[0]: panel.late(records) for panel, records in panels_of(explanation)}


def pages(explanation: Explanation) -> list[Page]:
    """The pages that show more of this explanation's records."""
    return [panel.page for panel, _ in panels_of(explanation) if panel.page is not None]
