"""PairLens in the browser: ``streamlit run streamlit_app.py``. Navigation only; each page is a file of app/views."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

EXPLORE = "explore"


def navigate() -> None:
    """Draw the page that the visitor's address names, and the menu of all."""
    st.set_page_config(layout="wide", initial_sidebar_state=256)
    asked = urlsplit(st.context.url or "").path.rstrip("/").endswith(f"/{EXPLORE}")
    # The first page has the app's address, and its name is one as well: the one that is open stands in the menu.
    first = st.Page(
        "app/views/explore.py", title="Explore", url_path="start", default=True,
        visibility="hidden" if asked else "visible",
    )  # fmt: skip
    named = st.Page(
        "app/views/explore.py", title="Explore", url_path=EXPLORE, visibility="visible" if asked else "hidden"
    )
    page = st.navigation(
        [
            first,
            named,
            st.Page("app/views/phrases.py", title="Phrases", url_path="phrases"),
            st.Page("app/views/filter_map.py", title="Filter map", url_path="filter-map"),
            st.Page("app/views/lessons.py", title="Lessons", url_path="lessons"),
            st.Page("app/views/models.py", title="Models", url_path="models"),
        ],
        position="sidebar",
    )
    st.set_page_config(page_title=f"{page.title} · PairLens")
    page.run()


if get_script_run_ctx() is None:  # the server imports this file once, before anyone visits
    from app.preloading import preloaded

    server = st.App(__file__, lifespan=preloaded)
else:
    navigate()
