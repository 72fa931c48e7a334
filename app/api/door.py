"""HTTP layer of the API: validates requests and streams answers as lines of JSON until the client disconnects."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import math
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from app.api.executor import Executor, Update
from app.api.guard import client_of
from app.api.refusals import Refused, sentence
from core.errors import UserError
from core.json_types import JsonObject

if TYPE_CHECKING:
    from app.api.answers import Asked

LONGEST_BODY = 1_000_000
"""Size limit of a request in bytes."""
HEADERS = {
    "Cache-Control": "no-store",
    # Neither nginx nor Streamlit's own compression may buffer lines.
    "X-Accel-Buffering": "no",
    "Content-Encoding": "identity",
}
EXECUTOR = Executor()


async def answer(request: Request) -> Response | AnswerStream:
    """Answers a request for the kind of answer named in its path."""
    try:
        body = await read_body(request) if request.method == "POST" else {}
        # In a thread, because the first request imports torch and all models.
        question = functools.partial(_question, request.path_params["kind"], body)
        asked = await asyncio.get_running_loop().run_in_executor(None, question)
    except Refused as refused:
        return refusal_of(refused)
    return AnswerStream(asked, client_of(request))


def refusal_of(refused: Refused) -> Response:
    """The response to a rejected request."""
    retry = {"Retry-After": str(math.ceil(refused.wait))} if refused.wait else {}
    return JSONResponse({"error": refused.error}, refused.status, HEADERS | retry)


def _question(kind: str, body: JsonObject) -> Asked:
    """The question of a request. Raises Refused."""
    from app.api import answers

    try:
        return answers.question(kind, body)
    except UserError as error:
        raise Refused(422, sentence(str(error))) from None


async def read_body(request: Request, most: int = LONGEST_BODY) -> JsonObject:
    """The JSON object that a request sends. Raises Refused."""
    size, parts = 0, []
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise Refused(413, f"The request is longer than {most:,} bytes: shorten the texts.")
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

    def __init__(self, asked: Asked, client: str) -> None:
        self._asked, self._client = asked, client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        loop, updates = asyncio.get_running_loop(), asyncio.Queue[Update | None]()

        def tell(update: Update | None) -> None:
            with contextlib.suppress(RuntimeError):  # the server is shutting down
                loop.call_soon_threadsafe(updates.put_nowait, update)

        key, compute, lane, size = self._asked
        try:
            leave = EXECUTOR.ask(key, compute, self._client, tell, lane=lane, size=size)
        except Refused as refused:
            await refusal_of(refused)(scope, receive, send)
            return
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
    for name in ("answer", "part"):
        if text := getattr(update, name):
            return b'{"%s": %s}\n' % (name.encode(), text)
    values: JsonObject = {"error": update.error} if update.error else {"progress": update.progress}
    return json.dumps(values, ensure_ascii=False).encode() + b"\n"
