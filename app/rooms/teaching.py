"""A round of teaching: in the background, the model learns half of the pairs on which the class agreed."""

from __future__ import annotations

import threading
from urllib.parse import urlencode

import streamlit as st

from app import own_models, page_style
from app.rooms.page import PAGE, attempt
from core.checkpoint import load_named
from core.errors import UserError
from core.rooms.lecturer import Lecturer, Overview
from core.rooms.room import Round
from core.rooms.teaching import LEAST, agreed_pairs, models_of, teach
from core.wording import capital, counted

_LEARNING: dict[int, str] = {}
"""Rounds whose model learns on this server: "" while it learns, else the reason why it failed."""


def draw(own: Lecturer, seen: Overview, asked: Round) -> None:
    """The result of teaching, or the button that starts it."""
    agreed = len(agreed_pairs(seen.pairs))
    learning = _LEARNING.get(asked.id)
    if asked.result:
        _result(own, asked)
    if learning == "":
        page_style.hint("The model is learning …")
        return
    if learning:
        page_style.notice([learning])
    if PAGE.state.projector:
        return
    verb = "counts" if agreed == 1 else "count"
    page_style.note(f"{counted(agreed, 'different pair')} fooled the model and {verb} as agreed.")
    if agreed < LEAST:
        page_style.hint(f"Teaching takes {LEAST} such pairs, one to teach and one to test: play “Break it” first.")
    st.button(
        "Teach the model again" if asked.result else "Teach the model",
        type="secondary" if asked.result else "primary",
        disabled=agreed < LEAST,
        on_click=attempt,
        args=(lambda: _start(own, seen, asked),),
    )


def _start(own: Lecturer, seen: Overview, asked: Round) -> None:
    """Teaches in a background thread."""
    checkpoint, maker = load_named(asked.model), own_models.maker()

    def learn() -> None:
        try:
            # Earlier models are kept until the room is deleted: links lead to them, and it may play with one of them.
            result = teach(checkpoint, seen.pairs, maker) | {"earlier": models_of(asked)}
            own.set_result(asked.id, result)
            del _LEARNING[asked.id]
        except UserError as error:
            _LEARNING[asked.id] = f"{capital(str(error)).rstrip('.')}."
        except Exception as error:
            _LEARNING[asked.id] = f"The model could not learn ({type(error).__name__}): the server’s log says why."
            raise

    _LEARNING[asked.id] = ""
    threading.Thread(target=learn, name="teaching", daemon=True).start()


def _result(own: Lecturer, asked: Round) -> None:
    """Held-back pairs before and after, the suites, and links that inspect the taught model."""
    found = asked.result or {}
    before, after = st.columns(2)
    before.metric("Held-back pairs right before", f"{found['before']} of {found['held_back']}")
    after.metric(f"After {counted(found['taught'], 'pair')} of the class", f"{found['after']} of {found['held_back']}")
    page_style.note(f"The class chose pairs that fool the model: it starts near 0. {found['suites']}")
    model = str(found["model"])
    own_models.add(model)
    if PAGE.state.projector:
        return
    with st.container(horizontal=True, gap="small"):
        st.link_button("Explore the taught model", f"explore?{urlencode({'model': model, 'projector': 'on'})}")
        both = urlencode({"model": asked.model, "with": model, "projector": "on"})
        st.link_button("Compare it with before", f"compare?{both}")
        if st.button("Use it in the next rounds", disabled=own.model() == model):
            attempt(lambda: own.use_model(model))
            st.rerun()  # all of the page: the sidebar starts rounds with it
