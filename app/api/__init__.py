"""The HTTP API shared by pages, notebooks and scripts: one endpoint for each kind of answer (docs/api.md).

An endpoint is a thin wrapper around the function that the command line calls, and returns the same record as JSON. The
endpoints use Starlette, on which Streamlit runs: FastAPI would validate with pydantic and document the endpoints, but
:mod:`core.json_types` already validates and serialises the records, so it would duplicate both.

The endpoints keep no session and do not import torch; the first request imports :mod:`app.api.answers`.
"""

from __future__ import annotations

import streamlit as st
from starlette.routing import BaseRoute, Route

from app.api import rooms, scripts
from app.api.door import answer


def routes() -> list[BaseRoute]:
    """For :class:`streamlit.App`, which does not prefix paths with ``server.baseUrlPath``: the API, the scripts, and
    the phones of rooms, are answered with and without it, because a proxy may strip it."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    found = list[BaseRoute]()
    for place in ("", f"/{base}") if base else ("",):
        found += [Route(f"{place}/api/{{kind}}", answer, methods=["GET", "POST"]), scripts.route(place)]
        found += rooms.routes(place)
    return found
