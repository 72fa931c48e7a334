"""The lecturer's controls: the next round, and pairs that students call out."""

from __future__ import annotations

import streamlit as st

from app import page_style
from app.page_state.classroom import KINDS
from app.page_state.widgets import segments
from app.rooms.page import PAGE, attempt
from core.adaptation.reading_ahead import read_ahead
from core.checkpoint import Checkpoint, load_named
from core.checkpoint.adapted import origin_of
from core.errors import UserError
from core.rooms import questions
from core.rooms.lecturer import Lecturer
from core.rooms.questions import WordAt
from core.rooms.room import BREAK, GUESS, LONGEST_TEXT, TEACH
from core.wording import capital, the

VERDICT = (-1, -1)
"""The option “the verdict” among the words to ask about."""
ABOUT = {
    GUESS: "Everyone guesses on their phone; you reveal what the class thinks, next to the model’s answer.",
    BREAK: "Everyone sends pairs that the model should get wrong. Pairs that fool it go to two classmates.",
    TEACH: "Half of the pairs on which classmates agree teach the model; the other half tests it.",
}


def draw(own: Lecturer) -> None:
    """The kind of the next round, its pair, and the button that starts it."""
    page_style.heading("Next round")
    segments(PAGE, "kind", "Kind of round", KINDS, label_visibility="collapsed")
    kind = PAGE.state.kind
    page_style.note(ABOUT[kind])
    try:
        checkpoint = load_named(own.model())
        questions.check_model(checkpoint)
    except UserError as error:
        page_style.notice([f"{capital(str(error)).rstrip('.')}."])
        return
    page_style.note(f"Model: {checkpoint.card['title']}.")
    word = None
    if kind != TEACH:
        _texts(checkpoint)
        if kind == GUESS:
            word = _word(checkpoint)
    st.button("Start the round", type="primary", on_click=attempt, args=(lambda: start(own, checkpoint, kind, word),))


def start(own: Lecturer, checkpoint: Checkpoint, kind: str, word: WordAt | None = None) -> None:
    """Starts a round on the pair of the page's state. Raises UserError."""
    questions.check_model(checkpoint)
    state = PAGE.state
    asked = questions.question(checkpoint, state.first, state.second, word) if kind != TEACH else {}
    answer = {}
    if kind == GUESS:
        answer = questions.answer(checkpoint, state.first, state.second, word)
        if word is None and state.gold:
            answer["people"] = state.gold
    if kind == BREAK:  # the test pairs for teaching are read while the class plays
        read_ahead(origin_of(checkpoint))
    own.start(kind, checkpoint.name, asked, answer)


def _texts(checkpoint: Checkpoint) -> None:
    for side in ("first", "second"):
        role = page_style.plain(page_style.capital(checkpoint.roles[side]))

        def take(text: str, side: str = side) -> None:
            PAGE.set(PAGE.state.updated(**{side: text, "gold": ""}))

        st.text_input(role, getattr(PAGE.state, side), max_chars=LONGEST_TEXT, **PAGE.widget(side, take))


def _word(checkpoint: Checkpoint) -> WordAt | None:
    """The question about the pair: None for its verdict, else the word whose most attended word is asked for."""
    state = PAGE.state
    try:
        words = questions.askable(checkpoint, state.first, state.second)
    except UserError:
        words = []
    roles = [checkpoint.roles["first"], checkpoint.roles["second"]]
    names: dict[WordAt, str] = {VERDICT: "The verdict"}
    for (side, index), text in words:
        names[side, index] = f"Where does “{text}” of {the(roles[side])} look?"
    key = f"room question {state.first} {state.second}"
    asked = st.selectbox("Question", list(names), format_func=names.__getitem__, key=key)
    return None if asked == VERDICT else asked


def call_out(own: Lecturer) -> None:
    """The form for a pair that a student calls out, or the lecturer's own, without a phone."""
    asked = own.overview().round
    if asked is None or asked.kind != BREAK or own.closed():
        return
    checkpoint = load_named(asked.model)
    with st.expander("A pair called out in class"), st.form("called out", clear_on_submit=True, border=False):
        page_style.note("For a class without phones: the pair is shown at once, and its label counts as agreed.")
        first, second = st.columns(2)
        texts = (
            first.text_input(page_style.plain(page_style.capital(checkpoint.roles["first"])), max_chars=LONGEST_TEXT),
            second.text_input(page_style.plain(page_style.capital(checkpoint.roles["second"])), max_chars=LONGEST_TEXT),
        )
        titles = {one["name"]: one["title"] for one in asked.question["classes"]}
        label = st.selectbox("Right class", list(titles), format_func=lambda name: page_style.plain(titles[name]))
        sent = st.form_submit_button("Test the model on it")
    if sent:
        attempt(lambda: own.add(asked, texts, label, *questions.verdict(checkpoint, *texts)))
        st.rerun()
