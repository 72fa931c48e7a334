"""The address of a room, as a phone in the same network reaches it."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import segno
import streamlit as st

from app import login


def address(code: str) -> str:
    """The address of a room's page for phones, below the address under which the lecturer opened this page. A phone
    cannot use ``localhost``, so it is replaced by this machine's network address, if the server admits other
    machines."""
    opened = urlsplit(st.context.url or "")
    host = opened.netloc
    if login.on_this_machine(opened.hostname) and not only_here():
        host = _in_network() + (f":{opened.port}" if opened.port else "")
    base = opened.path.rstrip("/").rpartition("/")[0]
    return f"{opened.scheme or 'http'}://{host}{base}/room/{code}"


def only_here() -> bool:
    """Whether phones cannot reach this server: it only admits this machine, and the page was opened on it."""
    local = login.on_this_machine(st.get_option("server.address"))
    return local and login.on_this_machine(urlsplit(st.context.url or "").hostname)


def _in_network() -> str:
    """This machine's address in its network; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        try:
            own.connect(("10.255.255.255", 1))
            return str(own.getsockname()[0])
        except OSError:
            return socket.gethostname()


def picture(text: str, size: str) -> str:
    """A QR code as HTML, black on white in both themes; ``size``: its width in CSS."""
    source = segno.make(text, error="m", micro=False).svg_data_uri(border=4, light="white")
    return f'<img src="{source}" alt="QR code of the room’s address" style="width:{size};max-width:100%">'
