"""The way from a pair that the Error desk opened back to the row that it was opened from."""

from __future__ import annotations

import streamlit as st

from app import page_style
from app.pairs import Version


def draw(pair: Version) -> None:
    """A link to the same place of the Error desk, where this pair is the one that was opened from there."""
    parameters, opened = st.session_state.get("desk place", (None, None))
    if opened == pair:
        page_style.page_link("error_desk", parameters, "Back to the row on the Error desk", "back")
