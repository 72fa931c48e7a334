"""Explore: one pair, one model, its verdict, and the evidence of how it was reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from app import components, page_style, panels
from app.desk import back_link
from app.explore import answering, candidates, changes, corrections, downloads, drawing, pairs_tried, what_if
from app.explore.answering import Answered
from app.model_choice import Listed, by_task, explains_texts, kinds, offered, titles
from app.models import card
from app.page_state.codec import fits_a_link
from app.page_state.explore import ExploreState
from app.page_state.session import PageSession
from app.pair_form import PairForm
from core.card import Card
from core.checkpoint import CheckpointError, available, listed_once
from core.effects.edits import EditError
from core.reading.reader import PairError

PLACE_IN_MENU = 1

KEY = "explored pair"
"""Key of the component that draws the pair."""

PURPOSE = (
    "See what a trained model decides about your words, and which of them it goes by: change a word and press Enter."
)

PAGE = PageSession(ExploreState)
FORM = PairForm(PAGE)


def main() -> None:
    """Draws the page."""
    listed = offered(lambda card: True, unreadable=True)
    cards = {name: model.card for name, model in listed.items() if model.card is not None}
    # Filter map and Compare show more about the others.
    models = {name: model for name, model in listed.items() if model.card is None or explains_texts(model.card)}
    PAGE.open(kinds(models))
    page_style.apply(PAGE)
    _page(models, cards)


@st.fragment
def _page(models: Mapping[str, Listed], cards: Mapping[str, Card]) -> None:
    """The form, the answer and its drawing: typing or selecting reruns only this fragment."""
    PAGE.settle()
    if PAGE.state.model not in (None, *models):  # from a saved file: the lists are the whole page's
        st.rerun()
    page_style.note(PURPOSE)
    with listed_once(available()):
        FORM.sentences(models)
        answered = FORM.answer(
            partial(answering.answer, cards=cards), "No model is installed: train one with `python -m trainers train`"
        )
        above = st.container()
        late = answered is not None and changes.suites_come_late(answered)
        if answered is not None:
            if not late:
                changes.what_changed(PAGE, answered, above)
            _draw(answered)
        PAGE.write_link()
        with st.sidebar:
            _sidebar(models, answered)
        if answered is not None:
            _below(answered)
            if late:
                changes.what_changed(PAGE, answered, above)


def _draw(answered: Answered) -> None:
    page = answered.page
    pairs_tried.remember(answered.trained, what_if.change_of_words(answered.steps, len(page.made)))
    components.draw(
        "pair",
        drawing.drawing(answered),
        drawing.frame(answered, PAGE.problems),
        key=KEY,
        on_selection_change=_selected,
        selection=page.selection,
        direction=page.direction,
        asked=drawing.asked(answered),
        editable=True,
        id=FORM.id,
    )


def _selected() -> None:
    """Takes over a selection or an edit made in the browser."""
    picked = components.picked(PAGE, KEY)
    if picked.get("id") != FORM.id:
        if picked.get("correct") is not None or picked.get("edit"):
            PAGE.refuse("That was chosen before the page showed the new words: choose it again.")
        return
    if (right := picked.get("correct")) is not None:
        corrections.choose(PAGE, str(right))
    elif picked.get("edit"):
        try:
            state = what_if.after(PAGE.state, picked["edit"])
            PAGE.set(replace(state, selection=picked.get("select")))
        except (EditError, CheckpointError, PairError) as error:
            PAGE.refuse(f"{page_style.capital(str(error)).rstrip('.')}.")
    else:
        asked = ExploreState.received(picked)
        PAGE.change(selection=picked.get("select"), direction=picked.get("direction"), **asked)


def _sidebar(models: Mapping[str, Listed], answered: Answered | None) -> None:
    FORM.example()
    FORM.task_and_model(by_task(models), titles(models))
    FORM.epoch()
    listed = models.get(PAGE.state.model or "")
    if listed is not None and listed.card is not None:
        page_style.note(card.one_line(listed.card))
    if answered is not None:
        corrections.tray(PAGE, answered)
        if PAGE.state.projector:
            _room(answered)
    FORM.files(partial(_kept, answered))


def _kept(answered: Answered | None) -> None:
    pairs_tried.draw(PAGE)
    corrections.files(PAGE)
    if answered is not None:
        downloads.draw(answered)
        if not PAGE.state.projector:
            _room(answered)


def _room(answered: Answered) -> None:
    """A link that opens a room for a class, with this pair."""
    page, gold = answered.page, answered.page.gold(answered.shown.class_names)
    first, second = page.pair.now
    query = {"model": page.shown_model or "", "first": first, "second": second, "gold": gold.label if gold else ""}
    page_style.page_link("classroom", query if fits_a_link(query) else {}, "Open a room for a class")


def _below(answered: Answered) -> None:
    """Links to other pages with this pair, and candidate answers."""
    page = answered.page
    model = {"model": page.model or ""}
    pair = model | {"first": page.pair.first, "second": page.pair.second}
    for kind, (name, label) in panels.ELSEWHERE.items():
        if answered.shown.find(kind) is not None:
            # Even a pair too long for a link is passed on: the pages of a session share it.
            page_style.page_link(name, pair if fits_a_link(pair) else model, label)
    back_link.draw(page.pair.now)
    if candidates.fits(answered.checkpoint):
        candidates.draw(PAGE, answered.checkpoint)


main()
