"""The HTTP routes of phones in a room: their page, and short requests about the current round.

Phones poll the state every two seconds; no connection stays open. Errors are one sentence; texts are never logged.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from app.api.door import read_body, refusal_of
from app.api.guard import client_of, token_of
from app.api.limits import Limit
from app.api.refusals import Refused
from app.palette import theme_variables
from core.json_types import JsonObject

if TYPE_CHECKING:
    from core.rooms.phones import Phones

R = TypeVar("R")

PAUSE = 1.0
"""Seconds before a phone that sends too many requests gets its refusal."""
PAGE = Path(__file__).resolve().parents[1] / "rooms"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
FILES = {"phone.js": "text/javascript", "phone.css": "text/css"}
LONGEST_BODY = 20_000
OF_PHONE, OF_ADDRESS = Limit(rate=4, burst=20), Limit(rate=40, burst=400)
"""A phone polls every two seconds; until they have tokens, all phones of a class share one address."""
ACTS, STATES, SENTENCES = (ThreadPoolExecutor(1, f"{what} of rooms") for what in ("acts", "states", "sentences"))
TURN = threading.Lock()
"""Phones are answered one at a time: actions, state requests and sentences (the slowest) take turns, so that a verdict
waits for at most one of each. Torch and SQLite release the GIL in every call: threads that compute at the same time
hand it over a thousand times per sentence, each time waiting for the next one to wake up, and sentences took ten times
as long."""


def routes(base: str) -> list[BaseRoute]:
    """The phones' routes below a path."""
    return [
        Route(f"{base}/room", lambda request: RedirectResponse("room/", headers=HEADERS)),  # its files are below room/
        Route(f"{base}/room/", page),
        Route(f"{base}/room/static/{{name}}", static),
        Route(f"{base}/room/{{code}}", page),
        Route(f"{base}/room/{{code}}/state", state),
        Route(f"{base}/room/{{code}}/{{act}}", act, methods=["POST"]),
    ]


def page(request: Request) -> Response:
    """The phones' page, the same for every code."""
    return FileResponse(PAGE / "phone.html", headers=HEADERS)


def static(request: Request) -> Response:
    """The page's script and style sheet."""
    name = request.path_params["name"]
    if name not in FILES:
        return JSONResponse({"error": "There is no such file."}, 404, HEADERS)
    return Response(_file(name), headers=HEADERS, media_type=FILES[name])


@functools.cache
def _file(name: str) -> str:
    from app.components.bundle import bundle  # here, because it imports all panels

    if name.endswith(".js"):
        entry = PAGE / name
        return bundle(entry, sorted({*PAGE.glob("*.js")} - {entry}), {})
    text = (PAGE / name).read_text(encoding="utf-8")
    for theme, variables in zip(("light", "dark"), theme_variables(), strict=True):
        text = text.replace(f"/*{theme}*/", variables)
    return text


def _answering(handle: Callable[[Request, str], Awaitable[JsonObject]]) -> Callable[[Request], Awaitable[Response]]:
    """A route that admits a phone and answers its request, or returns the reason for refusing it in one sentence."""

    @functools.wraps(handle)
    async def answer(request: Request) -> Response:
        try:
            token = token_of(request)
            try:
                (OF_PHONE if token else OF_ADDRESS).take(client_of(request))
            except Refused:
                await asyncio.sleep(PAUSE)  # otherwise refusing a flood would take as much time as others' answers
                raise
            if not token:
                raise Refused(403, "This page needs its cookie: allow cookies for this site, and load the page again.")
            return JSONResponse(await handle(request, token), headers=HEADERS | {"Cache-Control": "no-store"})
        except Refused as refused:
            return refusal_of(refused)

    return answer


@_answering
async def state(request: Request, token: str) -> JsonObject:
    """The state that the phone shows."""
    from app.api import room_requests as requests

    return await _in_thread(lambda phones: requests.state(phones, request.path_params["code"], token), STATES)


@_answering
async def act(request: Request, token: str) -> JsonObject:
    """An action of the phone: join, guess, send a pair, request the sentence about it, or check a pair."""
    from app.api import room_requests as requests

    code, name, body = request.path_params["code"], request.path_params["act"], await read_body(request, LONGEST_BODY)
    if name not in requests.ACTS:
        raise Refused(404, "This action is not available here: load the page again.")
    threads = SENTENCES if name == "sentence" else ACTS
    answer = await _in_thread(lambda phones: requests.ACTS[name](phones, code, token, body), threads)
    return await _in_thread(answer, SENTENCES, nullcontext()) if callable(answer) else answer


async def _in_thread(
    ask: Callable[[Phones], R], threads: ThreadPoolExecutor, turn: AbstractContextManager[object] = TURN
) -> R:
    """Runs a function that needs the database in a thread. Raises Refused."""

    def asked() -> R:
        from app.api import room_requests  # the first request imports torch and all models

        with turn:
            return room_requests.refusing(ask)

    return await asyncio.get_running_loop().run_in_executor(threads, asked)
