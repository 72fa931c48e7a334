"""The words with the largest effect in their rows: requested here, computed in the background, each with a filter."""

from __future__ import annotations

from functools import partial

import streamlit as st

from app import page_style
from app.desk import drawing, jobs, measures
from app.desk.open_run import OpenRun, checkpoint_named
from app.pair_form import once
from core.desk import charts
from core.desk.charts import Figure
from core.desk.strongest_words import SAMPLE, WordScores, scored, words_job
from core.wording import counted

MOST = 60
"""Number of words listed; the downloadable file has all."""
_JOB = "desk strongest words job"


def view(opened: OpenRun) -> None:
    """The words found so far, the progress of the job, and the button that starts it."""
    if measures.unscored(opened.run):
        return
    jobs.finish(_JOB, "The computation was stopped; what was computed is kept, and the rest can follow.")
    _ask(opened)
    if opened.strongest[opened.model]:
        key = opened.version, opened.model
        found = opened.strongest[opened.model]
        known = once("desk words scored", key, lambda: scored(opened.run, opened.model, found))
        drawing.figures([figure(opened, opened.model, known=known)], "desk words drawn")
        model = opened.run.models[opened.model].model
        page_style.download("Words (CSV)", known.to_csv, f"{opened.stem}-{model}-words.csv")


def figure(opened: OpenRun, model: int, most: int = MOST, known: WordScores | None = None) -> Figure:
    """The figure of the ``known`` results, by default the opened run's (a report is drawn outside a session)."""
    run, known = opened.run, known or scored(opened.run, model, opened.strongest[model])
    return charts.strongest_words(run.models[model].title, known, int(run.judged.sum()), most)


def _ask(opened: OpenRun) -> None:
    """The running job, or the button that starts one."""
    run, model = opened.run, opened.run.models[opened.model]
    if jobs.draw_running("words", opened.file, model.sha256):
        return
    known = len(opened.strongest[opened.model])
    left = len(run.keys) - known
    if not known:
        page_style.hint(
            "Which words drive predictions? Each word of a row is dropped in turn; the one that lowers the predicted "
            "class’s probability most is recorded. Words that decide many wrong rows may be shortcuts, like “not”."
        )
    name = checkpoint_named(model)
    if name is None:
        page_style.note(f"The checkpoint of {model.title} is not here, so no more can be computed.")
    elif left:
        count = min(left, SAMPLE)
        more = f"{counted(count, 'more row') if known else counted(count, 'row')}"
        drawn = "" if count == left else ", drawn at random"
        st.button(
            f"Compute for {more}{drawn}",
            key="desk compute words",
            on_click=jobs.start,
            args=(_JOB, partial(words_job, run, opened.model, name, opened.words)),
            type="secondary" if known else "primary",
        )
