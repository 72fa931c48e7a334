"""The HTTP API that pages, notebooks and scripts share: one route for each kind of answer (docs/api.md).

A route is a thin shell around the function that the command line calls, and its answer is the same record as JSON. The
routes are Starlette's, which Streamlit runs on: FastAPI would validate with pydantic and describe the routes, but the
records are already checked and written by :mod:`core.json_types`, so it would bring a second way of doing both.

The routes keep no session and import no torch; :mod:`app.api.answers` is imported with the first request.
"""

from __future__ import annotations

import streamlit as st
from starlette.routing import BaseRoute, Route

from app.api.door import answer


def routes() -> list[BaseRoute]:
    """For :class:`streamlit.App`, which does not prefix the paths with ``server.baseUrlPath``: the API answers
    with and without it, because a proxy may remove it."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    places = ["/api", f"/{base}/api"] if base else ["/api"]
    return [Route(f"{place}/{{kind}}", answer, methods=["GET", "POST"]) for place in places]
