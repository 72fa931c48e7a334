"""Explore: one pair, one model, its verdict, and the evidence of how it was reached."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from app import components, page_style, panels
from app.components import About, PairFrame
from app.desk import back_link
from app.explore import candidates, pairs_tried
from app.model_choice import Listed, by_task, explains_texts, judging_alone, kinds, offered, titles, unread
from app.models import card
from app.page_state.codec import fits_a_link, short
from app.page_state.explore import SHOWN, TEMPERATURES, ExploreState, Selection
from app.page_state.session import PageSession
from app.page_state.widgets import choice
from app.pair_form import PairForm
from app.pairs import Pair
from app.panels import Drawing, verdict
from app.panels.verdict import Verdict
from core.checkpoint import Checkpoint, CheckpointError, load_named
from core.evidence import Explanation
from core.explain import explained, with_nearest
from core.reading.reader import PairError

PLACE_IN_MENU = 1

KEY = "explored pair"
"""Of the component that draws it."""

PAGE = PageSession(ExploreState)
FORM = PairForm(PAGE)


def main() -> None:
    """Draw the page."""
    models = offered(explains_texts, unreadable=True)  # of the others Filter map and Compare show more
    page = PAGE.open(kinds(models))
    page_style.apply(projector=page.projector)
    components.load()
    FORM.sentences(models)
    read = FORM.answer(_read, "No model is installed: train one with `python -m trainers train`")
    # The pair first, whose verdict a person waits for, then the link, which takes a browser longer than all else; last
    # what stands below it, so that the sidebar's file holds new candidates by the time that their ranking is seen.
    drawing = None if read is None else _drawing(page, read)
    explanation = None if read is None or drawing is None else _show(page, read, drawing)
    PAGE.write_link()
    with st.sidebar:
        _sidebar(models, drawing)
    if read is not None and explanation is not None:
        _below(page, read, explanation)


def _selected() -> None:
    """The browser's selection."""
    picked = components.picked(PAGE, KEY)
    if picked.get("id") != FORM.id:
        return
    if picked.get("edit"):
        with contextlib.suppress(CheckpointError, PairError, KeyError, IndexError):
            shown = explained(load_named(PAGE.state.model or ""), *PAGE.state.pair.now)
            PAGE.set(PAGE.state.anew(texts=(pairs_tried.changed(shown, **picked["edit"]),)))
    else:
        PAGE.change(selection=Selection(picked.get("row"), picked.get("column")), direction=picked.get("direction"))


def _reopen(tried: pairs_tried.Tried) -> None:
    model = tried.name if tried.name in PAGE.models else PAGE.state.model
    PAGE.set(PAGE.state.anew(model=model, texts=(Pair(*tried.texts),)))


def _sidebar(models: Mapping[str, Listed], drawing: Drawing | None) -> None:
    page_style.projector_switch(PAGE)
    FORM.example()
    shown = titles(models)
    names = FORM.task_and_model(by_task(models), shown)
    cards = ((name, models[name].card) for name in names)
    lines = {name: card.one_line(known) for name, known in cards if known is not None}
    if PAGE.state.model in lines:
        page_style.note(lines[PAGE.state.model])
    for panel in () if drawing is None else drawing.panels:
        if panel.data.show is not None:
            _options(panel.data.lead)
            break
    with st.popover("All models of this task", type="tertiary"):
        page_style.terms([(shown[name], line) for name, line in lines.items()])
    pairs_tried.draw(_reopen)
    FORM.files()


def _options(lead: float | None) -> None:
    """What a matrix can be asked to show; ``lead``: how far its best scores lie above the next."""
    choice(PAGE, "show", "Matrix shows", SHOWN)
    st.select_slider(
        "What if: temperature of the softmax",
        TEMPERATURES,
        PAGE.state.temperature,
        format_func=lambda t: f"{t:g}",
        **PAGE.widget("temperature"),
    )
    if lead is not None:
        page_style.note(
            f"On average a word’s best score is {lead:.1f} higher than its second best, so the softmax gives it "
            f"e^{lead:.1f} times the weight. Divide the scores by more, and the weight spreads."
        )


class Read(NamedTuple):
    """The pair as it was read. ``shown``: the explanation that is drawn, at the page's temperature; ``trained``: the
    model's own; ``alone``: that of a model that reads the judged sentence alone."""

    checkpoint: Checkpoint
    shown: Explanation
    trained: Explanation
    alone: Explanation | None


def _read(page: ExploreState) -> Read:
    checkpoint, trained = FORM.explanation()
    shown, alone = explained(checkpoint, *page.pair.now, page.temperature), None
    name = judging_alone(checkpoint.card)
    if name is not None:
        with contextlib.suppress(CheckpointError, PairError):
            alone = explained(load_named(name), *page.pair.now)
    return Read(checkpoint, shown, trained, alone)


def _drawing(page: ExploreState, read: Read) -> Drawing:
    """What is drawn of the pair."""
    checkpoint, shown, trained, alone = read
    what_if = shown is not trained
    own = replace(
        Verdict.of(shown),
        alone=verdict.beside(alone),
        trained=verdict.beside(trained) if what_if else None,
        what_if=f"softmax at temperature {page.temperature:g}" if what_if else "",
        meaning=candidates.meaning(checkpoint, shown) if candidates.fits(checkpoint) else "",
        gold=page.gold(verdict.class_names(shown)),
        pinned=pairs_tried.pinned(),
    )
    return panels.drawing(shown, own, page.show, unread(checkpoint.card))


def _show(page: ExploreState, read: Read, drawing: Drawing) -> Explanation:
    """Draw the pair. Returns its explanation with what was looked up for the selected words."""
    selection, problems = page.selection, PAGE.problems
    if selection is not None and not selection.fits(drawing.length("row"), drawing.length("column")):
        problems.append(f"The link selects {selection}, but this pair has no such word: nothing is selected.")
        selection = None
    looking = drawing.directions
    if page.direction not in (None, *looking):
        known = f"it can ask for {' and '.join(looking)}: the first is shown" if looking else "this model has none"
        problems.append(f"The link asks for the direction “{short(page.direction or '')}”; {known}.")
    selected = selection or Selection(drawing.focus)
    explanation = read.shown
    for side in drawing.sides:
        word = selected.row if side.axis == "row" else selected.column
        if word is not None:
            explanation = with_nearest(read.checkpoint, explanation, word, side.role)
    pairs_tried.remember(read.trained)
    components.draw(
        "pair",
        drawing,
        _frame(page, read, drawing.verdict.what_if, problems),
        key=KEY,
        on_selection_change=_selected,
        late=panels.late(explanation),
        selection=vars(selected),
        explicit=selection is not None,
        direction=page.direction,
        editable=True,
        tour=True,
        id=FORM.id,
    )
    return explanation


def _frame(page: ExploreState, read: Read, what_if: str, problems: Sequence[str]) -> PairFrame:
    """The frame of the drawing. Agreement with people was measured on the attention that the model was trained with."""
    unselected = replace(page, selection=None, direction=None)
    frame = components.frame(read.shown, read.checkpoint.card, unselected, problems)
    if not what_if:
        return frame
    *texts, verdict = components.about(read.shown).lines
    return replace(frame, agreement=None, about=About(_stem(page, read), (*texts, f"{verdict}, what if: {what_if}")))


def _stem(page: ExploreState, read: Read) -> str:
    """A name for files of what is drawn, unlike that of another temperature."""
    stem = components.file_stem(read.shown)
    return stem if read.shown is read.trained else f"{stem}-temperature-{page.temperature:g}"


def _below(page: ExploreState, read: Read, explanation: Explanation) -> None:
    """Where else the pair can be looked at, its numbers as files, and candidates for its place."""
    model = {"model": page.model or ""}
    pair = model | {"first": page.pair.first, "second": page.pair.second}
    for more in panels.pages(explanation):
        # A pair too long for a link is there all the same: the pages of a session share it.
        page_style.page_link(more.name, pair if fits_a_link(pair) else model, more.label)
    back_link.draw(page.pair.now)
    _downloads(explanation, _stem(page, read))
    if candidates.fits(read.checkpoint):
        candidates.draw(PAGE, read.checkpoint)


def _downloads(explanation: Explanation, stem: str) -> None:
    with st.container(horizontal=True, gap="small"):
        page_style.download("All numbers (JSON)", lambda: explanation.to_json(indent=1), f"pairlens-{stem}.json")
        for record in (record for record in explanation.evidence if record.tabular):
            make = functools.partial(record.to_csv, explanation)
            file = re.sub(r"\W+", "-", f"pairlens {record.title.lower()}") + f"-{stem}.csv"
            page_style.download(f"{record.title[:1].upper()}{record.title[1:]} (CSV)", make, file)


main()
