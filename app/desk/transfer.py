"""Exports all tags, labels and notes of a run as one file, and imports annotations from such a file or from another
run."""

from __future__ import annotations

import streamlit as st

from app import page_style
from app.desk import annotator
from app.desk.open_run import OpenRun, attempt, database, notice_next
from core.desk import store, transfer
from core.desk.transfer import BY_ID, BY_TEXTS, Whole
from core.wording import counted

_MATCHED = {BY_ID: "the same id", BY_TEXTS: "the same texts"}


def export(opened: OpenRun) -> None:
    """The download of all annotations; for the maker of the run, it includes annotations that are hidden on screen."""
    name = annotator.name()
    leads = bool(name) and opened.state.maker == name

    def text() -> str:
        state = opened.annotations.state(opened.file)
        seen = state if leads else state.seen_by(name, decisions=True)
        return transfer.to_text(transfer.whole(opened.run, seen, opened.annotations.taxonomy()))

    page_style.download("Everything (JSON)", text, f"{opened.stem}-annotations.json")
    if leads and opened.state.withheld:
        hidden = counted(opened.state.withheld, "review")
        page_style.note(f"You made this run: “Everything” includes {hidden} by others that the page hides from you.")


def bring_in(opened: OpenRun) -> None:
    """The form that imports annotations from a file or from another run of this desk."""
    by = annotator.name()
    with st.expander("Import tags, labels and notes", key="desk bring in", on_change="rerun") as part:
        if not part.open:
            return
        page_style.note(
            "From a file that “Everything (JSON)” saved, or from another run on this desk: an earlier version of the "
            "file, or the same file read by other columns. Existing annotations stay."
        )
        uploaded = st.file_uploader("Annotations (.json)", ["json"], key="desk annotations")
        runs = store.names_of(run for run in store.runs() if run.sha256 != opened.file)
        other = st.selectbox(
            "or another run", list(runs), None, format_func=runs.__getitem__, placeholder="Choose", key="desk other run"
        )
        matched = st.radio(
            "A row is the same if it has", list(_MATCHED), format_func=_MATCHED.__getitem__, horizontal=True
        )

        def write() -> None:
            known = transfer.from_text(uploaded.getvalue()) if uploaded is not None else _of_run(opened, other or "")
            found = transfer.bring_in(database(), by, opened.run, known, matched)
            notice_next(found.sentence())

        nothing = uploaded is None and other is None
        st.button("Bring them in", disabled=not by or nothing, on_click=lambda: attempt(write), key="desk bring")
        if not by:
            page_style.note("Type your name in the sidebar first.")


def _of_run(opened: OpenRun, file: str) -> Whole:
    run, state = store.open_run(file), opened.annotations.state(file)
    return transfer.whole(run, state, opened.annotations.taxonomy())
