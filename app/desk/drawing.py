"""Figures of :mod:`core.desk.figures` on the page: a click on what has a filter puts it into the filter's box."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from app import page_style
from app.browser import component
from app.desk.open_run import PAGE, show
from app.pair_form import digest
from app.palette import css_variables
from core.desk.figures import STYLE

_COLOURS = f".desk {{ {css_variables()} font-family: var(--st-font); }}"
_SCRIPT = """
export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".desk");
  if (root.dataset.drawing !== data.drawing) {
    root.innerHTML = data.html; // made by core/templates, which escape every text
    root.dataset.drawing = data.drawing;
  }
  root.style.setProperty("--type", data.type);
  root.onclick = (event) => {
    const cell = event.target.closest("[data-filter]");
    if (cell) setTriggerValue("filter", { expression: cell.dataset.filter, turn: Date.now() });
  };
}
"""


def figures(drawn: Sequence[Markup], key: str) -> None:
    """Draw figures one below the other."""
    html = "".join(f'<section style="margin-bottom:22px">{one}</section>' for one in drawn)

    def filtered() -> None:
        picked = st.session_state[key].get("filter") or {}
        # A run that the next gesture cuts short hands its click on to the run after it.
        if picked and picked["turn"] != st.session_state.get(f"{key} turn"):
            st.session_state[f"{key} turn"] = picked["turn"]
            show(filter=str(picked["expression"]), view="rows", row="")

    data = {"html": html, "drawing": digest(html), "type": page_style.enlarged(PAGE.state.projector)}
    desk = component("pairlens_desk", _SCRIPT, html='<div class="desk"></div>', style=_COLOURS + STYLE)
    desk(key=key, data=data, on_filter_change=filtered)
