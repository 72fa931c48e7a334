"""The choice of a model that reads a run's rows for a job of the Labels view."""

from __future__ import annotations

import streamlit as st

from app.desk.open_run import OpenRun, checkpoint_named
from app.model_choice import offered, titles
from core.adaptation.readers import SUGGESTED


def reader(opened: OpenRun, label: str, key: str) -> str | None:
    """The select box: the run's own models first, then those that are suggested for adaptation."""
    models = offered(lambda card: bool(card["roles"]["second"]) != opened.run.single)
    first = (*map(checkpoint_named, opened.run.models), *SUGGESTED)
    names = [*dict.fromkeys([*(name for name in first if name in models), *models])]
    return st.selectbox(label, names, format_func=titles(models).__getitem__, key=key)
