"""Parts of a page implemented as our own browser scripts (Streamlit's components v2)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import streamlit as st


@functools.cache
def component(name: str, script: str, html: str = "<i></i>") -> Any:
    """The component with this script, registered once per process."""
    return st.components.v2.component(name, html=html, js=script)


@functools.cache
def text_of(file: Path) -> str:
    """A script or style sheet, read once per process."""
    return file.read_text(encoding="utf-8")


def unseen(name: str) -> Any:
    """A container for a component without visible output (hidden in app/page_style.py)."""
    return st.container(key=f"unseen {name}")


_TOP = """
let shown;
export default function ({ data }) {
  if (data.of !== shown) document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
  shown = data.of;
}
"""


def from_the_top(of: str) -> None:
    """Scrolls to the top of the page when it shows something else: the form that led to it may be longer."""
    with unseen("top"):
        component("pairlens_top", _TOP)(key="shown from the top", data={"of": of})
