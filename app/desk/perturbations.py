"""Perturbation tests: changes of the filtered rows, and how often models do not behave as expected."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app import page_style
from app.desk import annotator, drawing, jobs, measures
from app.desk.open_run import PAGE, OpenRun, checkpoint_named
from app.pair_form import once
from app.panels import lists
from core.desk import charts
from core.desk.jobs import Job
from core.desk.perturbations import EXAMPLE, promises
from core.desk.perturbed_run import LAYOUT, PerturbationTest, failure_rates, perturbation_job
from core.wording import counted

_JOB = "desk perturbation job"


def view(opened: OpenRun) -> None:
    """The failure rates of a run of changed rows; for any other run, the form for a test and its progress."""
    if opened.run.dataset.layout == LAYOUT:
        measures.model_choice(opened)
        key = opened.version, opened.model, PAGE.state.filter
        rates = once("desk failure rates", key, lambda: failure_rates(opened.run, opened.model, opened.rows))
        title = opened.run.models[opened.model].title
        drawing.figures([charts.failures(title, rates, not opened.rows.all())], "desk failures", opened.filter)
        return
    jobs.finish(_JOB, "The test was stopped; what was predicted is kept, and the same test resumes it.")
    if not jobs.draw_running("perturbations", opened.file):
        _ask(opened)


def _ask(opened: OpenRun) -> None:
    """The choice of perturbations and the button that starts a test."""
    page_style.hint(
        "Change each row in a way that has a known effect on its label, such as a typo or “not” in the hypothesis, and "
        "see how often each model’s prediction is not as expected: its failure rate."
    )
    models = opened.run.models
    names = [checkpoint_named(model) for model in models]
    offered = promises(models[0].task)
    chosen = st.pills(
        "Perturbations",
        list(offered),
        selection_mode="multi",
        default=list(offered),
        format_func=lambda name: offered[name][0],
        key=f"desk perturbations of {models[0].task}",
    )
    missing = [model.title for model, name in zip(models, names, strict=True) if name is None]
    rows = np.flatnonzero(opened.rows).tolist()

    def make() -> Job:
        test = PerturbationTest(opened.run, rows, chosen)
        annotator.claim(test.checksum)
        return perturbation_job(test, [name or "" for name in names])

    st.button(
        f"Test {counted(len(rows), 'row')}",
        key="desk perturb",
        type="primary",
        disabled=bool(missing) or not (chosen and rows),
        on_click=jobs.start,
        args=(_JOB, make),
    )
    if missing:
        page_style.note(f"The checkpoint of {missing[0]} is not here: choose models that are, in the sidebar.")
    page_style.note(
        f"What each change makes of the pair “{EXAMPLE[0]}” and “{EXAMPLE[1]}”, and what a model should then do, by "
        "gold label. Rows that a change does not apply to, or whose gold label is not named, are left out."
    )
    lists.table(["perturbation", "example", "expected"], list(offered.values()))
