"""Explore: one pair, one model, its verdict, and the evidence of how it was reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from app import components, page_style, panels
from app.desk import back_link
from app.explore import candidates, downloads, drawing, pairs_tried, reading, what_if
from app.explore.reading import Read
from app.model_choice import Listed, by_task, explains_texts, kinds, offered, titles
from app.models import card
from app.page_state.codec import fits_a_link
from app.page_state.explore import SHOWN, ExploreState, Selection
from app.page_state.session import PageSession
from app.page_state.widgets import choice
from app.pair_form import PairForm
from core.checkpoint import CheckpointError
from core.effects.edits import EditError
from core.evidence.attention_map import SIMILARITY
from core.json_types import JsonMapping
from core.reading.reader import PairError

PLACE_IN_MENU = 1

KEY = "explored pair"
"""Key of the component that draws the pair."""

PAGE = PageSession(ExploreState)
FORM = PairForm(PAGE)


def main() -> None:
    """Draw the page."""
    models = offered(explains_texts, unreadable=True)  # of the others Filter map and Compare show more
    PAGE.open(kinds(models))
    page_style.apply(PAGE)
    components.load()
    _page(models)


@st.fragment
def _page(models: Mapping[str, Listed]) -> None:
    """The form, the answer and its drawing: typing or selecting reruns only this fragment."""
    PAGE.settle()
    FORM.sentences(models)
    read = FORM.answer(reading.read, "No model is installed: train one with `python -m trainers train`")
    if read is not None:
        _draw(read)
    PAGE.write_link()
    with st.sidebar:
        _sidebar(models, read)
    if read is not None:
        _below(read)


def _draw(read: Read) -> None:
    page, drawn = read.page, drawing.drawing(read)
    selected = drawing.selection(read, drawn)
    pairs_tried.remember(read.trained, what_if.change_of_words(read.steps, len(page.made)))
    components.draw(
        "pair",
        drawn,
        drawing.frame(read, [*PAGE.problems, *drawing.problems(read, drawn)]),
        key=KEY,
        on_selection_change=_selected,
        selection=vars(selected or Selection()),
        explicit=selected is not None,
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
            PAGE.set(replace(state, selection=_picked_words(picked)))
        except (EditError, CheckpointError, PairError) as error:
            PAGE.refuse(f"{page_style.capital(str(error)).rstrip('.')}.")
    else:
        asked = ExploreState.heard(picked)
        PAGE.change(selection=_picked_words(picked), direction=picked.get("direction"), **asked)


def _picked_words(picked: JsonMapping) -> Selection | None:
    return Selection(picked.get("row"), picked.get("column")) if picked.get("chosen") else None


def _sidebar(models: Mapping[str, Listed], read: Read | None) -> None:
    FORM.example()
    shown = titles(models)
    names = FORM.task_and_model(by_task(models), shown)
    cards = ((name, models[name].card) for name in names)
    lines = {name: card.one_line(known) for name, known in cards if known is not None}
    if PAGE.state.model in lines:
        page_style.note(lines[PAGE.state.model])
    if read is not None:
        _options(read)
    with st.popover("All models of this task", type="tertiary"):
        page_style.terms([(shown[name], line) for name, line in lines.items()])
    pairs_tried.draw(PAGE)
    FORM.files()


def _options(read: Read) -> None:
    """Display options of the first matrix; a transformer's head has no scores."""
    record = next(iter(panels.word_maps(read.shown)), None)
    if record is None or record.units == SIMILARITY:
        return
    scored = bool(record.scores)
    choice(PAGE, "show", "Matrix shows", {name: SHOWN[name] for name in SHOWN if name != "score" or scored})
    lead = record.lead(read.shown)
    if lead is not None:
        page_style.note(
            f"On average a word’s best score is {lead:.1f} higher than its second best, so the softmax gives it "
            f"e^{lead:.1f} times the weight. A higher temperature (What if) spreads the attention."
        )


def _below(read: Read) -> None:
    """Links to other pages with this pair, its numbers as files, and candidate answers."""
    page = read.page
    model = {"model": page.model or ""}
    pair = model | {"first": page.pair.first, "second": page.pair.second}
    for kind, (name, label) in panels.ELSEWHERE.items():
        if read.shown.find(kind) is not None:
            # A pair too long for a link is there all the same: the pages of a session share it.
            page_style.page_link(name, pair if fits_a_link(pair) else model, label)
    back_link.draw(page.pair.now)
    downloads.draw(read)
    if candidates.fits(read.checkpoint):
        candidates.draw(PAGE, read.checkpoint)


main()
