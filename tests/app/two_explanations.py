"""A page with two explanations side by side, each drawn by a separate component."""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app import components, panels
from app.api import scripts
from core.checkpoint import load_named
from core.explain import explain
from tests.app.made_up import POOLED, Faulty, Unseen, WordLength, pair, with_more_panels


def page() -> None:
    """Draw both."""
    st.set_page_config(layout="wide", initial_sidebar_state="collapsed")
    attention = explain(load_named("test-light"), "An animal is playing with a toy", "A dog jumping")
    pooled = pair(*POOLED, Unseen(), WordLength("word lengths", (3, 4, 2)), judged="both")
    if moments := st.query_params.get("faults"):
        failing = (Faulty("fault", moment) for moment in moments.split())
        pooled = pair(*failing, POOLED[0], WordLength("word lengths", (3, 4, 2)), judged="both")

    for column, key, explanation in zip(st.columns(2), ("left", "right"), (attention, pooled), strict=True):
        picked = (st.session_state.get(key) or {}).get("selection") or {}
        with column, st.container(key=f"{key} pair"):
            components.draw(
                "pair",
                panels.Drawing.of(explanation),
                components.Frame((key,)),
                key=key,
                id=key,
                asked={},
                turn=picked.get("turn", 0),
                selection=picked.get("select"),
            )
            st.text(f"{key}: {picked.get('select')}")


with_more_panels()
if get_script_run_ctx(suppress_warning=True) is None:  # as in streamlit_app.py
    server = st.App(__file__, routes=[scripts.route("")])
else:
    page()
