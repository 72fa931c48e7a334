"""The pairs tried in this session, each with its verdict."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from app import page_style
from app.page_state.codec import short
from app.page_state.explore import ExploreState
from app.page_state.session import PageSession
from app.pairs import Pair, Version
from app.panels import verdict
from core.evidence import Explanation

MOST = 12
"""Maximum number of pairs in the list; the oldest is dropped."""
QUOTED = 60
"""Length limit in characters of a sentence in the list."""
_TRIED = "pairs tried"


class TriedPair(NamedTuple):
    """A pair as read by the model ``name``; ``said``: its line in the list."""

    name: str
    texts: Version
    said: str


def remember(explanation: Explanation, change: str = "") -> None:
    """Puts the pair at the top of the list. ``change``: how it was derived from another one, empty for a typed pair."""
    texts = explanation.first.text, explanation.second.text
    first, second = (short(text, QUOTED) for text in texts)
    how = f"{change}: " if change else ""
    said = f"{how}{verdict.said(explanation)} · {first} / {second} · {explanation.title}"
    others = [one for one in _listed() if (one.name, one.texts) != (explanation.model, texts)]
    st.session_state[_TRIED] = [TriedPair(explanation.model, texts, said), *others][:MOST]


def draw(page: PageSession[ExploreState]) -> None:
    """Draws the list, whose pairs can be reopened."""

    def reopen(tried: TriedPair) -> None:
        model = tried.name if tried.name in page.models else page.state.model
        page.set(page.state.updated(model=model, texts=(Pair(*tried.texts),)))

    listed = _listed()
    if len(listed) < 2:
        return
    page_style.note("Pairs tried")
    for place, tried in enumerate(listed):
        with st.container(key=f"tried {place}"):
            label = page_style.plain(tried.said)
            st.button(label, key=f"reopen {place}", on_click=reopen, args=(tried,), type="tertiary")


def tried() -> list[Version]:
    """The pairs in the list, each once."""
    return list(dict.fromkeys(one.texts for one in _listed()))


def _listed() -> list[TriedPair]:
    listed: list[TriedPair] = st.session_state.get(_TRIED, [])
    return listed
