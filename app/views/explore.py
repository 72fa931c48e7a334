"""Explore: one pair, one model, its verdict, and the evidence of how it was reached."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from app import components, page_style, panels
from app.browser import unseen
from app.desk import back_link
from app.effects import late
from app.explore import candidates, drawing, pairs_tried, reading, what_if
from app.explore.reading import Read
from app.model_choice import Listed, by_task, explains_texts, kinds, offered, titles
from app.models import card
from app.page_state.codec import fits_a_link
from app.page_state.explore import SHOWN, ExploreState, Selection
from app.page_state.session import PageSession
from app.page_state.widgets import choice
from app.pair_form import PairForm
from app.panels import Drawing, links
from app.panels.panel import Payload
from core.checkpoint import CheckpointError
from core.effects.edits import EditError
from core.errors import UserError
from core.evidence import Explanation
from core.evidence.attention_map import SIMILARITY
from core.evidence.effects import links_csv
from core.json_types import JsonMapping
from core.reading.reader import PairError

PLACE_IN_MENU = 1

KEY = "explored pair"
"""Of the component that draws it."""
_EXPLORED = "what is explored"

PAGE = PageSession(ExploreState)
FORM = PairForm(PAGE)


@dataclass(frozen=True)
class Explored:
    """What is drawn of the pair, by the ``number`` that its drawing has in the session. ``explanation``: with what was
    looked up for the selected words."""

    read: Read
    drawing: Drawing
    explanation: Explanation
    number: int


def main() -> None:
    """Draw the page: first the pair, whose verdict a person waits for. After that its two parts run each alone."""
    models = offered(explains_texts, unreadable=True)  # of the others Filter map and Compare show more
    PAGE.open(kinds(models))
    page_style.apply(PAGE)
    components.load()
    _pair(models)
    _beside(models)


@st.fragment
def _pair(models: Mapping[str, Listed]) -> None:
    """The boxes and what is drawn of their pair. It runs alone when something is typed or selected in it."""
    alone, boxes, before = PAGE.touched, st.container(), st.session_state.get(_EXPLORED)
    with boxes:
        if not alone:  # while a model is loaded, too
            FORM.sentences(models)
    known = FORM.answer(reading.read, "No model is installed: train one with `python -m trainers train`")
    st.session_state[_EXPLORED] = None if known is None else _show(known, before, alone)
    if known is None and alone:
        st.rerun()  # what stands beside the pair was about another one
    with boxes:
        if alone:  # they are there already: what has changed comes first
            FORM.sentences(models)
    PAGE.settle()
    PAGE.write_step()


@st.fragment
def _beside(models: Mapping[str, Listed]) -> None:
    """What the verdict does not wait for: the sidebar, and what stands below. It runs alone when the browser has drawn
    what the pair's part sent."""
    if PAGE.touched:
        st.rerun()  # one of its own widgets has changed what the pair's part draws
    explored: Explored | None = st.session_state[_EXPLORED]
    PAGE.write_link()
    with st.sidebar:
        _sidebar(models, None if explored is None else explored.drawing)
    if explored is not None:
        with unseen("below"):
            components.draw("below", drawing.below(explored.read, explored.number), key="what is below")
        _below(explored)
        _late(explored.read, explored.drawing)


def _show(read: Read, before: Explored | None, alone: bool) -> Explored:
    """Draw the pair; ``before``: what was drawn last, ``alone``: whether the rest of the page waits for it."""
    page, drawn = read.page, drawing.drawing(read)
    number = 1 if before is None else before.number + (drawn != before.drawing)
    questions, chosen = read.questions, drawing.selection(read, drawn)
    selected = chosen or late.strongest(questions, drawn) or Selection()
    explanation = drawing.looked_up(read, drawn, selected)
    pairs_tried.remember(read.trained, what_if.change_of_words(read.steps, len(page.made)))
    components.draw(
        "pair",
        drawn,
        drawing.frame(read, [*PAGE.problems, *drawing.problems(read, drawn)]),
        key=KEY,
        on_selection_change=_selected,
        late=panels.late(explanation),
        selection=vars(selected),
        explicit=chosen is not None,
        direction=page.direction,
        asked=drawing.asked(read),
        editable=True,
        id=FORM.id,
        number=number,
        alone=alone,
    )
    return Explored(read, drawn, explanation, number)


def _selected() -> None:
    """The browser's selection."""
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


def _sidebar(models: Mapping[str, Listed], drawing: Drawing | None) -> None:
    FORM.example()
    shown = titles(models)
    names = FORM.task_and_model(by_task(models), shown)
    cards = ((name, models[name].card) for name in names)
    lines = {name: card.one_line(known) for name, known in cards if known is not None}
    if PAGE.state.model in lines:
        page_style.note(lines[PAGE.state.model])
    shown_map = next((one.data for one in drawing.panels if one.data.show is not None), None) if drawing else None
    if shown_map is not None:
        _options(shown_map)
    with st.popover("All models of this task", type="tertiary"):
        page_style.terms([(shown[name], line) for name, line in lines.items()])
    pairs_tried.draw(PAGE)
    FORM.files()


def _options(shown: Payload) -> None:
    """What the first matrix can be asked to show; that of a transformer's head has no scores."""
    of_a_head, lead = bool(vars(shown).get("of")), shown.lead
    if vars(shown).get("units") == SIMILARITY:
        return
    choice(PAGE, "show", "Matrix shows", {name: SHOWN[name] for name in SHOWN if name != "score" or not of_a_head})
    if lead is not None and not of_a_head:
        page_style.note(
            f"On average a word’s best score is {lead:.1f} higher than its second best, so the softmax gives it "
            f"e^{lead:.1f} times the weight. A higher temperature (What if) spreads the attention."
        )


@st.fragment
def _late(read: Read, drawn: Drawing) -> None:
    """What words do to the verdict. Only this part runs again until it is computed."""
    heard = late.hear(read.questions, read.shown, FORM.id)
    first = None if read.page.selection is not None else late.strongest(read.questions, drawn)
    if first is not None:
        heard = replace(heard, selection=first, late=panels.late(drawing.looked_up(read, drawn, first)))
    late.draw(heard)


def _below(explored: Explored) -> None:
    """Where else the pair can be looked at, its numbers as files, and candidates for its place."""
    read, page = explored.read, explored.read.page
    model = {"model": page.model or ""}
    pair = model | {"first": page.pair.first, "second": page.pair.second}
    for more in panels.pages(explored.explanation):
        # A pair too long for a link is there all the same: the pages of a session share it.
        page_style.page_link(more.name, pair if fits_a_link(pair) else model, more.label)
    back_link.draw(page.pair.now)
    _downloads(read, explored.explanation, drawing.stem(read), read.questions)
    if candidates.fits(read.checkpoint):
        candidates.draw(PAGE, read.checkpoint)


def _downloads(read: Read, explanation: Explanation, stem: str, questions: late.Questions) -> None:
    """Files, each made when a person asks for it: effects may take longer than the page."""

    def everything() -> str:
        try:
            evidence = (*explanation.evidence, questions.effects())
            evidence += (questions.faithfulness(),) if questions.believed else ()
        except UserError:  # the page says what is wrong
            evidence = explanation.evidence
        return replace(explanation, evidence=evidence).to_json(indent=1)

    def cut_links() -> str:
        cut = questions.effects().links
        return links_csv(cut, [links.link_map(one, explanation).words for one in cut])

    with st.container(horizontal=True, gap="small"):
        page_style.download("All numbers (JSON)", everything, f"pairlens-{stem}.json")
        effects_of_words = f"pairlens-effects-{questions.computed}-{stem}.csv"
        page_style.download("Effects of words (CSV)", lambda: questions.effects().to_csv(), effects_of_words)
        if questions.links:
            page_style.download("Effects of links (CSV)", cut_links, f"pairlens-links-{questions.links}-{stem}.csv")
        if questions.believed:
            measured = f"pairlens-faithfulness-{stem}.csv"
            page_style.download("Faithfulness (CSV)", lambda: questions.faithfulness().to_csv(), measured)
        for record in (record for record in explanation.evidence if record.tabular):
            make = functools.partial(record.to_csv, explanation)
            file = re.sub(r"\W+", "-", f"pairlens {record.title.lower()}") + f"-{stem}.csv"
            page_style.download(f"{page_style.capital(record.title)} (CSV)", make, file)
        if len(read.steps) > 1:
            make_list = functools.partial(what_if.to_csv, read.checkpoint, read.steps)
            page_style.download("What if (CSV)", make_list, f"pairlens-what-if-{stem}.csv")


main()
