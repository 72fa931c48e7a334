"""Metrics of the models: scores, calibration, slices, and comparisons between models."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app import page_style
from app.desk import another_model, drawing, learning_curve
from app.desk.open_run import PAGE, OpenRun
from app.page_state.widgets import segments
from app.pair_form import once
from core.desk import charts
from core.desk.against import against as models_against
from core.desk.charts import Figure
from core.desk.run import LETTERS, Predictions, Run, column_of
from core.desk.slices import scored
from core.evaluation.reliability import reliability
from core.wording import class_names, counted, with_label

MOST_SLICES = 60


def model_choice(opened: OpenRun) -> None:
    """Selects the model whose metrics are shown, if there are several."""
    names = {i + 1: f"{LETTERS[i]}: {model.title}" for i, model in enumerate(opened.run.models)}
    if len(names) > 1:
        segments(PAGE, "of", "Show metrics for", names, wrap=True)


def label_names(model: Predictions) -> dict[str, str]:
    """Display names of a model's labels; numbers are followed by their meaning, such as “0: not an answer”."""
    named = {
        label: name if name == label else f"{label}: {name}"
        for label, name in zip(model.labels, class_names(model.labels, model.roles.judged), strict=True)
    }
    return {name: named.get(name, name) for name in model.scale.names}


def summary(opened: OpenRun) -> str:
    """One line: the file, its rows, how many have a label, and each model's score with its interval."""
    run = opened.run
    parts = [f"{run.dataset.name}: {counted(len(run.rows), 'row')}"]
    gold = int((run.gold != "").sum())
    if gold < len(run.rows):
        parts.append(with_label(gold, len(run.rows)))
    if run.labelled and run.judged.sum() < gold:
        parts.append(f"{run.judged.sum():,} of them scored")
    for i, model in enumerate(run.models):
        parts.append(f"{LETTERS[i]} {model.title} {charts.headline(run, i)}".rstrip())
    return " · ".join(parts)


def unscored(run: Run) -> bool:
    """Shows the reason in one sentence if the run has no scores; returns whether it did."""
    if any(run.grades(i) for i in range(len(run.models))):
        fix = "; if they are classes, predict the file again and map them" if run.unknown else ""
        page_style.hint(f"The labels are read as grades: Scores shows their correlation with the model’s scores{fix}.")
    elif run.unknown:
        labels = ", ".join(run.spellings[label] for label in run.unknown[:8])
        page_style.hint(
            f"There are no scores, because not all labels match a class of each model ({labels}): predict the file "
            "again and map them to classes; the predictions are kept."
        )
    elif not run.labelled:
        page_style.hint("There are no scores: no row has a label.")
    return not run.labelled


def scores(opened: OpenRun) -> None:
    """Confusion, classes, calibration, and the ranking for a set of questions, over the filtered rows."""
    run, model = opened.run, opened.model
    if not run.grades(model) and unscored(run):
        return
    key = opened.version, PAGE.state.filter, model
    left, right = st.container(key="side by side, scores").columns([1.25, 1], gap="large")
    drawn = once("desk scores", key, lambda: score_figures(run, model, opened.rows))
    with left:
        drawing.figures(drawn[:-1], "desk scores left", opened.filter)
    with right:
        drawing.figures(drawn[-1:], "desk scores right", opened.filter)


def score_figures(run: Run, model: int, rows: np.ndarray) -> list[Figure]:
    """Figures of a model's scores on some rows, calibration last; for grades, only the correlation."""
    predictions = run.models[model]
    if grades := run.grades(model, rows):
        return [charts.correlation(predictions.title, *grades)]
    drawn = learning_curve.figures(run, model)
    drawn += [draw(run, model, rows, label_names(predictions)) for draw in (charts.confusion, charts.classes)]
    if run.ranks(model):
        drawn.append(charts.ranked(run, model))
    confidence, judged = predictions.answers.max(axis=1).astype(float), rows & run.judged
    measured = reliability(confidence[judged], run.right(model)[judged])
    column = "" if predictions.scale.several else column_of("p", model)
    return [*drawn, charts.calibration(predictions.title, measured, column, chosen=not rows.all())]


def slice_figure(opened: OpenRun, model: int, most: int = MOST_SLICES) -> Figure:
    """The figure of the most significant slices."""
    run = opened.run
    parts = scored(run, model, opened.table)
    return charts.slices(run.models[model].title, parts[:most], *measure_and_unit(run, model))


def measure_and_unit(run: Run, model: int) -> tuple[str, str]:
    """The name of a model's score, and the unit it is averaged over."""
    return ("MAP", "questions") if run.ranks(model) else ("accuracy", "rows")


def against(opened: OpenRun) -> None:
    """Compares the first model with each other one on the filtered rows."""
    run = opened.run
    if len(run.models) < 2:
        if another_model.others(run):
            page_style.hint("Two models of a run or more are compared here: choose them in the sidebar, or add one.")
        else:
            page_style.hint(
                "Two models of a run or more are compared here. No other model knows this file’s labels: adapt one "
                "under New run, then add it here."
            )
        another_model.view(opened)
        return
    unscored(run)
    compared = [models_against(run, other, opened.rows) for other in range(1, len(run.models))]
    drawing.figures(compared, "desk against", opened.filter)
    another_model.view(opened)
