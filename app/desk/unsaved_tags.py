"""Clicks on tags that were lost because a server died: the browser keeps each click until a drawing shows it, and a
server that takes over reports those missing from the log."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from app.browser import component, text_of, unseen
from app.desk import annotator
from app.desk.open_run import OpenRun, attempt, notice_next

_KEY = "desk unsaved tags"


def session() -> str:
    """A random name for this session."""
    return str(st.session_state.setdefault("desk session", secrets.token_hex(8)))


def draw(opened: OpenRun, row: str, tags: Sequence[str], given: Sequence[str], pills: str) -> None:
    """Keeps the clicks on the open row's tags in the browser. ``pills``: the key of the tags' widget."""

    def report() -> None:
        sentences = []
        for click in st.session_state[_KEY].lost or ():
            people = opened.annotations.state(str(click["file"])).row(str(click["row"]))
            held = annotator.name() in people.tags.get(str(click["tag"]), ())
            if held != click["on"]:
                wanted = "saved: set it again" if click["on"] else "taken away: take it away again"
                sentences.append(f"The tag “{click['tag']}” on row {click['row']} was not {wanted}.")
        if sentences:
            notice_next(" ".join(sentences))

    data = {"session": session(), "file": opened.file, "row": row, "tags": tags, "given": given}
    with unseen("unsaved tags"):
        component("pairlens_unsaved_tags", text_of(Path(__file__).with_suffix(".js")))(
            key=_KEY, data=data | {"pills": f"st-key-{pills.replace(' ', '-')}"}, on_lost_change=lambda: attempt(report)
        )
