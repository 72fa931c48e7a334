"""The offer to adapt a model to some rows of a file and test it on the others."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app import own_models, page_style
from app.desk import annotator, jobs
from app.pair_form import once
from core.card import Card, ranked_by
from core.data import Dataset
from core.data.labels import Scale, graded, proposed
from core.desk import store
from core.desk.adapted_run import SUGGESTED, Division, adaptation, division, held_out_rows, remarks
from core.desk.jobs import Job
from core.errors import UserError

JOB = "desk adaptation"
_ADAPT, _PREDICT = "Adapt a model to it", "Predict it with models as they are"
_NAMED = 8
"""Maximum number of classes named in the offer."""


def finish() -> None:
    """Once an adaptation of this session has ended: opens its run, and lists the model for this session; or says why
    there is none."""
    job: Job | None = st.session_state.get(JOB)
    if job is not None and job.finished and job.written is not None:
        own_models.add(store.header(job.written[0]).models[0].model)
    jobs.finish(JOB, "The adaptation was cancelled; nothing of it is kept.", "scores")


def chosen(dataset: Dataset, cards: Mapping[str, Card]) -> bool:
    """The user's choice to adapt a model to a file, not to predict it; the default for classes that no model has."""
    new = new_classes(dataset, cards)
    answer = st.radio(
        "What to do with this file?",
        [_ADAPT, _PREDICT] if new else [_PREDICT, _ADAPT],
        horizontal=True,
        key=f"desk adapt {dataset.sha256}",
    )
    return answer == _ADAPT


def new_classes(dataset: Dataset, cards: Mapping[str, Card]) -> bool:
    """Whether no model has the classes of the file's labels, nor classes of their meaning."""
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
    suggested = [name for name in SUGGESTED if name in cards]
    names = [*suggested, *(name for name in cards if name not in suggested)]
    base = st.selectbox("Model to adapt", names, format_func=shown.__getitem__, key=f"desk base {dataset.single}")
    page_style.note(
        "The adapted model is kept for a day, and only this session lists it. As all visitors see all runs, whoever "
        "opens this one can open the model, too."
    )

    def make() -> Job:
        job = adaptation(dataset, divided, base, roles)
        annotator.claim(held_out_rows(dataset, divided).sha256)
        return job

    if st.button("Adapt and test", type="primary", disabled=base is None or JOB in st.session_state):
        jobs.start(JOB, make)
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
    st.dataframe(
        {"class": labels, "rows to learn from": train, "rows to test on": held_out}, hide_index=True, width="content"
    )
    page_style.note("No text is on both sides: rows that share one, directly or through other rows, stay together.")
