"""The current round, refreshed every two seconds."""

from __future__ import annotations

import html

import streamlit as st

from app import page_style
from app.page_state.classroom import KINDS
from app.rooms import breaking, guessing, joining, rounds, teaching
from app.rooms.address import address
from app.rooms.page import PAGE
from core.errors import UserError
from core.rooms.lecturer import Lecturer, Overview
from core.rooms.room import BREAK, GUESS, NoRoom, Round
from core.wording import capital, counted

SECONDS = 2
_TEXT = (
    '<div class="pl-note" style="margin:0">{role}</div>'
    '<div style="font-size:1.25rem;overflow-wrap:anywhere;unicode-bidi:plaintext">{text}</div>'
)
_PARTS = {GUESS: guessing.draw, BREAK: breaking.draw}


def draw(own: Lecturer) -> None:
    """The room before its first round, or the current round."""
    _live(own)
    if not PAGE.state.projector:
        rounds.call_out(own)


@st.fragment(run_every=SECONDS)
def _live(own: Lecturer) -> None:
    PAGE.settle()
    page_style.notice(PAGE.problems)
    try:
        seen = own.overview()
    except NoRoom:
        page_style.hint("This room is closed, and its data are deleted.")
        return
    except UserError as error:
        page_style.notice([f"{capital(str(error))}."])
        return
    if seen.room.closed:
        page_style.hint("This room is closed: phones can no longer use it.")
    if seen.round is None:
        joining.big(seen)
        return
    _heading(seen, seen.round)
    _PARTS.get(seen.round.kind, teaching.draw)(own, seen, seen.round)


def _heading(seen: Overview, asked: Round) -> None:
    place = address(seen.room.code).rpartition("/")[0].partition("://")[2]
    joined = f"{counted(len(seen.names), 'phone')} · {place} · {seen.room.shown}"
    st.html(
        f'<h2 class="pl-heading">{html.escape(KINDS[asked.kind])}</h2><div class="pl-note">{html.escape(joined)}</div>'
    )
    if asked.question:
        texts = asked.question["first"], asked.question["second"]
        for role, text in zip(asked.question["roles"], texts, strict=True):
            st.html(_TEXT.format(role=html.escape(page_style.capital(role)), text=html.escape(text)))
