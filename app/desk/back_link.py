"""The way from a pair that the Error desk opened back to the row that it was opened from."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app.pairs import Version


def draw(pair: Version) -> None:
    """A link to the same place of the Error desk, where this pair is the one that was opened from there."""
    parameters, opened = st.session_state.get("desk place", (None, None))
    if opened == pair:
        page = Path(__file__).parents[1] / "views" / "error_desk.py"
        there = st.Page(page, title="Error desk", url_path="error-desk")
        st.page_link(
            there, label="Back to the row on the Error desk", icon=":material/arrow_back:", query_params=parameters
        )
