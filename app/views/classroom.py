"""Room: everyone in a class guesses on a phone, breaks the model and teaches it."""

from __future__ import annotations

import streamlit as st

from app import own_models, page_style
from app.model_choice import Card, kinds, offered, reads_pairs, titles
from app.page_state.widgets import choice
from app.rooms import joining, live, rounds
from app.rooms.database import rooms
from app.rooms.page import PAGE, attempt, lecturer
from core.errors import UserError
from core.rooms.room import NoRoom, open_room, rooms_of

PLACE_IN_MENU = None

PURPOSE = "Students answer on their phones, without installing anything or signing in."


def main() -> None:
    """Draws the page."""
    models = offered(_has_classes)
    PAGE.open(kinds(models))
    page_style.apply(PAGE)
    try:
        own = lecturer() if PAGE.state.room else None
    except NoRoom:
        own = None
        PAGE.refuse("This room is closed, or another browser opened it.")
    except UserError as error:
        page_style.notice([f"Rooms cannot be used: {error}."])
        return
    PAGE.write_link()
    if own is None:
        page_style.notice(PAGE.problems)
        _opening(titles(models))
        return
    with st.sidebar:
        joining.code(own)
        if PAGE.state.projector:
            page_style.note("Turn “Projector” off to lead the room.")
        else:
            if not own.closed():
                rounds.draw(own)
            joining.end(own)
    live.draw(own)


def _has_classes(card: Card) -> bool:
    return reads_pairs(card) and len(card["labels"]) > 1


def _opening(names: dict[str, str]) -> None:
    """The form that opens a room, and the lecturer's rooms."""
    page_style.heading("Open a room for your class")
    page_style.note(PURPOSE)
    if not names:
        page_style.hint("No model that chooses among classes is installed: train one with `python -m trainers train`.")
        return
    choice(PAGE, "model", "Model", names, opens=True)
    word = st.text_input(
        "Room password (optional)",
        key="room word",
        max_chars=40,
        placeholder="None",
        help="Students enter it on their phones: say it in class. The room’s code alone is already hard to guess.",
    )

    def opened() -> None:
        room = open_room(rooms().engine, own_models.maker(), PAGE.state.model or "", word)
        PAGE.set(PAGE.state.with_pair(PAGE.models).updated(room=room.code))

    st.button("Open a room", type="primary", on_click=attempt, args=(opened,))
    joining.reachable()
    try:
        known = rooms_of(rooms().engine, own_models.maker())
    except UserError as error:
        page_style.notice([f"{error}."])
        return
    if known:
        page_style.heading("Your rooms of the last day")
    for room in known:
        label = f"Back to {room.shown}{' (closed)' if room.closed else ''}"
        st.button(label, key=f"room {room.code}", on_click=PAGE.change, kwargs={"room": room.code})


main()
