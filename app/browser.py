"""Parts of a page that are our own scripts in the browser (Streamlit's components v2)."""

from __future__ import annotations

import functools
from typing import Any

import streamlit as st


@functools.cache
def component(name: str, script: str, html: str = "<i></i>", style: str | None = None) -> Any:
    """The component with this script, registered once a process."""
    return st.components.v2.component(name, html=html, css=style, js=script)
