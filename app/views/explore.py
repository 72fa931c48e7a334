"""Explore: one pair, one model, its verdict, and by what road it came to it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from app import components, panels
from app import page_style as look
from app.examples import EXAMPLES
from app.model_choice import offered, reads_pairs
from app.page_state.address import short_enough
from app.page_state.explore import SHOWN, PageState, Selection, default_model, from_file, from_parameters
from app.page_state.linked_page import LinkedPage
from app.pair_form import PairForm, digest, titles
from app.panels import tables
from app.panels.panel import Page
from core.checkpoint import Checkpoint, CheckpointError, available, load_named
from core.evidence import Explanation
from core.explain import PairError, explain, with_nearest

KEY = "explored pair"
"""Of the component that draws it."""
ALONE = "nli-hypothesis-only"
"""The checkpoint that reads the judged sentence only, for the comparison beside the verdict."""

PAGE: LinkedPage[PageState] = LinkedPage("explore", ("model", "example", "first", "second", "show", "select"))
FORM = PairForm(PAGE, lambda text: from_file(text, list(_models())), examples=EXAMPLES)


def main() -> None:
    """Draw the page."""
    look.apply()
    models = _models()
    FORM.open(models, from_parameters, default_model)
    _sidebar(models)
    FORM.sentences(models.get(PAGE.state.model or ""))
    found = FORM.explained(_explained, "No model is installed: train one with `python -m trainers train`")
    if found is not None:
        _show(PAGE.state, *found, PAGE.problems)


def _models() -> dict[str, Path]:
    """All models of pairs; those of single texts belong to the page Filter map."""
    return offered(reads_pairs, unreadable=True)


def _selected() -> None:
    """The browser's selection, unless it belongs to a pair that is no longer shown."""
    PAGE.touch()
    session = st.session_state
    picked = session[KEY].get("selection") or {}
    session["turn"] = picked.get("turn", 0)
    if picked.get("id") == session.get("drawn"):
        PAGE.change(selection=Selection(picked.get("row"), picked.get("column")))


def _sidebar(models: Mapping[str, Path]) -> None:
    with st.sidebar:
        FORM.model(titles(models))
        FORM.example()
        shown = list(SHOWN)
        st.radio(
            "Matrix shows", shown, shown.index(PAGE.state.show), key=PAGE.key("show"), on_change=PAGE.take,
            args=("show", PAGE.key("show")), format_func=SHOWN.__getitem__,
        )  # fmt: skip
        FORM.files()


def _explained(page: PageState) -> tuple[Checkpoint, Explanation, Explanation | None]:
    """The model's explanation of the pair, computed once as long as pair and checkpoint stay the same."""
    assert page.model is not None
    session = st.session_state
    with st.spinner("Loading the model …"):
        checkpoint = load_named(page.model)
    key = (page.model, checkpoint.card["sha256"], page.first, page.second)
    if session.get("explained_key") != key:
        with st.spinner("Reading the pair …"):
            session["explained"] = explain(checkpoint, page.first, page.second)
            session["alone"] = _alone(checkpoint, page)
        session["explained_key"] = key
    return checkpoint, session["explained"], session["alone"]


def _alone(checkpoint: Checkpoint, page: PageState) -> Explanation | None:
    if checkpoint.name == ALONE or ALONE not in available() or checkpoint.card["task"] != "entailment":
        return None
    try:
        return explain(load_named(ALONE), page.first, page.second)
    except (CheckpointError, PairError):
        return None


def _show(
    page: PageState, checkpoint: Checkpoint, explanation: Explanation, alone: Explanation | None, problems: list[str]
) -> None:
    drawn = panels.drawing(explanation, page.show, alone)
    lengths = {side["axis"]: len(side["tokens"]) for side in drawn["sides"]}
    selection = page.selection
    if selection is not None and not selection.fits(lengths["row"], lengths["column"]):
        problems.append(f"The link selects {selection}, but this pair has no such word: nothing is selected.")
        selection = None
    shown = selection or Selection(panels.focus(drawn))
    if shown.row is not None:
        explanation = with_nearest(checkpoint, explanation, shown.row)
    link = replace(page, selection=None).link_parameters()
    st.session_state["drawn"] = digest([page.model, page.first, page.second])
    components.draw(
        "pair",
        drawn | components.frame(explanation, checkpoint.card, link, problems) | {"id": st.session_state["drawn"]},
        key=KEY,
        on_selection_change=_selected,
        late=panels.late(explanation),
        selection={"row": shown.row, "column": shown.column},
        chosen=selection is not None,
        turn=st.session_state.get("turn", 0),
    )
    for more in panels.pages(explanation):
        _elsewhere(page, more)
    _downloads(explanation)


def _elsewhere(page: PageState, more: Page) -> None:
    """A link to the same pair and model on another page."""
    model, label = {"model": page.model or ""}, more.label
    pair = short_enough(model | {"first": page.first, "second": page.second})
    there = st.Page(Path(__file__).with_name(f"{more.file}.py"), title=more.title, url_path=more.file.replace("_", "-"))
    if not pair:
        label = f"Open {more.title} (the pair is too long for a link: save it, open it there)"
    st.page_link(there, label=label, icon=":material/arrow_forward:", query_params=pair or model)


def _downloads(explanation: Explanation) -> None:
    with st.container(horizontal=True, gap="small"):
        look.download("All numbers (JSON)", lambda: explanation.to_json(indent=1), "pairlens.json")
        names: list[str] = []
        for record in _with_tables(explanation):
            names.append(record.name)
            again = names.count(record.name)
            name = record.name if again == 1 else f"{record.name} {again}"
            make = functools.partial(tables.csv_of, record, explanation)
            look.download(f"{name[:1].upper()}{name[1:]} (CSV)", make, f"pairlens-{name.replace(' ', '-')}.csv")


def _with_tables(explanation: Explanation) -> list[Any]:
    """The records that have a table, looked for once a pair: a long pair's tables take a moment to write."""
    session, kinds = st.session_state, [record.kind for record in explanation.evidence]
    if session.get("tables of") != (session["drawn"], kinds):
        session["tables"] = [bool(tables.csv_of(record, explanation)) for record in explanation.evidence]
        session["tables of"] = (session["drawn"], kinds)
    return [record for record, written in zip(explanation.evidence, session["tables"], strict=True) if written]


main()
