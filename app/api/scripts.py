"""Serves the scripts that draw explanations as a separate file, because Streamlit would send them with each page."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

KEPT, ONCE = "public, max-age=31536000, immutable", "no-store"


def route(base: str) -> Route:
    """The file's route below a path."""
    return Route(f"{base}/scripts/{{version}}.js", scripts)


async def scripts(request: Request) -> Response:
    """All scripts and styles, as one module; also for a page that was served by another version."""
    text, version = await asyncio.get_running_loop().run_in_executor(None, _bundled)
    kept = KEPT if request.path_params["version"] == version else ONCE
    headers = {"Cache-Control": kept, "X-Content-Type-Options": "nosniff"}
    return Response(text, headers=headers, media_type="text/javascript")


def _bundled() -> tuple[str, str]:
    from app import components  # here, because it imports all panels

    return components.bundled(), components.version()
