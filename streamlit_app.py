"""PairLens in the browser: ``streamlit run streamlit_app.py``. Navigation only; each page is a file of app/views."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

EXPLORE = "explore"
PAGES = {
    "compare": "Compare",
    "phrases": "Phrases",
    "filter-map": "Filter map",
    "lessons": "Lessons",
    "error-desk": "Error desk",
    "models": "Models",
}
"""Titles of the other pages by their addresses, in the order of the menu."""


def navigate() -> None:
    """Draw the page that the visitor's address names, and the menu of all."""
    asked = urlsplit(st.context.url or "").path.rstrip("/").endswith(f"/{EXPLORE}")
    explore = "app/views/explore.py"
    # The first page has the app's address, and its name is one as well: the one that is open stands in the menu.
    pages = [
        st.Page(explore, title="Explore", url_path="start", default=True, visibility="hidden" if asked else "visible"),
        st.Page(explore, title="Explore", url_path=EXPLORE, visibility="visible" if asked else "hidden"),
    ]
    for path, title in PAGES.items():
        pages.append(st.Page(f"app/views/{path.replace('-', '_')}.py", title=title, url_path=path))
    page = st.navigation(pages, position="sidebar")
    st.set_page_config(page_title=f"{page.title} · PairLens", layout="wide", initial_sidebar_state=256)
    page.run()


if get_script_run_ctx(suppress_warning=True) is None:  # the server imports this file once, before anyone visits
    from app.preloading import preloaded

    server = st.App(__file__, lifespan=preloaded)
else:
    navigate()
