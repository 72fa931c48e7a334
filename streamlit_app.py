"""PairLens in the browser: ``streamlit run streamlit_app.py``. Navigation only; each page is a file of app/views."""

from __future__ import annotations

import streamlit as st

from core.memory import share_arenas

share_arenas()
st.set_page_config(page_title="PairLens", layout="wide", initial_sidebar_state=256)

st.navigation(
    [
        st.Page("app/views/explore.py", title="Explore", url_path="explore", default=True),
        st.Page("app/views/phrases.py", title="Phrases", url_path="phrases"),
        st.Page("app/views/filter_map.py", title="Filter map", url_path="filter-map"),
        st.Page("app/views/models.py", title="Models", url_path="models"),
    ],
    position="sidebar",
).run()
