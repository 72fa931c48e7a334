"""Saved slices, slices found by a search, and slices of every column."""

from __future__ import annotations

import streamlit as st

from app import page_style
from app.desk import annotator, drawing, measures
from app.desk.open_run import PAGE, OpenRun, attempt
from app.desk.row_tags import history
from app.pair_form import once
from core.desk import slice_tables
from core.desk.found_slices import search
from core.desk.run import LETTERS
from core.desk.slices import saved
from core.errors import DeskError

_FOUND = 60
"""Maximum number of found slices shown."""


def save_form(opened: OpenRun) -> None:
    """A button that opens the form for saving the filter as a slice."""
    expression = PAGE.state.filter
    if not expression or opened.error is not None:
        return

    def save() -> None:
        if not opened.rows.any():
            raise DeskError("no row fulfils the filter, so the slice would be empty: change the filter")
        name = st.session_state["desk slice name"]
        opened.annotations.save_slice(annotator.name(), opened.file, name, expression)

    with st.popover("Save as a slice", type="tertiary", icon=":material/bookmark_add:"):
        with st.form("desk save slice", border=False):
            st.text_input("Name of the slice", key="desk slice name", max_chars=80)
            st.form_submit_button("Save", on_click=lambda: attempt(save), disabled=not annotator.name())
        if not annotator.name():
            page_style.note("Type your name in the sidebar to save a slice.")


def view(opened: OpenRun) -> None:
    """Draws the view."""
    run, model = opened.run, opened.model
    if PAGE.state.filter:
        page_style.note("Slices use all rows, whatever the filter.")
    _saved(opened)
    if measures.unscored(run):
        return
    found = once("desk found slices", (opened.version, model), lambda: search(run, model, opened.table))
    measure, unit = measures.measure_and_unit(run, model)
    title, rows = run.models[model].title, len(run.keys)
    drawn = slice_tables.found_slices(title, found, rows, measure, unit, _FOUND)
    drawing.figures([drawn], "desk found slices")
    drawn = once("desk slices drawn", (opened.version, model), lambda: measures.slice_figure(opened, model))
    drawing.figures([drawn], "desk all slices")


def _saved(opened: OpenRun) -> None:
    """The saved slices, with buttons to delete one and to undo a change."""
    run, filters = opened.run, opened.state.slices
    if filters:
        models = range(len(run.models)) if run.labelled else ()
        scores = {LETTERS[i]: saved(run, i, opened.slices) for i in models}
        rows = {name: int(mask.sum()) for name, mask in opened.slices.items()}
        measure, _ = measures.measure_and_unit(run, opened.model)
        drawn = slice_tables.saved_slices(filters, rows, scores, opened.wrong_slices, measure)
        drawing.figures([drawn], "desk saved slices")
    else:
        page_style.hint("No slice is saved: filter the rows under Rows and choose “Save as a slice”.")
    events = opened.annotations.slice_history(opened.file)
    if not events:
        return
    with st.expander("Change the saved slices"):
        name = st.selectbox("Slice", list(filters), None, key="desk slice", placeholder="Choose a slice")

        def delete() -> None:
            attempt(lambda: opened.annotations.save_slice(annotator.name(), opened.file, name or "", ""))

        st.button("Delete it", on_click=delete, disabled=not (name and annotator.name()))
        history(opened, events)
