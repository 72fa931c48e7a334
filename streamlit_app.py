"""PairLens in the browser: ``streamlit run streamlit_app.py``. Navigation only; each page is a file of app/views."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from core.memory import share_arenas

share_arenas()
st.set_page_config(layout="wide", initial_sidebar_state=256)

EXPLORE = "explore"
asked = urlsplit(st.context.url or "").path.rstrip("/").endswith(f"/{EXPLORE}")
# The first page has the app's address, and its name is one as well: the one that is open stands in the menu.
first = st.Page(
    "app/views/explore.py", title="Explore", url_path="start", default=True,
    visibility="hidden" if asked else "visible",
)  # fmt: skip
named = st.Page("app/views/explore.py", title="Explore", url_path=EXPLORE, visibility="visible" if asked else "hidden")
page = st.navigation(
    [
        first,
        named,
        st.Page("app/views/phrases.py", title="Phrases", url_path="phrases"),
        st.Page("app/views/filter_map.py", title="Filter map", url_path="filter-map"),
        st.Page("app/views/error_desk.py", title="Error desk", url_path="error-desk"),
        st.Page("app/views/models.py", title="Models", url_path="models"),
    ],
    position="sidebar",
)
st.set_page_config(page_title=f"{page.title} · PairLens")
page.run()
