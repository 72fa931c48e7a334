"""Choosing a run: a stored one, or a file and checkpoints for a prediction in the background."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from app import page_style
from app.desk import adapting, annotator, file_choice, jobs
from app.desk.open_run import PAGE, attempt, show_run
from app.model_choice import offered, titles
from app.page_state.widgets import labelled
from core.card import Card, ranked_by
from core.data import DataError, Dataset
from core.data.labels import CountsAs, Scale, graded, is_number, mismatch, proposed, task_of
from core.desk import source, store
from core.desk.jobs import Job
from core.desk.prediction import NO_MAPPING, prediction
from core.desk.run import MOST_MODELS, RunHeader
from core.errors import DeskError
from core.evaluation.probe import suits
from core.evaluation.suites import SUITES
from core.tasks import ANSWERS
from core.wording import told_apart

_JOB, _SAMPLE = "desk prediction", "desk prediction of a sample"
_UNSCORED = "no matching class (rows not scored)"
_MAPPED = 12
"""Maximum number of labels that can be mapped on screen."""
_PICTURES = Path(__file__).parent
_FINISHED = "A finished run: a filter, a table of rows with gold labels and predictions, and a confusion matrix"


def run_choice() -> None:
    """The select boxes for a run and its models, in the sidebar, and the button for a new run."""
    runs = {store.short(run.sha256): run for run in store.runs()}
    state, names = PAGE.state, store.names_of(runs.values())
    st.selectbox(
        "Run",
        list(runs),
        list(runs).index(state.file) if state.file in runs else None,
        placeholder="A new run" if runs else "No run yet",
        format_func=lambda file: names[runs[file].sha256],
        **PAGE.widget("file", _open_run, labelled(PAGE, names)),
    )
    if state.file in runs:
        models = told_apart({store.short(model.sha256): model.title for model in runs[state.file].models}, letters=6)
        if models:
            st.multiselect(
                "Models, A first",
                list(models),
                [model for model in state.models if model in models],
                format_func=models.__getitem__,
                max_selections=MOST_MODELS,
                **PAGE.widget("models", _choose_models, labelled(PAGE, models)),
            )
        st.button(
            "New run",
            key="desk new",
            on_click=_new,
            type="tertiary",
            icon=":material/add:",
        )


def _new() -> None:
    file_choice.leave()
    PAGE.set(PAGE.state.updated(file=None, models=()))


def _open_run(file: str) -> None:
    show_run(file, [model.sha256 for model in store.header(file).models])


def _choose_models(models: list[str]) -> None:
    if models:
        PAGE.update(models=tuple(models))
    else:  # the select boxes return to the previous ones
        PAGE.set(PAGE.state)


def run_is_open() -> bool:
    """Whether the page shows a run: one with models, or the rows of a file that no model has predicted."""
    file = PAGE.state.file
    if file is None or PAGE.state.models or not store.has_run(file):
        return file is not None and bool(PAGE.state.models)
    if models := store.header(file).models:  # predicted meanwhile
        show_run(file, (model.sha256 for model in models), PAGE.state.view)
    return True


def new_run() -> None:
    """The form for a new run, with the predictions in progress."""
    page_style.heading("New run")
    page_style.note(
        "Find out where models err: predict a data file with one to four checkpoints, filter its rows, compare slices "
        "and models, and tag errors. Or teach a model the classes of your own file, and see on which rows it errs."
    )
    with jobs.running_above():
        _new_run()


def _new_run() -> None:
    """The form below the predictions in progress."""
    jobs.draw_unfinished()
    adapting.draw_unfinished()
    for key in (_JOB, _SAMPLE):
        jobs.finish(key, "The prediction was stopped; what the finished checkpoints predicted is kept.")
    adapting.finish()
    page_style.note("No file at hand? Try hand-written pairs:")
    with st.container(horizontal=True, gap="small"):
        for name, suite in SUITES.items():
            st.button(
                f"{suite.title} ({len(suite.pairs.rows):,})",
                key=f"desk sample {name}",
                help=suite.about,
                on_click=_begin_sample,
                args=(name,),
                disabled=_SAMPLE in st.session_state,
            )
    chosen = file_choice.chosen_file()
    if isinstance(chosen, RunHeader):
        show_run(chosen.sha256, (model.sha256 for model in chosen.models))
        st.rerun()
    elif chosen is not None:
        _models(*chosen)
    elif not store.runs():
        shown = "dark" if st.context.theme.type == "dark" else "light"
        with st.container(width=720):  # at most: an image with this width is cut off on a phone
            st.image(_PICTURES / f"finished_run_{shown}.png", "A finished run", "stretch", alt=_FINISHED)


def _counted_as(dataset: Dataset, classes: tuple[str, ...], positive: str | None) -> dict[str, list[str]]:
    """The form that maps the file's labels to these classes of models, for all labels that match none of them or may
    stand for several. Defaults are their meanings, if certain."""
    labels = dataset.labels
    if graded(labels) or (len(classes) == 1 and all(map(is_number, labels))):  # scored by correlation
        return {}
    unknown = Scale(classes, {}, positive).unknown(labels)
    grades = positive is not None and graded(labels, unknown)
    guesses = {label: proposed(label, labels, classes) for label in labels}
    asked = [label for label in labels if label in unknown or (unknown and len(guesses[label]) > 1)][:_MAPPED]
    if not asked:
        return {}
    note = "Map these labels of the file to the model’s classes; several classes may count as one label."
    page_style.note(f"{note} If they are grades, leave them unmapped." if grades else note)
    spelled = {row.label: row.shown_label for row in reversed(dataset.rows)}
    counts_as: dict[str, list[str]] = {}
    for label, column in zip(asked, itertools.cycle(st.columns(min(3, len(asked)))), strict=False):
        chosen = column.multiselect(
            page_style.plain(f"“{spelled[label]}” is"),
            [*classes, _UNSCORED],
            guesses[label],
            key=f"desk label {label} {dataset.sha256} {classes}",
        )
        if chosen:
            counts_as[label] = [] if _UNSCORED in chosen else chosen
    left = [spelled[label] for label in asked if label in unknown and label not in counts_as]
    if left and grades and not counts_as:
        page_style.note("Unmapped, the labels count as grades: their correlation with the model’s scores is shown.")
    elif left:
        page_style.notice([f"Without a class for {', '.join(left)} these predictions get no scores."])
    return counts_as


def _suited(dataset: Dataset, cards: Mapping[str, Card]) -> list[str]:
    """The models' names: models for the file's task first, then models whose classes match its labels."""
    task = task_of(dataset.labels, dataset.task)

    def place(name: str) -> tuple[bool, ...]:
        card = cards[name]
        unknown = Scale(tuple(card["labels"]), {}, ranked_by(card)).unknown(dataset.labels)
        ranks = card["task"] == ANSWERS
        scores = len(card["labels"]) == 1 or ranked_by(card) is not None
        other_task = bool(task) and card["task"] != task
        return other_task, graded(dataset.labels) and not scores, bool(unknown), ranks != dataset.ranking

    return sorted(cards, key=place)


def _begin_sample(suite: str) -> None:
    """Predicts a suite of hand-written pairs with the default entailment model."""

    def make() -> Job:
        name = next(iter(offered(suits)), None)
        if name is None:
            raise DeskError("no entailment model is installed: train one with `python -m trainers train`")
        return _claimed(SUITES[suite].pairs, [name])

    jobs.start(_SAMPLE, make)


def _claimed(dataset: Dataset, models: list[str], counts_as: Mapping[str, CountsAs] = NO_MAPPING) -> Job:
    """A prediction whose run the visitor may delete."""
    annotator.claim(dataset.sha256)
    return prediction(dataset, models, counts_as)


def _models(dataset: Dataset, roles: Mapping[str, str]) -> None:
    """The choice between predicting the file and adapting a model to it, and its form. ``roles``: the file's names of
    the texts."""
    models = offered(lambda card: bool(card["roles"]["second"]) != dataset.single)
    cards = {name: model.card for name, model in models.items() if model.card}
    shown = titles(models)
    _label_form(dataset)
    if adapting.chosen(dataset, cards):
        adapting.form(dataset, roles, cards, shown)
    else:
        _prediction_form(dataset, cards, shown)


def _label_form(dataset: Dataset) -> None:
    """The offer to label the rows without predictions."""

    def keep() -> None:
        annotator.claim(dataset.sha256)
        store.keep_rows(dataset)
        source.keep(dataset)
        header = store.header(dataset.sha256)
        show_run(header.sha256, (model.sha256 for model in header.models), "labels")

    label = "Label its rows" if dataset.labels else "Label its rows, which have no labels yet"
    st.button(label, key="desk label rows", on_click=lambda: attempt(keep), icon=":material/label:")


def _prediction_form(dataset: Dataset, cards: Mapping[str, Card], shown: Mapping[str, str]) -> None:
    """The select box for checkpoints, the labels to map, and the start button."""
    suited = _suited(dataset, cards)
    picked = st.multiselect(
        "Checkpoints, one to four",
        suited,
        suited[:1],
        max_selections=MOST_MODELS,
        format_func=shown.__getitem__,
        key=f"desk checkpoints {dataset.sha256}",
    )
    task = task_of(dataset.labels, dataset.task)
    warnings = [mismatch(dataset.name, task, shown[name], str(cards[name]["task"])) for name in picked]
    page_style.notice([f"{warning}." for warning in warnings if warning])
    forms: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name in picked:
        classes = tuple(cards[name]["labels"])
        if classes not in forms:
            forms[classes] = _counted_as(dataset, classes, ranked_by(cards[name]))
    counts_as = {name: forms[tuple(cards[name]["labels"])] for name in picked}
    try:
        for name in picked:
            Scale(tuple(cards[name]["labels"]), counts_as[name])
    except DataError as error:
        page_style.notice([f"{page_style.capital(str(error))}."])
        return
    make = functools.partial(_claimed, dataset, picked, counts_as)
    jobs.button("Predict", _JOB, make, type="primary", disabled=not picked)
