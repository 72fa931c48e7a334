"""The user name from a proxy's login, read from the header that a setting names.

A client could forge the header, so it is only trusted if the server listens on this machine alone: then every request
comes through the proxy, which overwrites the header.
"""

from __future__ import annotations

import functools
import ipaddress
import os
import sys
from collections.abc import Callable, Sequence

import streamlit as st

from core.desk.schema import clean


def name() -> str:
    """The visitor's login on a page."""
    return name_in(st.context.headers.get_all)


def name_in(values_of: Callable[[str], Sequence[str]]) -> str:
    """The login in a request's headers (``values_of`` a header's name), in the header that ``PAIRLENS_USER_HEADER``
    names; empty where none is named, the server listens to other machines too, or the header is not there exactly
    once."""
    header = os.environ.get("PAIRLENS_USER_HEADER")
    if not header:
        return ""
    address = st.get_option("server.address")
    if not on_this_machine(address):
        _say_once(header, str(address or "all addresses"))
        return ""
    values = values_of(header)
    return clean(_decoded(values[0])) if len(values) == 1 else ""


def on_this_machine(address: str | None) -> bool:
    """Whether only programs of this machine reach a server at this address."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address or "").is_loopback
    except ValueError:
        return False


def _decoded(value: str) -> str:
    """Headers arrive as Latin-1, and browsers write the names of logins as UTF-8."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


@functools.cache
def _say_once(header: str, address: str) -> None:
    print(
        f"PAIRLENS_USER_HEADER: {header} is not believed, since the server listens on {address} and anybody may write "
        "it; let it listen on localhost, behind the proxy that has the login.",
        file=sys.stderr,
        flush=True,
    )
