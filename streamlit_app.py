"""PairLens in the browser: ``streamlit run streamlit_app.py``. Navigation only; each page is a file of app/views."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app.pages import VIEWS, address, in_menu, pages


def navigate() -> None:
    """Draw the page that the visitor's address names, and the menu of all."""
    (first, title), *others = pages().items()
    asked = urlsplit(st.context.url or "").path.rstrip("/").endswith(f"/{address(first)}")
    # The first page has the app's address, and its name is one as well: the one that is open stands in the menu.
    file = VIEWS / f"{first}.py"
    listed = [
        st.Page(file, title=title, url_path="start", default=True, visibility="hidden" if asked else "visible"),
        st.Page(file, title=title, url_path=address(first), visibility="visible" if asked else "hidden"),
    ]
    for name, title in others:
        file, path = VIEWS / f"{name}.py", address(name)
        listed.append(st.Page(file, title=title, url_path=path, visibility="visible" if in_menu(name) else "hidden"))
    page = st.navigation(listed, position="sidebar")
    st.set_page_config(page_title=f"{page.title} · PairLens", layout="wide", initial_sidebar_state=256)
    page.run()


if get_script_run_ctx(suppress_warning=True) is None:  # the server imports this file once, before anyone visits
    from starlette.middleware import Middleware

    from app.api import routes
    from app.api.guard import Guard
    from app.interruptions import finish_callbacks
    from app.preloading import preloaded
    from core.openmp import wait_asleep

    wait_asleep()
    finish_callbacks()
    pages()  # once: Python 3.11 cannot read scripts in two threads at a time, as the first visitors would
    server = st.App(__file__, lifespan=preloaded, routes=routes(), middleware=[Middleware(Guard)])
else:
    navigate()
