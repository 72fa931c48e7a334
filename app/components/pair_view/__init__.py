"""One browser component for a pair: verdict, text, ribbons, matrix, attentive context and filters share a selection.

All of it is one component because a selection must show everywhere at once: the browser draws it without asking the
server, and then tells the server, which puts it into the URL and looks up the nearest words. Text that a person typed
is only ever set as text (``textContent``), never as HTML or Markdown.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components import component

_SCRIPTS = ("colours", "verdict", "text", "matrix", "context", "windows", "filters", "save", "view")

KEY = "pair_view"


def pair_view(data: dict[str, Any], on_selection_change: Callable[[], None] | None = None) -> Any:
    """Draw ``data`` (built by app.views.explore from the panels' payloads). The result's ``selection`` is what a person
    picked: ``{"id": payload, "row": int | None, "column": int | None, "turn": int}``, or None before any pick."""
    draw = component("pairlens_pair_view", Path(__file__).parent, _SCRIPTS)
    return draw(key=KEY, data=data, on_selection_change=on_selection_change or (lambda: None))
