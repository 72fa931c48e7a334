"""What all parts of the lecturer's page share: its state, and the room."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app import login
from app.api.guard import TOKEN
from app.page_state.classroom import ClassroomState
from app.page_state.session import PageSession
from app.rooms.database import rooms
from core.errors import UserError
from core.rooms.lecturer import Lecturer
from core.rooms.room import RoomError
from core.wording import capital

PAGE = PageSession(ClassroomState)


def secret() -> str:
    """What tells this lecturer from others: their login, or else their browser's token. Raises RoomError without
    one."""
    name = login.name()
    found = f"login {name}" if name else str(st.context.cookies.get(TOKEN, ""))
    if not found:
        raise RoomError("a room belongs to the browser that opened it: allow cookies, and load the page again")
    return found


def lecturer() -> Lecturer:
    """The lecturer's side of the room shown. Raises NoRoom if it is another lecturer's, or gone."""
    return Lecturer(rooms().engine, PAGE.state.room, secret())


def attempt(change: Callable[[], object]) -> None:
    """Makes a change, or says in one sentence why it cannot be made."""
    PAGE.touch()
    try:
        change()
    except UserError as error:
        PAGE.refuse(f"{capital(str(error)).rstrip('.')}.")
