"""One more model on the rows of an open run, such as one adapted to the file before or after labels were corrected."""

from __future__ import annotations

import streamlit as st

from app.desk import jobs
from app.desk.open_run import OpenRun, checkpoint_named
from app.model_choice import offered, titles
from core.card import Card, ranked_by
from core.data.labels import Scale
from core.desk.prediction import prediction
from core.desk.run import MOST_MODELS, Run

_JOB = "desk prediction by another model"


def view(opened: OpenRun) -> None:
    """The choice of a model that knows the file's classes, and the button that predicts the rows with it."""
    jobs.finish(_JOB, "The prediction was stopped; another start resumes it.", "against")
    run, about = opened.run, ("another model", opened.file)
    if jobs.draw_running(*about) or len(run.models) >= MOST_MODELS:
        return
    names = others(run)
    if not names:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Another model", list(names), format_func=names.__getitem__, key=f"another {opened.file}")
        there = tuple(model.sha256 for model in run.models)
        st.button(
            "Predict these rows with it",
            key="desk predict with another",
            on_click=jobs.start,
            args=(_JOB, lambda: prediction(run.dataset, [name], before=there, about=about)),
        )


def others(run: Run) -> dict[str, str]:
    """Titles by name of the models for such rows whose classes are the file's labels, without the run's own models."""
    labels, there = [*run.spellings], {checkpoint_named(model) for model in run.models}

    def knows(card: Card) -> bool:
        scale = Scale(tuple(card["labels"]), {}, ranked_by(card))
        return bool(card["roles"]["second"]) != run.single and not scale.unknown(labels)

    models = offered(knows)
    return {name: title for name, title in titles(models).items() if name not in there}
