"""Marks that a server did not live to save: the browser keeps each until a drawing shows it, and a server that takes
over reports those that are not in the log."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import streamlit as st

from app.browser import component, text_of, unseen
from app.desk.open_run import attempt, notice_next

_KEY = "desk unsaved"
Marks = Mapping[str, bool | str | None]
"""Checkboxes and texts of a row, or tags of all rows of a filter, by their names in sentences."""


@dataclass(frozen=True)
class Control:
    """What sets a mark: a button, a checkbox or a text box."""

    at: str
    """Its CSS selector."""
    mark: str
    value: bool | None = None
    """The value that a button sets; None for buttons that change the display."""
    key: str = ""
    """The digit that does the same."""


@dataclass(frozen=True)
class Place:
    """A row ("row 2n") or a filter ("filter not A.right") with the marks that the page shows of it."""

    name: str
    marks: Marks
    controls: Sequence[Control]


def session() -> str:
    """A random name for this session."""
    return str(st.session_state.setdefault("desk session", secrets.token_hex(8)))


def keep(file: str, places: Sequence[Place], saved: Callable[[str], Marks]) -> None:
    """Keep in the browser what is set at these places of a file, and report what was lost. ``saved``: the marks of a
    place in the log, without those that it cannot tell."""

    def report() -> None:
        sentences = []
        for lost in st.session_state[_KEY].lost or ():
            place, mark, value = str(lost["place"]), str(lost["mark"]), lost["value"]
            if lost["file"] == file and saved(place).get(mark, value) != value:
                outcome = "taken away: take it away again" if value is False else "saved: set it again"
                outcome = f"saved: “{value}”" if isinstance(value, str) else outcome
                sentences.append(f"{mark} on {place} was not {outcome}.")
        if sentences:
            notice_next(" ".join(sentences))

    data = {"session": session(), "file": file, "places": [asdict(place) for place in places]}
    with unseen("unsaved"):
        component("pairlens_unsaved", text_of(Path(__file__).with_suffix(".js")))(
            key=_KEY, data=data, on_lost_change=lambda: attempt(report)
        )
