"""The annotator's name: from the proxy's login, or typed once and remembered by the browser; never part of a link."""

from __future__ import annotations

import streamlit as st

from app import login, page_style
from app.browser import component, unseen
from app.desk import unsaved
from app.desk.open_run import PAGE, database
from core.desk import store
from core.desk.annotations import Annotations
from core.desk.schema import LONGEST_NAME, clean

_KEY, _MEMORY = "desk annotator", "desk annotator in the browser"
_SCRIPT = """
const KEY = "pairlens annotator";
let shown;
export default function ({ data, setTriggerValue }) {
  // After Enter the box has the focus still: the keys of classes and tags would go into the name.
  if (data.typed && data.name !== shown) document.querySelector(data.box)?.blur();
  shown = data.name;
  try {
    if (data.name) localStorage.setItem(KEY, data.name);
    else if (data.typed) localStorage.removeItem(KEY);
    else if (localStorage.getItem(KEY)) setTriggerValue("name", localStorage.getItem(KEY));
  } catch { /* storage is switched off */ }
}
"""


def name() -> str:
    """The annotator's name, empty if unknown."""
    return login.name() or str(st.session_state.get(_KEY, ""))


def claim(file: str) -> None:
    """Stores the visitor's name as the maker of the run that they are about to start for a file, unless that run
    exists."""
    if not store.has_run(file):
        Annotations(database()).made(name(), file)


def ask() -> None:
    """The text box for the name, in the sidebar; or the name from the proxy's login, which cannot be changed."""
    if login.name():
        page_style.terms([("Signed in as", login.name())])
        return
    generation = st.session_state.setdefault(f"{_KEY} generation", 0)
    key = f"{_KEY} box {generation}"

    def typed() -> None:
        PAGE.touch()
        st.session_state[_KEY] = clean(st.session_state[key])
        st.session_state[f"{_KEY} typed"] = True

    def remembered() -> None:
        PAGE.touch()
        known = st.session_state[_MEMORY].get("name")
        if known and not name():
            st.session_state[_KEY] = clean(str(known))
            st.session_state[f"{_KEY} generation"] += 1

    st.text_input(
        "Your name",
        name(),
        key=key,
        on_change=typed,
        max_chars=LONGEST_NAME,
        placeholder="For tags, labels and notes",
        help="Shown with your tags and notes. This browser remembers it; it is not included in links.",
    )
    with unseen("annotator"):
        box = f".{unsaved.css_class(key)} input"
        data = {"name": name(), "typed": st.session_state.get(f"{_KEY} typed", False), "box": box}
        component("pairlens_annotator", _SCRIPT)(key=_MEMORY, data=data, on_name_change=remembered)
