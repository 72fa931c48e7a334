"""Who writes: the name of the proxy's login, or one typed once, remembered by the browser, never in the address."""

from __future__ import annotations

import streamlit as st

from app import login, page_style
from app.browser import component, unseen
from app.desk.open_run import PAGE
from core.desk.schema import LONGEST_NAME, clean

_KEY, _MEMORY = "desk annotator", "desk annotator in the browser"
_SCRIPT = """
const KEY = "pairlens annotator";
export default function ({ data, setTriggerValue }) {
  try {
    if (data.name) localStorage.setItem(KEY, data.name);
    else if (data.typed) localStorage.removeItem(KEY);
    else if (localStorage.getItem(KEY)) setTriggerValue("name", localStorage.getItem(KEY));
  } catch { /* a browser that remembers nothing */ }
}
"""


def name() -> str:
    """The annotator's name; empty before it is typed."""
    return login.name() or str(st.session_state.get(_KEY, ""))


def ask() -> None:
    """The box for the name, in the sidebar; or the name that the proxy's login gave, which nobody types over."""
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
        placeholder="To write tags and notes",
        help="Stands beside your tags and notes. This browser remembers it; links do not hold it.",
    )
    with unseen("annotator"):
        data = {"name": name(), "typed": st.session_state.get(f"{_KEY} typed", False)}
        component("pairlens_annotator", _SCRIPT)(key=_MEMORY, data=data, on_name_change=remembered)
