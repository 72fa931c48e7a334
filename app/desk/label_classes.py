"""The classes with which rows can be labelled: from the file, from a model or typed; renamed and removed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from app import page_style
from app.desk import annotator
from app.desk.open_run import OpenRun, attempt, database, lines
from core.desk.labelling import Labelling


def labelling() -> Labelling:
    """Writes to the desk's database."""
    return Labelling(database())


def draw(opened: OpenRun) -> None:
    """The classes, with forms to add, rename and remove them."""
    by, classes, file = annotator.name(), opened.state.classes, opened.file
    with st.expander("Classes", expanded=not classes):
        lines(f"{at}: {name}" if at <= 9 else name for at, name in enumerate(classes.values(), start=1))
        if not by:
            page_style.note("Type your name in the sidebar to change the classes.")
            return
        for where, names in _sources(opened).items():
            new = [name for name in names if name not in classes.values()]
            if new:
                label = page_style.plain(f"Add the classes of {where}: {', '.join(new)}"[:120])
                add = partial(labelling().add_classes, by, file, new)
                st.button(label, key=f"desk classes of {where}", on_click=lambda add=add: attempt(add))
        with st.form("desk add classes", clear_on_submit=True, border=False):
            typed = st.text_area("Add classes, one per line", height=80, key="desk typed classes")
            if st.form_submit_button("Add") and typed.strip():
                attempt(lambda: labelling().add_classes(by, file, [*filter(str.strip, typed.splitlines())]))
                st.rerun()
        if classes:
            number = st.selectbox("Class", list(classes), format_func=classes.__getitem__, key="desk class to change")
            name = st.text_input("New name of the class", key="desk class name", max_chars=80)
            change = partial(labelling().rename_class, by, file, number)
            st.button("Rename the class", on_click=lambda: attempt(lambda: change(name)), disabled=not name)
            remove = partial(labelling().remove_class, by, file, number)
            st.button("Remove the class", on_click=lambda: attempt(remove))


def _sources(opened: OpenRun) -> Mapping[str, list[str]]:
    """The names of classes that the file or a model has, by their origin; duplicates only once."""
    found = {"the file": [*opened.run.spellings.values()][:50]}
    offered = {frozenset(found["the file"])}
    for model in opened.run.models:
        if len(model.labels) > 1 and frozenset(model.labels) not in offered:
            offered.add(frozenset(model.labels))
            found[model.title] = [*model.labels]
    return found
