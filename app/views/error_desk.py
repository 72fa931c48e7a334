"""Error desk: a data set's predictions, the models' errors, and people's annotations of them."""

from __future__ import annotations

import streamlit as st

from app import page_style
from app.browser import from_the_top
from app.desk import (
    all_tags,
    annotator,
    choosing,
    files,
    labels,
    learning_curve,
    measures,
    perturbations,
    row_map,
    row_tags,
    rows,
    slices,
    strongest_words,
)
from app.desk.open_run import PAGE, draw_notice, open_run, show, training_notes
from app.page_state.error_desk import UNPREDICTED, VIEWS
from app.page_state.widgets import segments
from app.pair_form import once
from core.errors import UserError

PLACE_IN_MENU = 6


def main() -> None:
    """Draws the page."""
    PAGE.open({})
    page_style.apply(PAGE, wide=True)
    try:
        _draw()
    except UserError as error:
        page_style.notice([f"{page_style.capital(str(error))}."])


def _draw() -> None:
    """The sidebar, and the open run or the form for a new one. Raises UserError if the run does not exist."""
    is_open = choosing.run_is_open()
    with st.sidebar:
        choosing.run_choice()
        annotator.ask()
    PAGE.write_link()
    with st.container():  # so that a notice does not move what follows, which would empty a half-typed note
        page_style.notice(PAGE.problems)
        draw_notice()
    if not is_open:
        choosing.new_run()
        return
    opened = open_run(annotator.name())
    views = VIEWS if opened.run.models else {name: VIEWS[name] for name in UNPREDICTED}
    if PAGE.state.view not in views:
        show(view="labels")
    view = PAGE.state.view
    segments(PAGE, "view", "Show", views, label_visibility="collapsed")
    from_the_top(opened.file)
    page_style.note(once("desk summary", opened.version[:3], lambda: measures.summary(opened)))
    for sentence in learning_curve.notes(opened.run):
        page_style.note(sentence)
    page_style.notice(
        once("desk training rows", (PAGE.state.file, PAGE.state.models), lambda: training_notes(opened.run))
    )
    if view in ("rows", "scores", "perturbations", "map", "against"):
        rows.filter_box(opened)
        with st.container(horizontal=True, gap="small"):
            slices.save_form(opened)
            row_tags.tag_all(opened)
    if view in ("scores", "slices", "words", "map"):
        measures.model_choice(opened)
    {
        "rows": rows.view,
        "scores": measures.scores,
        "slices": slices.view,
        "words": strongest_words.view,
        "perturbations": perturbations.view,
        "map": row_map.view,
        "against": measures.against,
        "tags": all_tags.view,
        "labels": labels.view,
        "files": files.view,
    }[view](opened)
    (labels if view == "labels" else row_tags).keep_unsaved(opened)


main()
