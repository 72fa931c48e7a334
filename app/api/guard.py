"""Which requests the server answers, by one rule for pages, their websocket and the API; and the token that tells
browsers apart."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import ipaddress
import os
import re
import secrets
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.config import is_manually_set
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from app import login
from app.api.refusals import Refused
from core.desk.folders import desk_folder
from core.errors import UserError

DAY = 24 * 3600
HEADERS = {"Cache-Control": "no-store"}
TOKEN = "pairlens_client"
"""Cookie with the token."""
HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[\w.-]+)(:\d+)?", re.IGNORECASE)


class Guard:
    """Middleware that answers other sites' requests with 403 and gives each browser a token."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        try:
            check_sender(connection)
        except Refused as refused:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})  # the browser gets 403
            else:
                await refusal(connection, refused)(scope, receive, send)
            return
        await self._app(scope, receive, _giving_token(send, token_of(connection)))


def refusal(connection: HTTPConnection, refused: Refused) -> Response:
    """The response to a refused request: a sentence for people, JSON for programs."""
    if "text/html" in connection.headers.get("accept", ""):
        return PlainTextResponse(refused.error, refused.status, HEADERS)
    return JSONResponse({"error": refused.error}, refused.status, HEADERS)


def check_sender(connection: HTTPConnection) -> None:
    """Rejects requests that another site's page makes in a visitor's browser. Raises Refused.

    The other site could also point its own domain at this server (DNS rebinding), so ``Host`` must be one of the
    server's names.
    """
    headers = connection.headers
    host, origin = headers.get("host", ""), headers.get("origin")
    if not _is_own_host(host):
        raise Refused(
            403,
            "This server does not answer under this name: open it by its address, or start it with "
            "STREAMLIT_BROWSER_SERVER_ADDRESS set to the name.",
        )
    # A link on another site may lead here. Scripts of pages at another port are "same-site".
    followed = headers.get("sec-fetch-mode") == "navigate" and connection.scope.get("method") == "GET"
    elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site") and not followed
    if elsewhere or (origin is not None and urlsplit(origin).netloc != host):
        raise Refused(403, "Pages of other sites cannot use this server: open PairLens itself.")


def _is_own_host(host: str) -> bool:
    """Whether a ``Host`` header names this server: localhost, the names in the settings ``server.address`` and
    ``browser.serverAddress``, or an IP address, which cannot be another site's name. A server that only this machine
    can reach has only its loopback addresses. If ``server.allowedHosts`` is set, which Streamlit applies to the
    websocket, only these count. A proxy with a login (``PAIRLENS_USER_HEADER``) determines the host itself."""
    found = HOST.fullmatch(host)
    if found is None:
        return False
    if st.get_option("server.allowedHosts"):
        return is_host_allowed(host)
    address = st.get_option("server.address")
    local = login.on_this_machine(address)
    if local and os.environ.get("PAIRLENS_USER_HEADER"):
        return True
    name = found["name"].strip("[]").lower().rstrip(".")
    own = (address, st.get_option("browser.serverAddress"))
    if login.on_this_machine(name) or name in [known.lower() for known in own if known]:
        return True
    return not local and _ip_address(name) is not None


def _ip_address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def client_of(connection: HTTPConnection) -> str:
    """The unit among which computing time is shared: the token that this server gave to a browser, else a login, else
    an address (for IPv6 its network, because one user may own all of it)."""
    known = token_of(connection) or login.name_in(connection.headers.getlist)
    if known:
        return known
    if "x-forwarded-for" in connection.headers and not os.environ.get("PAIRLENS_USER_HEADER"):
        return "forwarded"  # without our own proxy, the sender can choose the header and so the address
    found = _ip_address(connection.client.host if connection.client else "")
    return str(ipaddress.ip_network((found, 64), strict=False) if found and found.version == 6 else found)


def token_of(connection: HTTPConnection) -> str:
    """A request's token, empty without one of this server's."""
    token = connection.cookies.get(TOKEN, "")
    return token if hmac.compare_digest(token.encode(), _signed(token.partition(".")[0]).encode()) else ""


def _signed(name: str) -> str:
    """A token, signed with the server's secret."""
    return f"{name}.{hmac.new(_secret(), f'{TOKEN} {name}'.encode(), hashlib.sha256).hexdigest()}"


@functools.cache
def _secret() -> bytes:
    """``server.cookieSecret`` if it is set. Otherwise a secret stored in the desk's folder, so that a lecturer and the
    phones in a room are recognised after a restart; without such a folder, Streamlit's secret of this process."""
    if not is_manually_set("server.cookieSecret"):
        with contextlib.suppress(OSError, UserError):
            return _kept_secret(desk_folder() / "cookie-secret")
    return str(st.get_option("server.cookieSecret")).encode()


def _kept_secret(file: Path) -> bytes:
    """The secret in a file that only this user can read, created by the first server that needs it."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent) as scratch, contextlib.suppress(FileExistsError):
            scratch.write(secrets.token_bytes(32))
            scratch.flush()
            os.link(scratch.name, file)
    return file.read_bytes()


def _giving_token(send: Send, token: str) -> Send:
    """Adds a token to a page: the browser's own, renewed for a day, or a new one."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if message["status"] == 304 or headers.get("content-type", "").startswith("text/html"):
                given = token or _signed(secrets.token_hex(8))
                headers.append("set-cookie", f"{TOKEN}={given}; HttpOnly; Max-Age={DAY}; Path=/; SameSite=Lax")
        await send(message)

    return sent
