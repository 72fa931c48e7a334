"""Explore: one pair, one model, its verdict, and the evidence of how it was reached."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from app import candidates, components, page_style, pairs_tried, panels
from app.desk import back_link
from app.model_choice import by_task, explains_texts, judging_alone, kinds, offered, unread
from app.page_state.codec import fits_a_link, short
from app.page_state.explore import SHOWN, TEMPERATURES, ExploreState, Selection
from app.page_state.session import PageSession
from app.pair_form import PairForm, titles
from app.pairs import Pair
from app.panels import card
from app.panels.panel import Page, Payload
from core.checkpoint import Checkpoint, CheckpointError, load_named, read_card
from core.evidence import Explanation
from core.explain import explained, with_nearest
from core.reading.reader import PairError

KEY = "explored pair"
"""Of the component that draws it."""

PAGE = PageSession(ExploreState)
FORM = PairForm(PAGE)


def main() -> None:
    """Draw the page."""
    models = offered(explains_texts, unreadable=True)  # of the others Filter map and Compare show more
    PAGE.open(kinds(models))
    page_style.apply(projector=PAGE.state.projector)
    components.load()
    FORM.sentences(models.get(PAGE.state.model or ""))
    explained = FORM.explained(_explained, "No model is installed: train one with `python -m trainers train`")
    # The pair first, whose verdict a person waits for; last what stands below it, so that the sidebar's file holds new
    # candidates by the time that their ranking is seen.
    drawn = None
    if explained is not None:
        drawn, explanation = _show(PAGE.state, explained, PAGE.problems)
        pairs_tried.remember(explained.trained)
    with st.sidebar:
        _sidebar(models, drawn)
    if explained is not None:
        _below(PAGE.state, explained, explanation)


def _selected() -> None:
    """The browser's selection."""
    picked, shown = FORM.picked(KEY), FORM.last
    if picked is not None and picked.get("edit") and shown is not None:
        with contextlib.suppress(KeyError, IndexError):
            PAGE.set(PAGE.state.anew(texts=(pairs_tried.changed(shown, **picked["edit"]),)))
    elif picked is not None:
        PAGE.change(selection=Selection(picked.get("row"), picked.get("column")), direction=picked.get("direction"))


def _reopen(tried: pairs_tried.Tried) -> None:
    model = tried.model if tried.model in PAGE.models else PAGE.state.model
    PAGE.set(PAGE.state.anew(model=model, texts=(Pair(*tried.texts),)))


def _sidebar(models: Mapping[str, Path], drawn: Payload | None) -> None:
    page_style.projector_switch(PAGE)
    FORM.example()
    shown = titles(models)
    names = FORM.task_and_model(by_task(models), shown)
    lines = _lines({name: models[name] for name in names})
    if PAGE.state.model in lines:
        page_style.note(lines[PAGE.state.model])
    if drawn is not None:
        _options(drawn)
    with st.popover("All models of this task", type="tertiary"):
        page_style.terms([(shown[name], line) for name, line in lines.items()])
    pairs_tried.draw(_reopen)
    FORM.files()


def _lines(models: Mapping[str, Path]) -> dict[str, str]:
    """What each model is, in one line."""
    lines = {}
    for name, folder in models.items():
        with contextlib.suppress(CheckpointError):
            lines[name] = card.one_line(read_card(folder))
    return lines


def _options(drawn: Payload) -> None:
    """What the figures that are drawn can be asked to show."""
    if any("show" in panel["data"] for panel in drawn["panels"]):
        shown = list(SHOWN)
        st.radio(
            "Matrix shows",
            shown,
            shown.index(PAGE.state.show),
            key=PAGE.key("show"),
            on_change=PAGE.take,
            args=("show", PAGE.key("show")),
            format_func=SHOWN.__getitem__,
        )
        st.select_slider(
            "What if: temperature of the softmax",
            TEMPERATURES,
            PAGE.state.temperature,
            key=PAGE.key("temperature"),
            on_change=PAGE.take,
            args=("temperature", PAGE.key("temperature")),
            format_func=lambda t: f"{t:g}",
        )
        leads = [panel["data"]["lead"] for panel in drawn["panels"] if panel["data"].get("lead") is not None]
        if leads:
            page_style.note(
                f"On average a word’s best score is {leads[0]:.1f} higher than its second best, so the softmax gives "
                f"it e^{leads[0]:.1f} times the weight. Divide the scores by more, and the weight spreads."
            )


class Explained(NamedTuple):
    """``shown``: the explanation that is drawn, at the page's temperature; ``trained``: the model's own; ``alone``:
    that of a model that reads the judged sentence alone."""

    checkpoint: Checkpoint
    shown: Explanation
    trained: Explanation
    alone: Explanation | None


def _explained(page: ExploreState) -> Explained:
    checkpoint, explanation = FORM.explanation("Reading the pair …")
    name = judging_alone(checkpoint.card)

    def alone() -> Explanation | None:
        try:
            return None if name is None else explained(load_named(name), *page.pair.now)
        except (CheckpointError, PairError):
            return None

    return Explained(checkpoint, explained(checkpoint, *page.pair.now, page.temperature), explanation, alone())


def _show(page: ExploreState, explained: Explained, problems: list[str]) -> tuple[Payload, Explanation]:
    """Draw the pair. Returns its drawing, and the explanation with what was looked up for it."""
    checkpoint, explanation, trained, alone = explained
    what_if = None if explanation is trained else trained
    drawn = panels.drawing(explanation, page.show, alone, unread(checkpoint.card), what_if)
    if what_if is not None:
        drawn["verdict"]["what_if"] = f"softmax at temperature {page.temperature:g}"
    if candidates.fits(checkpoint):
        drawn["verdict"]["meaning"] = candidates.meaning(checkpoint, explanation)
    held = pairs_tried.pinned()
    if held is not None:
        drawn["verdict"]["pinned"] = {"label": held.label, "p": held.p, "model": held.title, "texts": held.texts}
    drawn["verdict"]["gold"] = page.gold([known["label"] for known in drawn["verdict"]["classes"]])
    lengths = {side["axis"]: len(side["tokens"]) for side in drawn["sides"]}
    selection = page.selection
    if selection is not None and not selection.fits(lengths["row"], lengths["column"]):
        problems.append(f"The link selects {selection}, but this pair has no such word: nothing is selected.")
        selection = None
    shown = selection or Selection(panels.focus(drawn))
    for side in drawn["sides"]:
        word = shown.row if side["axis"] == "row" else shown.column
        if word is not None:
            explanation = with_nearest(checkpoint, explanation, word, side["role"])
    looking = [panel["data"]["rows"] for panel in drawn["panels"] if "focus" in panel["data"]]
    if page.direction not in (None, *looking):
        known = f"it can ask for {' and '.join(looking)}: the first is shown" if looking else "this model has none"
        problems.append(f"The link asks for the direction “{short(page.direction or '')}”; {known}.")
    link = replace(page, selection=None, direction=None).link_parameters()
    framed = components.frame(explanation, checkpoint.card, link, problems)
    if what_if is not None:
        framed["about"]["lines"][-1] += f", what if: {drawn['verdict']['what_if']}"
        framed["about"]["file"] = _stem(page, explained)
        framed["agreement"] = None  # was measured on the attention that the model was trained with
    components.draw(
        "pair",
        drawn | framed | {"editable": True, "tour": True, "projector": page.projector},
        key=KEY,
        on_selection_change=_selected,
        late=panels.late(explanation),
        selection={"row": shown.row, "column": shown.column},
        explicit=selection is not None,
        direction=page.direction,
        **FORM.moving(KEY),
    )
    return drawn, explanation


def _stem(page: ExploreState, explained: Explained) -> str:
    """A name for files of what is drawn, unlike that of another temperature."""
    stem = components.file_stem(explained.shown)
    return stem if explained.shown is explained.trained else f"{stem}-temperature-{page.temperature:g}"


def _below(page: ExploreState, explained: Explained, explanation: Explanation) -> None:
    """Where else the pair can be looked at, its numbers as files, and candidates for its place."""
    for more in panels.pages(explanation):
        _elsewhere(page, more)
    back_link.draw(page.pair.now)
    _downloads(explanation, _stem(page, explained))
    if candidates.fits(explained.checkpoint):
        candidates.draw(PAGE, explained.checkpoint)


def _elsewhere(page: ExploreState, more: Page) -> None:
    """A link to the same pair and model on another page."""
    model = {"model": page.model or ""}
    pair = model | {"first": page.pair.first, "second": page.pair.second}
    there = st.Page(
        Path(__file__).resolve().with_name(f"{more.file}.py"), title=more.title, url_path=more.file.replace("_", "-")
    )
    # A pair too long for a link is there all the same: the pages of a session share it.
    query = pair if fits_a_link(pair) else model
    st.page_link(there, label=more.label, icon=":material/arrow_forward:", query_params=query)


def _downloads(explanation: Explanation, stem: str) -> None:
    with st.container(horizontal=True, gap="small"):
        page_style.download("All numbers (JSON)", lambda: explanation.to_json(indent=1), f"pairlens-{stem}.json")
        for record in (record for record in explanation.evidence if record.tabular):
            make = functools.partial(record.to_csv, explanation)
            file = re.sub(r"\W+", "-", f"pairlens {record.title.lower()}") + f"-{stem}.csv"
            page_style.download(f"{record.title[:1].upper()}{record.title[1:]} (CSV)", make, file)


main()
