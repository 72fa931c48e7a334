"""Explore: one pair, one model, its verdict, and the evidence of how it was reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from app import components, page_style, panels
from app.desk import back_link
from app.explore import candidates, downloads, drawing, pairs_tried, reading, what_if
from app.explore.reading import Read
from app.model_choice import Listed, by_task, explains_texts, kinds, offered, titles
from app.models import card
from app.page_state.codec import fits_a_link
from app.page_state.explore import ExploreState
from app.page_state.session import PageSession
from app.pair_form import PairForm
from core.card import Card
from core.checkpoint import CheckpointError
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
    components.load()
    _page(models, cards)


@st.fragment
def _page(models: Mapping[str, Listed], cards: Mapping[str, Card]) -> None:
    """The form, the answer and its drawing: typing or selecting reruns only this fragment."""
    PAGE.settle()
    page_style.note(PURPOSE)
    FORM.sentences(models)
    read = FORM.answer(
        partial(reading.read, cards=cards), "No model is installed: train one with `python -m trainers train`"
    )
    if read is not None:
        _draw(read)
    PAGE.write_link()
    with st.sidebar:
        _sidebar(models, read)
    if read is not None:
        _below(read)


def _draw(read: Read) -> None:
    page = read.page
    pairs_tried.remember(read.trained, what_if.change_of_words(read.steps, len(page.made)))
    components.draw(
        "pair",
        drawing.drawing(read),
        drawing.frame(read, PAGE.problems),
        key=KEY,
        on_selection_change=_selected,
        selection=page.selection,
        direction=page.direction,
        asked=drawing.asked(read),
        editable=True,
        id=FORM.id,
    )


def _selected() -> None:
    """Takes over a selection or an edit made in the browser."""
    picked = components.picked(PAGE, KEY)
    if picked.get("id") != FORM.id:
        return
    if picked.get("edit"):
        try:
            state = what_if.after(PAGE.state, picked["edit"])
            PAGE.set(replace(state, selection=picked.get("select")))
        except (EditError, CheckpointError, PairError) as error:
            PAGE.refuse(f"{page_style.capital(str(error)).rstrip('.')}.")
    else:
        asked = ExploreState.heard(picked)
        PAGE.change(selection=picked.get("select"), direction=picked.get("direction"), **asked)


def _sidebar(models: Mapping[str, Listed], read: Read | None) -> None:
    FORM.example()
    FORM.task_and_model(by_task(models), titles(models))
    listed = models.get(PAGE.state.model or "")
    if listed is not None and listed.card is not None:
        page_style.note(card.one_line(listed.card))
    FORM.files(partial(_kept, read))


def _kept(read: Read | None) -> None:
    pairs_tried.draw(PAGE)
    if read is not None:
        downloads.draw(read)


def _below(read: Read) -> None:
    """Links to other pages with this pair, and candidate answers."""
    page = read.page
    model = {"model": page.model or ""}
    pair = model | {"first": page.pair.first, "second": page.pair.second}
    for kind, (name, label) in panels.ELSEWHERE.items():
        if read.shown.find(kind) is not None:
            # Even a pair too long for a link is passed on: the pages of a session share it.
            page_style.page_link(name, pair if fits_a_link(pair) else model, label)
    back_link.draw(page.pair.now)
    if candidates.fits(read.checkpoint):
        candidates.draw(PAGE, read.checkpoint)


main()
