"""The labels to check: the offer to find them, and a button that opens them to be dealt out and labelled."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import page_style
from app.desk import all_tags, annotator, jobs
from app.desk.open_run import OpenRun, attempt, notice_next, show
from app.desk.reader_choice import reader
from core.desk import label_check
from core.desk.columns import CHECKED
from core.desk.filters import quoted, rows_of
from core.desk.jobs import QUEUE
from core.wording import counted

_EACH = 2
"""Number of people who check each label."""


def draw(opened: OpenRun) -> None:
    """Draws the part."""
    run, by = opened.run, annotator.name()
    if not run.spellings:
        return
    with st.expander("Labels to check", expanded=opened.checked is not None):
        about = "label check", run.dataset.sha256
        if jobs.draw_running(*about):
            return
        if opened.checked is None:
            _offer(opened)
            return
        expression = label_check.suspects(opened.checked)
        page_style.note(
            f"The column {CHECKED} is the probability of the file’s label by a model that learned from the "
            "other rows: the lower, the more likely the label is wrong."
        )

        known = ", ".join(opened.labellers) or by
        key = f"desk suspects dealt {known}"  # follows the list of annotators until the user types

        def open_them(people: Sequence[str] = ()) -> None:
            name = label_check.SLICE_NAME
            if people:
                rows = rows_of(expression, opened.table)
                each = min(_EACH, len(people))
                opened.annotations.deal(by, opened.file, people, each, rows)
                notice_next(f"{counted(int(rows.sum()), 'row')} dealt to {', '.join(people)}, each row to {each}.")
            opened.annotations.save_slice(by, opened.file, name, expression)
            show(filter=quoted(f"slice.{name}"), sort=CHECKED, view="labels", row="")

        st.button(
            "Open the labels to check",
            key="desk open suspects",
            on_click=lambda: attempt(open_them),
            disabled=not by,
            help="The tenth of the rows with the lowest probability, as a slice.",
        )
        st.text_input("People, separated by commas", known, key=key)
        st.button(
            "Deal out the labels to check",
            key="desk deal suspects",
            on_click=lambda: attempt(lambda: open_them(all_tags.names_in(st.session_state[key]))),
            disabled=not by,
            help=f"Opens them, each for {_EACH} of these people. A new deal replaces an earlier one.",
        )


def _offer(opened: OpenRun) -> None:
    """The model whose features are used, and the button that starts the job."""
    name = reader(opened, "Model that reads the rows", "desk check model")
    rows = counted(int((opened.run.gold != "").sum()), "labelled row")
    page_style.note(f"Cross-validates a classifier on the labels of {rows} (five folds).")
    st.button(
        "Find labels to check",
        key="desk check labels",
        disabled=name is None,
        on_click=lambda: attempt(lambda: QUEUE.add(label_check.check_job(opened.run, name or ""))),
    )
