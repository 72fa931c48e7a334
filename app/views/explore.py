"""Explore: one pair, one model, its verdict, and the evidence of how it was reached."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import components, page_style, panels
from app.model_choice import by_task, judging_alone, offered, reads_pairs, unread
from app.page_state.codec import fits_a_link
from app.page_state.explore import SHOWN, ExploreState, Selection
from app.page_state.session import PageSession
from app.pair_form import PairForm, once, titles
from app.panels import card
from app.panels.panel import Page, Payload
from core.checkpoint import Checkpoint, CheckpointError, load_named, read_card
from core.evidence import Explanation
from core.explain import explain, with_nearest
from core.reading.reader import PairError

KEY = "explored pair"
"""Of the component that draws it."""

PAGE = PageSession(ExploreState)
FORM = PairForm(PAGE)


def main() -> None:
    """Draw the page."""
    page_style.apply()
    models = offered(reads_pairs, unreadable=True)  # those of single texts belong to the page Filter map
    PAGE.open(dict.fromkeys(models, ""))
    options = _sidebar(models)
    FORM.sentences(models.get(PAGE.state.model or ""))
    explained = FORM.explained(_explained, "No model is installed: train one with `python -m trainers train`")
    if explained is not None:
        _show(PAGE.state, *explained, PAGE.problems, options)


def _selected() -> None:
    """The browser's selection."""
    picked = FORM.picked(KEY)
    if picked is not None:
        PAGE.change(selection=Selection(picked.get("row"), picked.get("column")))


def _sidebar(models: Mapping[str, Path]) -> DeltaGenerator:
    """Its widgets, with a place for those that suit some models only."""
    with st.sidebar:
        shown = titles(models)
        names = FORM.task_and_model(by_task(models), shown)
        _about({name: models[name] for name in names}, shown)
        FORM.example()
        options = st.container()
        FORM.files()
    return options


def _about(models: Mapping[str, Path], shown: Mapping[str, str]) -> None:
    """What the model is, and on demand what each of its task is."""
    lines = {}
    for name, folder in models.items():
        with contextlib.suppress(CheckpointError):
            lines[name] = card.one_line(read_card(folder))
    if PAGE.state.model in lines:
        page_style.note(lines[PAGE.state.model])
    with st.popover("All models of this task", type="tertiary"):
        page_style.terms([(shown[name], line) for name, line in lines.items()])


def _options(drawn: Payload) -> None:
    """What the figures that are drawn can be asked to show."""
    if any("show" in panel["data"] for panel in drawn["panels"]):
        shown = list(SHOWN)
        st.radio(
            "Matrix shows", shown, shown.index(PAGE.state.show), key=PAGE.key("show"), on_change=PAGE.take,
            args=("show", PAGE.key("show")), format_func=SHOWN.__getitem__,
        )  # fmt: skip


def _explained(page: ExploreState) -> tuple[Checkpoint, Explanation, Explanation | None]:
    """The model's explanation of the pair, and that of a model that reads the judged sentence alone."""
    checkpoint, explanation = FORM.explanation("Reading the pair …")
    name = judging_alone(checkpoint.card)

    def alone() -> Explanation | None:
        try:
            return None if name is None else explain(load_named(name), *page.pair.now)
        except (CheckpointError, PairError):
            return None

    return checkpoint, explanation, once("explanation without the context", (name, page.pair.now), alone)


def _show(
    page: ExploreState,
    checkpoint: Checkpoint,
    explanation: Explanation,
    alone: Explanation | None,
    problems: list[str],
    options: DeltaGenerator,
) -> None:
    drawn = panels.drawing(explanation, page.show, alone, unread(checkpoint.card))
    with options:
        _options(drawn)
    lengths = {side["axis"]: len(side["tokens"]) for side in drawn["sides"]}
    selection = page.selection
    if selection is not None and not selection.fits(lengths["row"], lengths["column"]):
        problems.append(f"The link selects {selection}, but this pair has no such word: nothing is selected.")
        selection = None
    shown = selection or Selection(panels.focus(drawn))
    if shown.row is not None:
        explanation = with_nearest(checkpoint, explanation, shown.row)
    link = replace(page, selection=None).link_parameters()
    components.draw(
        "pair",
        drawn | components.frame(explanation, checkpoint.card, link, problems),
        key=KEY,
        on_selection_change=_selected,
        late=panels.late(explanation),
        selection={"row": shown.row, "column": shown.column},
        explicit=selection is not None,
        **FORM.moving(KEY),
    )
    for more in panels.pages(explanation):
        _elsewhere(page, more)
    _downloads(explanation)


def _elsewhere(page: ExploreState, more: Page) -> None:
    """A link to the same pair and model on another page."""
    model = {"model": page.model or ""}
    pair = model | {"first": page.pair.first, "second": page.pair.second}
    there = st.Page(Path(__file__).with_name(f"{more.file}.py"), title=more.title, url_path=more.file.replace("_", "-"))
    # A pair too long for a link is there all the same: the pages of a session share it.
    query = pair if fits_a_link(pair) else model
    st.page_link(there, label=more.label, icon=":material/arrow_forward:", query_params=query)


def _downloads(explanation: Explanation) -> None:
    with st.container(horizontal=True, gap="small"):
        page_style.download("All numbers (JSON)", lambda: explanation.to_json(indent=1), "pairlens.json")
        for record in (record for record in explanation.evidence if record.tabular):
            make = functools.partial(record.to_csv, explanation)
            file = re.sub(r"\W+", "-", f"pairlens {record.title.lower()}") + ".csv"
            page_style.download(f"{record.title[:1].upper()}{record.title[1:]} (CSV)", make, file)


main()
