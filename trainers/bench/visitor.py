"""A visitor of the app without a browser: Streamlit's messages over its websocket, as its own page sends them."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from urllib.parse import urlencode

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from core.errors import RunError
from core.json_types import JsonObject

_BOX = re.compile(r" (first|second)( \d+)?$")
"""How the identifier of a sentence's box ends."""
_PAIR, _REST = "pairlens", "pairlens_address"
"""Components by which the two parts of the page are known that run each alone."""
_TO_OPEN = 300
"""Seconds to wait for a connection."""


@dataclass(frozen=True)
class Verdict:
    """What the page drew of a pair: the probabilities of the classes in their order, and seconds since it was asked."""

    first: str
    second: str
    probabilities: tuple[float, ...]
    seconds: float


class Visitor:
    """One session of Explore. ``address``: http://HOST:PORT; ``headers``: of a login and its cookie. Use it as an
    asynchronous context. All that waits raises RunError after ``patience`` seconds or when the server hangs up."""

    def __init__(self, address: str, headers: Mapping[str, str] | None = None, patience: float = 300) -> None:
        self._address, self._headers, self._patience = address, dict(headers or {}), patience
        self._boxes: dict[str, str] = {}
        self._parts: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._page, self._query = "", ""
        self._known: dict[str, ForwardMsg] = {}
        """Messages that the server need not send again, by their hashes: those of the last run of the whole page."""

    async def __aenter__(self) -> Visitor:
        url = self._address.replace("http", "ws", 1) + "/_stcore/stream"
        protocol = websockets.Subprotocol("streamlit")
        try:
            self._socket = await websockets.connect(
                url,
                subprotocols=[protocol],
                additional_headers=self._headers,
                max_size=None,
                open_timeout=_TO_OPEN,
                ping_interval=None,  # browsers answer the server's pings, and send none
            )
        except (OSError, websockets.WebSocketException, TimeoutError) as error:
            raise RunError(f"{self._address} cannot be opened ({error}): check that the app runs there") from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._socket.close()

    async def open(self, **link: str) -> Verdict:
        """Open Explore at an address with these parameters, of which ``first`` and ``second`` are needed."""
        self._query, self._texts = urlencode(link), {}
        return await self._answer(link["first"], link["second"], "")

    async def type(self, side: str, text: str) -> Verdict:
        """Type another ``first`` or ``second`` sentence and press Enter; with the verdict on screen the browser has the
        rest of the page drawn."""
        self._texts[self._boxes[side]] = text
        link = dict(self._shown) | {side: text}
        verdict = await self._answer(link["first"], link["second"], self._parts[_PAIR])
        await self._answer(verdict.first, verdict.second, self._parts[_REST], verdict)
        return verdict

    async def _answer(self, first: str, second: str, part: str, verdict: Verdict | None = None) -> Verdict:
        """Let a part of the page run, or all of it (empty), until its last message. The verdict's time is that of its
        own message; ``verdict``: the one that is there already."""
        started = time.perf_counter()
        known, new = self._known, dict[str, ForwardMsg]()
        await self._socket.send(self._run(known, part))
        try:
            async with asyncio.timeout(self._patience):
                while True:
                    message = await self._message(known)
                    if message.metadata.cacheable:
                        new[message.hash] = message
                    kind = message.WhichOneof("type")
                    if kind == "new_session":
                        self._page = message.new_session.page_script_hash
                    elif kind == "delta":
                        drawn = self._read(message)
                        if drawn is not None and (drawn["link"]["first"], drawn["link"]["second"]) == (first, second):
                            shares = tuple(one["p"] for one in drawn["verdict"]["classes"])
                            verdict = verdict or Verdict(first, second, shares, time.perf_counter() - started)
                            self._shown = {"first": first, "second": second}
                    elif kind == "script_finished" and verdict is not None:
                        self._known = known if part else new
                        return verdict
        except (TimeoutError, websockets.WebSocketException) as error:
            why = f"{type(error).__name__} {error}".rstrip()
            raise RunError(f"the app did not answer ({why}): is it busy, or was it stopped?") from error

    def _run(self, known: Mapping[str, ForwardMsg], part: str) -> bytes:
        message = BackMsg()
        run = message.rerun_script
        run.fragment_id = part
        run.query_string, run.page_script_hash = self._query, self._page
        run.context_info.url = f"{self._address}/"
        run.cached_message_hashes.extend(known)
        for box, text in self._texts.items():
            run.widget_states.widgets.add(id=box, string_value=text)
        return bytes(message.SerializeToString())

    async def _message(self, known: Mapping[str, ForwardMsg]) -> ForwardMsg:
        """The next one. One that is known comes as its hash, with new metadata."""
        data, message = await self._socket.recv(), ForwardMsg()
        message.ParseFromString(data if isinstance(data, bytes) else data.encode())
        if message.WhichOneof("type") == "ref_hash":
            whole = ForwardMsg()
            whole.CopyFrom(known[message.ref_hash])
            whole.metadata.CopyFrom(message.metadata)
            message = whole
        return message

    def _read(self, message: ForwardMsg) -> JsonObject | None:
        """Remember a sentence's box, and the parts of the page; the drawing of a pair is returned."""
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind in ("text_input", "text_area"):
            box = getattr(element, kind).id
            side = _BOX.search(box)
            if side:
                self._boxes[side[1]] = box
        elif kind == "bidi_component" and element.bidi_component.component_name in (_PAIR, _REST):
            self._parts.setdefault(element.bidi_component.component_name, message.delta.fragment_id)
            data = json.loads(element.bidi_component.json)
            if data.get("view") == "pair":
                return json.loads(data["drawing"])
        return None
