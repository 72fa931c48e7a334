"""One browser component for a pair: verdict, text, ribbons, matrix, attentive context and filters share a selection.

All of it is one component because a selection must show everywhere at once: the browser draws it without asking the
server, and then tells the server, which puts it into the URL and looks up the nearest words. Text that a person typed
is only ever set as text (``textContent``), never as HTML or Markdown.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from app.palette import CIVIDIS, css_variables

_FOLDER = Path(__file__).parent
_SCRIPTS = ("elements", "colours", "verdict", "text", "matrix", "context", "filters", "save", "view")
"""Joined into one module in this order; only the last one exports."""

KEY = "pair_view"


@functools.cache
def _component() -> Any:
    """The component, registered once a process: its files read, joined and given the page's colours."""
    scripts = "\n".join((_FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS)
    scripts = f"const CIVIDIS = {json.dumps(CIVIDIS)};\n{scripts}"
    style = (_FOLDER / "style.css").read_text(encoding="utf-8").replace("/*palette*/", css_variables())
    html = '<div class="pairlens"></div>'
    return st.components.v2.component("pairlens_pair_view", html=html, css=style, js=scripts)


def pair_view(data: dict[str, Any], on_selection_change: Callable[[], None] | None = None) -> Any:
    """Draw ``data`` (built by app.views.explore from the panels' payloads). The result's ``selection`` is what a person
    picked: ``{"id": payload, "row": int | None, "column": int | None, "turn": int}``, or None before any pick."""
    return _component()(key=KEY, data=data, on_selection_change=on_selection_change or (lambda: None))
