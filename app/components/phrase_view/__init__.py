"""One browser component for phrases: both choices, slider, verdicts and the bars of a_i share k and a selection.

The choices for every k are in the data, so that the browser draws a new k without asking the server, and then tells the
server, which puts it into the URL. Text that a person typed is only ever set as text (``textContent``).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.components import component

_SCRIPTS = ("phrases", "slider", "kept", "verdicts", "chart", "figure", "view")

KEY = "phrase_view"


def phrase_view(data: dict[str, Any], on_picked_change: Callable[[], None] | None = None) -> Any:
    """Draw ``data`` (built by app.views.phrases from the panels' payloads). The result's ``picked`` is what a person
    chose: ``{"id": payload, "k": int | None, "select": "a12" | None, "turn": int}`` (k None: the trained one)."""
    draw = component("pairlens_phrase_view", Path(__file__).parent, _SCRIPTS)
    return draw(key=KEY, data=data, on_picked_change=on_picked_change or (lambda: None))
