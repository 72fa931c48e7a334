"""Pairs on which two models disagree, from a run of the Error desk or from files of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import streamlit as st

from app import page_style
from app.compare import comparison
from app.desk.open_run import checkpoint_named
from app.page_state.compare import CompareState
from app.page_state.session import PageSession
from app.pair_form import once
from app.pairs import Pair
from core.desk import store
from core.desk.run import Run, RunHeader, RunModel
from core.errors import UserError
from core.json_types import JsonObject
from core.wording import class_names, counted, told_apart

LISTED = 12
"""Maximum number of pairs listed."""


@dataclass(frozen=True)
class Disagreement:
    """A pair, the two classes, and the file's label, empty if it has none."""

    pair: Pair
    classes: tuple[str, str]
    gold: str


def draw(page: PageSession[CompareState]) -> None:
    """The choice of a run or of files, and the pairs, each as a button that opens it."""
    with st.expander("Find a pair where two models disagree"):
        try:
            runs = [run for run in store.runs() if len(run.models) > 1 and run.models[0].roles.second]
            chosen = _run(page, runs)
            if chosen is None:
                _files(page)
            else:
                run, models = chosen
                names = [name for model in models if (name := checkpoint_named(model))]
                known = once("disagreements of a run", (run.sha256, models), lambda: _of_run(run, models))
                _list(page, *known, names if len(names) == len(models) else [])
        except UserError as error:
            page_style.notice([f"{page_style.capital(str(error))}."])


def _run(page: PageSession[CompareState], runs: Sequence[RunHeader]) -> tuple[RunHeader, tuple[RunModel, ...]] | None:
    """The chosen run and two of its models, None if no run is chosen."""
    if not runs:
        page_style.hint("Predict a file with two models on the Error desk: its pairs can then be searched here.")
        page_style.page_link("error_desk", {}, "New run on the Error desk")
        return None
    by_file, names = {run.sha256: run for run in runs}, store.names_of(runs)
    file = st.selectbox(
        "Run of the Error desk",
        list(by_file),
        None,
        placeholder="Choose a run with two models",
        format_func=names.__getitem__,
        key="disagreements run",
        on_change=page.touch,
    )
    if file is None:
        return None
    run = by_file[file]
    pairs = list(combinations(run.models, 2))
    if len(pairs) == 1:
        return run, pairs[0]
    titles = told_apart({model.sha256: model.title for model in run.models}, letters=6)
    compared = {page.state.model, *page.state.others}
    first = next((n for n, both in enumerate(pairs) if compared >= {one.model for one in both}), 0)
    place = st.selectbox(
        "Models",
        range(len(pairs)),
        first,
        format_func=lambda place: " and ".join(titles[model.sha256] for model in pairs[place]),
        key=f"disagreements models {file}",
        on_change=page.touch,
    )
    return run, pairs[place]


def _of_run(header: RunHeader, models: Sequence[RunModel]) -> tuple[list[Disagreement], int]:
    """The first pairs on which the models differ, most confident first, and their total number."""
    return of_run(store.open_run(header.sha256, [model.sha256 for model in models]))


def of_run(run: Run) -> tuple[list[Disagreement], int]:
    """The same for the first two models of a run."""
    names = [np.array(class_names(model.labels, model.roles.judged), dtype=object) for model in run.models[:2]]
    first, second = (own[model.best] for own, model in zip(names, run.models, strict=False))
    places = np.flatnonzero(first != second)
    sure = np.prod([model.probabilities[places].max(axis=1) for model in run.models[:2]], axis=0)
    rows = run.dataset.rows
    return [
        Disagreement(Pair(rows[i].first, rows[i].second), (first[i], second[i]), rows[i].shown_label)
        for i in places[np.argsort(-sure, kind="stable")[:LISTED]].tolist()
    ], len(places)


def _files(page: PageSession[CompareState]) -> None:
    files = st.file_uploader(
        "Or upload predictions: the rows that the Error desk exported (CSV) with two models, or two files that `python "
        "-m trainers predict` wrote for the same data",
        type=["csv", "jsonl"],
        accept_multiple_files=True,
        key="predictions",
        on_change=page.touch,
    )
    texts = [(file.getvalue().decode("utf-8-sig", "replace"), file.name) for file in files[:2]]
    read = [table for text in texts for table in comparison.predictions(*text)][:2]
    if len(read) < 2:
        if read:
            page_style.note("This file has one model’s predictions: add a file with another model’s.")
        return
    pairs = comparison.disagreements(*read)
    known = [
        Disagreement(Pair(one.first, one.second), (one.predicted, one.predicted_other), one.label)
        for one in pairs.head(LISTED).itertuples()
    ]
    _list(page, known, len(pairs), [])


def _list(page: PageSession[CompareState], known: Sequence[Disagreement], total: int, names: Sequence[str]) -> None:
    """The pairs as buttons. ``names``: the models that open together with a pair; empty: the page keeps its own."""
    if not known:
        page_style.hint("They agree on every pair.")
        return
    page_style.note(f"{counted(total, 'pair')}; the pairs that both models are most sure of come first.")
    models: JsonObject = {"what": "models", "model": names[0], "others": tuple(names[1:])} if names else {}

    def open_pair(pair: Pair) -> None:
        page.set(page.state.updated(texts=(pair,), **models))

    for place, one in enumerate(known):
        gold = f" (gold: {one.gold})" if one.gold else ""
        label = f"{one.pair.first} / {one.pair.second}: {' or '.join(one.classes)}{gold}"
        key = f"tried-disagreement-{place}"
        st.button(page_style.plain(label), key=key, type="tertiary", on_click=open_pair, args=(one.pair,))
