"""Unsaved marks: the browser keeps each change until the page shows it. Changes that are missing from the log because
the server died or Streamlit dropped a click are reported."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from app.browser import component, text_of, unseen
from app.desk.open_run import PAGE, notice_next
from core.desk.schema import LONGEST_NOTE, clean

_KEY = "desk unsaved"
Marks = Mapping[str, bool | str | None]
"""The values of a row's checkboxes and texts, or of tags for all rows that a filter keeps, by their names on screen."""


@dataclass(frozen=True)
class Control:
    """A button, checkbox or text box that sets a mark."""

    at: str
    """Its CSS selector."""
    mark: str
    value: bool | str | None = None
    """The value that the control sets; None if each click toggles it."""
    key: str = ""
    """The digit key that has the same effect."""


@dataclass(frozen=True)
class MarkedPlace:
    """A row ("row 2n") or a filter ("filter not A.right") with the marks and controls that the page shows for it."""

    name: str
    marks: Marks
    controls: Sequence[Control]


def session() -> str:
    """A random id for this session."""
    return str(st.session_state.setdefault("desk session", secrets.token_hex(8)))


def css_class(key: str) -> str:
    """The class of the element that contains the widget with this key."""
    return f"st-key-{key.replace(' ', '-')}"


def keep(
    file: str,
    places: Sequence[MarkedPlace],
    saved: Callable[[str], Marks],
    text: Callable[[str, str], str] = lambda mark, value: value,
) -> None:
    """Keeps changes at these places of a file in the browser, and reports lost ones. ``saved``: a place's marks in
    the log, without those that the log cannot tell; ``text``: how the value of a mark is shown."""

    def report(all_lost: Sequence[Mapping[str, Any]]) -> str:
        sentences = []
        for lost in all_lost:
            place, mark, value = str(lost["place"]), str(lost["mark"]), lost["value"]
            value = clean(value, LONGEST_NOTE) if isinstance(value, str) else value
            if lost["file"] == file and saved(place).get(mark, value) != value:
                outcome = "removed: remove it again" if value is False else "saved: set it again"
                outcome = f"saved: “{text(mark, value)}”" if isinstance(value, str) else outcome
                sentences.append(f"{mark} on {place} was not {outcome}.")
        return " ".join(sentences)

    def ask() -> None:
        PAGE.touch()
        notice_next(partial(report, st.session_state[_KEY].lost or ()))

    data = {"session": session(), "file": file, "places": [asdict(place) for place in places]}
    with unseen("unsaved"):
        component("pairlens_unsaved", text_of(Path(__file__).with_suffix(".js")))(
            key=_KEY, data=data, on_lost_change=ask
        )
