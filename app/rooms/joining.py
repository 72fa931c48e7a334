"""Joining a room, and closing it."""

from __future__ import annotations

import html
from urllib.parse import urlencode

import streamlit as st

from app import page_style
from app.rooms.address import address, only_here, picture
from app.rooms.page import PAGE, attempt
from core.rooms.lecturer import Lecturer, Overview
from core.rooms.teaching import forget

HOW = (
    "Phones cannot reach this server, which only this computer can open. For a class, start it with "
    "“make app HOST=0.0.0.0”, on a network that phones and this computer share."
)
_BIG = (
    '<div style="display:flex;flex-wrap:wrap;gap:2rem;align-items:center;margin:0.5rem 0 1rem">{picture}'
    '<div><div style="font-size:1.1rem">{address}</div>'
    '<div style="font-size:clamp(2.6rem,8vw,6rem);font-weight:700;letter-spacing:0.04em;line-height:1.2">{code}</div>'
    '<div style="font-size:1.1rem">{people}</div></div></div>'
)


def reachable() -> None:
    """Shows how to start the server for a class, if phones cannot reach it."""
    if only_here():
        page_style.hint(HOW)


def big(seen: Overview) -> None:
    """The address, the code and the QR code, large enough to read from the last row."""
    place = address(seen.room.code)
    people = f"{len(seen.names)} in the room" if seen.names else "No one has joined yet"
    if seen.room.word:
        people += " · joining needs the room’s password"
    values = {"address": place.rpartition("/")[0], "code": seen.room.shown, "people": people}
    shown = {name: html.escape(text) for name, text in values.items()}
    st.html(_BIG.format(picture=picture(place, "min(22rem, 70vw)"), **shown))
    reachable()


def code(own: Lecturer) -> None:
    """The room's code, address and QR code, small."""
    seen = own.overview()
    page_style.heading(f"Room {seen.room.shown}")
    page_style.note(address(own.code).rpartition("/")[0])
    if seen.round is not None:  # before, it fills the page
        st.html(picture(address(own.code), "9rem"))


def end(own: Lecturer) -> None:
    """The projector's page, the room's data as a file, and the buttons that close the room."""
    query = urlencode({"room": own.code, "projector": "on"})
    st.link_button("Open the projector’s page", f"classroom?{query}", width="stretch")
    page_style.note("It shows only what you let through: keep this page on your own screen.")
    page_style.download("Save the room’s data (CSV)", own.to_csv, f"pairlens-room-{own.code}.csv", framed=True)
    if own.closed():
        st.button("Delete the room’s data", on_click=attempt, args=(lambda: _end(own, delete=True),))
        return
    with st.popover("Close the room", width="stretch"):
        page_style.note(
            "Phones show that the room is closed. Its data are kept for a day after it was opened, unless you delete "
            "them now."
        )
        st.button("Close and delete the data", on_click=attempt, args=(lambda: _end(own, delete=True),))
        st.button("Close", on_click=attempt, args=(lambda: _end(own, delete=False),))


def _end(own: Lecturer, *, delete: bool) -> None:
    if not delete:
        own.close()
        return
    forget(own.delete())
    PAGE.change(room="")
