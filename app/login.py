"""The user name from a proxy's login, read from the header named in a setting.

A client could forge the header, so it is only trusted if the server listens only on this machine: every request then
comes through the proxy, which overwrites the header.
"""

from __future__ import annotations

import functools
import ipaddress
import os
import sys
from collections.abc import Callable, Sequence

import streamlit as st


def name() -> str:
    """The visitor's login name on a page."""
    return name_in(st.context.headers.get_all)


def name_in(values_of: Callable[[str], Sequence[str]]) -> str:
    """The login name in a request's headers (``values_of`` returns a header's values), from the header named in
    ``PAIRLENS_USER_HEADER``; empty if no header is configured, the server listens to other machines too, or the header
    does not occur exactly once."""
    header = os.environ.get("PAIRLENS_USER_HEADER")
    if not header:
        return ""
    address = st.get_option("server.address")
    if not on_this_machine(address):
        _say_once(header, str(address or "all addresses"))
        return ""
    from core.desk.schema import clean  # here, so that Explore starts without SQLAlchemy

    values = values_of(header)
    return clean(_decoded(values[0])) if len(values) == 1 else ""


def on_this_machine(address: str | None) -> bool:
    """Whether only programs on this machine can reach a server at this address."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address or "").is_loopback
    except ValueError:
        return False


def _decoded(value: str) -> str:
    """Headers arrive as Latin-1, but login names are written as UTF-8."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


@functools.cache
def _say_once(header: str, address: str) -> None:
    print(
        f"PAIRLENS_USER_HEADER: {header} is ignored, since the server listens on {address} and anyone could set "
        "it; let it listen on localhost, behind the proxy with the login.",
        file=sys.stderr,
        flush=True,
    )
