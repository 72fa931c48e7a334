"""HTTP layer of the API: validates requests and streams answers as lines of JSON until the client disconnects."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
from collections.abc import Hashable
from urllib.parse import urlsplit

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from app import login
from app.api.executor import Compute, Executor, Update
from app.api.refusals import Refused, sentence
from core.errors import UserError
from core.json_types import JsonObject

LONGEST_BODY = 1_000_000
"""Size limit of a request in bytes."""
HEADERS = {
    "Cache-Control": "no-store",
    # Neither nginx nor Streamlit's own compression may buffer lines.
    "X-Accel-Buffering": "no",
    "Content-Encoding": "identity",
}
CLIENT = "x-pairlens-client"
"""Header with an identifier chosen by each page: computing time is shared among clients."""
EXECUTOR = Executor()


async def answer(request: Request) -> Response | AnswerStream:
    """Answers a request for the kind of answer named in its path."""
    try:
        check_sender(request)
        body = await _body(request) if request.method == "POST" else {}
        # In a thread, because the first request imports torch and all models.
        question = functools.partial(_question, request.path_params["kind"], body)
        key, compute = await asyncio.get_running_loop().run_in_executor(None, question)
    except Refused as refused:
        return JSONResponse({"error": refused.error}, refused.status, HEADERS)
    return AnswerStream(key, compute, client_of(request))


def _question(kind: str, body: JsonObject) -> tuple[Hashable, Compute]:
    """The key of a question and the function that computes its answer. Raises Refused."""
    from app.api import answers

    try:
        return answers.question(kind, body)
    except UserError as error:
        raise Refused(422, sentence(str(error))) from None


def check_sender(request: Request) -> None:
    """Rejects requests that another site's page makes in a visitor's browser. Raises Refused.

    If only this machine can reach the server, the Host must also name this machine, because another site's name could
    resolve to it; behind a proxy with a login (``PAIRLENS_USER_HEADER``) the proxy determines it.
    """
    headers = request.headers
    host, origin = headers.get("host", ""), headers.get("origin")
    if headers.get("sec-fetch-site") == "cross-site" or (origin is not None and urlsplit(origin).netloc != host):
        raise Refused(403, "Pages of other sites may not ask this server: open PairLens itself.")
    local = login.on_this_machine(st.get_option("server.address")) and not os.environ.get("PAIRLENS_USER_HEADER")
    name = urlsplit(f"//{host}").hostname
    if local and not (login.on_this_machine(name) or name == st.get_option("browser.serverAddress")):
        raise Refused(403, "This server is only reached as localhost; STREAMLIT_BROWSER_SERVER_ADDRESS adds a name.")


def client_of(request: Request) -> str:
    """The unit among which computing time is shared: a page's identifier, else a login, else an address."""
    address = request.client.host if request.client else ""
    return request.headers.get(CLIENT, "")[:100] or login.name_in(request.headers.getlist) or address


async def _body(request: Request) -> JsonObject:
    size, parts = 0, []
    async for part in request.stream():
        size += len(part)
        if size > LONGEST_BODY:
            raise Refused(413, f"The request is longer than {LONGEST_BODY:,} bytes: shorten the texts.")
        parts.append(part)
    try:
        body = json.loads(b"".join(parts))
    except (ValueError, RecursionError):  # too many brackets
        body = None
    if not isinstance(body, dict):
        raise Refused(422, "The request’s body must be a JSON object.")
    return body


class AnswerStream:
    """A response with one JSON line per update and the HTTP status of the first update. The computation is cancelled as
    soon as the client closes the connection."""

    def __init__(self, key: Hashable, compute: Compute, client: str) -> None:
        self._key, self._compute, self._client = key, compute, client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        loop, updates = asyncio.get_running_loop(), asyncio.Queue[Update | None]()

        def tell(update: Update | None) -> None:
            with contextlib.suppress(RuntimeError):  # the server is shutting down
                loop.call_soon_threadsafe(updates.put_nowait, update)

        leave = EXECUTOR.ask(self._key, self._compute, self._client, tell)
        listening = asyncio.create_task(_until_closed(receive, updates))
        try:
            update = await updates.get()
            if update is not None:
                headers = {"Content-Type": "application/x-ndjson", **HEADERS}
                raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
                await send({"type": "http.response.start", "status": update.status, "headers": raw})
            while update is not None:
                await send({"type": "http.response.body", "body": line_of(update), "more_body": not update.last})
                update = None if update.last else await updates.get()
        finally:
            leave()
            listening.cancel()


async def _until_closed(receive: Receive, updates: asyncio.Queue[Update | None]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    updates.put_nowait(None)


def line_of(update: Update) -> bytes:
    """Serialises an update as a line of JSON."""
    if update.answer:
        return b'{"answer": ' + update.answer + b"}\n"
    values = {"error": update.error} if update.error else {"progress": update.progress}
    return json.dumps(values, ensure_ascii=False).encode() + b"\n"
