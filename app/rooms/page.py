"""Shared by all parts of the lecturer's page: its state, and the room."""

from __future__ import annotations

from collections.abc import Callable

from app import own_models
from app.page_state.classroom import ClassroomState
from app.page_state.session import PageSession
from app.rooms.database import rooms
from core.errors import UserError
from core.rooms.lecturer import Lecturer
from core.wording import capital

PAGE = PageSession(ClassroomState)


def lecturer() -> Lecturer:
    """The lecturer's side of the room shown. Raises NoRoom if it is another lecturer's, or gone."""
    return Lecturer(rooms().engine, PAGE.state.room, own_models.maker())


def attempt(change: Callable[[], object]) -> None:
    """Makes a change, or shows in one sentence why it cannot be made."""
    PAGE.touch()
    try:
        change()
    except UserError as error:
        PAGE.refuse(f"{capital(str(error)).rstrip('.')}.")
