"""The pairs tried in this session, each with its verdict."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from app import page_style
from app.page_state.codec import short
from app.page_state.explore import ExploreState
from app.page_state.session import PageSession
from app.pairs import Pair, Version
from app.panels import verdict
from core.evidence import Explanation
from core.wording import percent

MOST = 12
"""Maximum number of pairs in the list; the oldest is dropped."""
QUOTED = 60
"""Length limit in characters of a sentence in the list."""
_TRIED = "pairs tried"


@dataclass(frozen=True)
class TriedPair:
    """A pair with the prediction of the model ``name``; ``model``: its title. ``change``: how the pair was derived from
    another one, empty for a typed pair."""

    name: str
    model: str
    texts: Version
    label: str
    p: float
    change: str = ""
    said: str = ""
    """For a model with one output, its score in words."""


def remember(explanation: Explanation, change: str = "") -> None:
    """Puts the pair at the top of the list. ``change``: how it was derived from another one."""
    texts = explanation.first.text, explanation.second.text
    said = verdict.shares(explanation)[0].said
    tried = TriedPair(
        explanation.model,
        explanation.title,
        texts,
        *verdict.headline(explanation),
        change,
        said,
    )
    others = [one for one in _listed() if (one.name, one.texts) != (tried.name, texts)]
    st.session_state[_TRIED] = [tried, *others][:MOST]


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
        first, second = (short(text, QUOTED) for text in tried.texts)
        change = f"{tried.change}: " if tried.change else ""
        label = f"{change}{tried.label} {tried.said or percent(tried.p)} · {first} / {second} · {tried.model}"
        with st.container(key=f"tried {place}"):
            st.button(page_style.plain(label), key=f"reopen {place}", on_click=reopen, args=(tried,), type="tertiary")


def _listed() -> list[TriedPair]:
    listed: list[TriedPair] = st.session_state.get(_TRIED, [])
    return listed
