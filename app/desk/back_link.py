"""The link from a pair on Explore back to its row on the Error desk."""

from __future__ import annotations

import streamlit as st

from app import page_style
from app.pairs import Version


def draw(pair: Version) -> None:
    """Draws the link if this pair was opened from the Error desk."""
    parameters, opened = st.session_state.get("desk place", (None, None))
    if opened == pair:
        page_style.page_link("error_desk", parameters, "Back to the row on the Error desk", "back")
