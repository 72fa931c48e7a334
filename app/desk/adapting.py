"""The offer to adapt a model to some rows of a file, or to train all its weights, and test it on the others."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import streamlit as st

from app import own_models, page_style
from app.desk import annotator, jobs
from app.pair_form import once
from core.adaptation.readers import SUGGESTED
from core.card import Card, ranked_by
from core.checkpoint.unlisted import TRAINING
from core.data import Dataset
from core.data.dataset import CORRECTED_BY
from core.data.labels import Scale, graded, proposed
from core.desk import store, trainer, training
from core.desk.adapted_run import Division, adaptation, division, held_out_rows, remarks
from core.desk.jobs import Job
from core.desk.training import TrainingJob
from core.desk.which_reader import ReadersJob, about, which_reader
from core.errors import UserError
from core.tasks import ANSWERS
from core.wording import counted

JOB, COMPARISON = "desk adaptation", "desk comparison of readers"
_ADAPT, _PREDICT = "Adapt a model to it", "Predict it with models as they are"
_CLASSIFIER, _ALL = "Its classifier only", "All its weights"
_MANY, _MANY_CLASSES = 20_000, 50
"""Number of training rows from which reading them takes minutes, and of classes from which fitting them does."""
_READERS = 3
"""Maximum number of models to compare."""
_NAMED = 8
"""Maximum number of classes named in the offer."""


def finish() -> None:
    """Once this session's adaptation has ended: opens its run and lists the model for this session, or shows the
    error."""
    job: Job | None = st.session_state.get(JOB)
    kept = "The adaptation was cancelled; nothing of it is kept."
    if isinstance(job, TrainingJob) and job.finished:
        kept = "The training was cancelled before its first epoch was finished."
        if (job.plan.folder / "card.json").is_file():
            own_models.add(job.plan.name)
            kept = f"The test was cancelled; the model is kept: {job.plan.title}."
        elif (job.plan.folder / TRAINING).is_dir():
            kept = f"{job.plan.title} is not resumed; its epochs are kept."
    elif job is not None and job.finished and job.written is not None:
        own_models.add(store.header(job.written[0]).models[0].model)
    jobs.finish(JOB, kept, "scores")


def chosen(dataset: Dataset, cards: Mapping[str, Card]) -> bool:
    """Whether the user chose to adapt a model to a file instead of predicting it; the default for classes that no model
    has, and for a file with corrected labels. Not offered without labels."""
    if not dataset.labels:
        return False
    new = new_classes(dataset, cards) or any(row.columns.get(CORRECTED_BY) for row in dataset.rows)
    answer = st.radio(
        "What to do with this file?",
        [_ADAPT, _PREDICT] if new else [_PREDICT, _ADAPT],
        horizontal=True,
        key=f"desk adapt {dataset.sha256}",
    )
    return answer == _ADAPT


def new_classes(dataset: Dataset, cards: Mapping[str, Card]) -> bool:
    """Whether no model has the classes of the file's labels, nor classes with the same meanings."""
    labels = dataset.labels

    def strange(card: Card) -> bool:
        classes = tuple(card["labels"])
        unknown = Scale(classes, {}, ranked_by(card)).unknown(labels)
        return not graded(labels, unknown) and not all(proposed(label, labels, classes) for label in unknown)

    return bool(labels) and all(map(strange, cards.values()))


def form(dataset: Dataset, roles: Mapping[str, str], cards: Mapping[str, Card], shown: Mapping[str, str]) -> None:
    """The division of the rows, the model to adapt, and the button. ``cards`` and ``shown``: the models that read such
    rows and their titles; ``roles``: the file's names of the texts."""
    try:
        divided = once("desk division", dataset.sha256, lambda: division(dataset))
    except UserError as error:
        page_style.notice([f"{page_style.capital(str(error))}."])
        return
    _question(divided, new_classes(dataset, cards))
    page_style.notice(once("desk division remarks", dataset.sha256, lambda: remarks(dataset, divided)))
    long = len(divided.train) >= _MANY or len(divided.counts()) > _MANY_CLASSES
    all_weights = _what_learns(cards, long)
    suited = {name: card for name, card in cards.items() if not all_weights or training.suits(card)}
    # An answer selection model ranks a question's answers better than an entailment model.
    rankers = [name for name, card in suited.items() if card["task"] == ANSWERS][: int(dataset.ranking)]
    suggested = [*rankers, *(name for name in SUGGESTED if name in suited)]
    names = [*suggested, *(name for name in suited if name not in suggested)]
    what = "Model to train further" if all_weights else "Model to adapt"
    base = st.selectbox(what, names, format_func=shown.__getitem__, key=f"desk base {dataset.single} {all_weights}")
    if not all_weights:
        _which_reader(dataset, divided, names[:_READERS])
    done = "trained" if all_weights else "adapted"
    page_style.note(
        f"The {done} model is kept for a day and listed only for you. All visitors see all runs, so anyone who opens "
        "this run can open the model, too."
    )

    def make() -> Job:
        annotator.claim(held_out_rows(dataset, divided).sha256)
        if all_weights:
            return training.training(training.plan_for(dataset, divided, base, cards[base], roles, own_models.maker()))
        return adaptation(dataset, divided, base, roles, own_models.maker())

    label = "Train and test" if all_weights else "Adapt and test"
    jobs.button(label, JOB, make, type="primary", disabled=base is None)


def _which_reader(dataset: Dataset, divided: Division, names: Sequence[str]) -> None:
    """The button that compares the first models of the list on the training rows, and the result."""
    job: ReadersJob | None = st.session_state.get(COMPARISON)
    mine = job is not None and job.about == about(dataset, names)
    if job is not None and mine and job.finished:
        page_style.note(job.told or job.problem or "The comparison was cancelled.")
    if len(names) > 1 and not (mine and job and job.told):
        what = f"Cross-validates {counted(len(names), 'model')} on the training rows"
        off = JOB in st.session_state
        jobs.button("Which model?", COMPARISON, lambda: which_reader(dataset, divided, names), help=what, disabled=off)


def _what_learns(cards: Mapping[str, Card], long: bool) -> bool:
    """Whether the user chose to train all weights, not only the classifier; false where nothing can be trained, with a
    note if packages are missing. ``long``: whether the file is large."""
    if not any(map(training.suits, cards.values())):
        return False
    if not trainer.installed():
        page_style.note(
            "Only the classifier learns: to train all weights, install the packages of requirements-trainers.txt on "
            "this server."
        )
        return False
    times = dict(zip((_CLASSIFIER, _ALL), ("minutes", "hours") if long else ("seconds", "minutes"), strict=True))
    answer = st.radio(
        "What should learn?",
        [*times],
        horizontal=True,
        key="desk what learns",
        format_func=lambda one: f"{one}: {times[one]}",
    )
    if answer == _ALL:
        page_style.note(
            "A tenth of the training rows choose the best epoch. The training runs at low priority, so that this "
            "server answers as fast as before; you can stop it, and keep the best epoch so far."
        )
    return answer == _ALL


def draw_unfinished() -> None:
    """Lists the visitor's trainings that stopped with their server, were queued when it ended, or failed, until they
    are resumed or deleted."""
    for one in training.unfinished(own_models.maker()):
        so_far = f" after {counted(one.epochs, 'epoch')}" if one.epochs else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            page_style.notice([f"The training of {one.title} is unfinished{so_far}."])
            resume = st.button("Resume", key=f"resume {one.name}", disabled=JOB in st.session_state)
            st.button("Delete", key=f"delete {one.name}", on_click=training.delete, args=(one.name,))
        if resume:
            jobs.start(JOB, functools.partial(training.resumed, one.name))
            st.rerun()


def _question(divided: Division, new: bool) -> None:
    """The offer in one sentence, and the division in a table."""
    counts = divided.counts()
    named = ", ".join(label for label, *_ in counts[:_NAMED]) + (", …" if len(counts) > _NAMED else "")
    which = (
        f"These {len(counts)} classes are new ({named}). " if new else f"The file has {len(counts)} classes ({named}). "
    )
    page_style.hint(
        f"{which}Adapt a model to {len(divided.train):,} of these rows and test it on the other "
        f"{len(divided.held_out):,}?"
    )
    labels, train, held_out = zip(*counts, strict=True)
    numbers = {"training rows": train, "held-out rows": held_out}
    st.dataframe(
        {"class": labels, **numbers},
        hide_index=True,
        width="content",
        column_config=dict.fromkeys(numbers, st.column_config.NumberColumn(format="localized")),
    )
    page_style.note("No text is on both sides: rows that share one, directly or through other rows, stay together.")
