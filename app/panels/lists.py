"""Small tables of words and numbers."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.page_style import plain


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of text shown verbatim; draws nothing without rows. An empty ``head`` is not shown."""
    if rows:
        import pandas as pd  # here, so that Explore starts without it

        cells = pd.DataFrame([list(map(plain, row)) for row in rows], columns=list(map(plain, head)) or None)
        st.table(cells, border="horizontal", hide_header=not head)
