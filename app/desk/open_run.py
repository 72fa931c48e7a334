"""The run open on the Error desk, with the annotations of its rows."""

from __future__ import annotations

import functools
import html
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st
from sqlalchemy import Engine

from app import page_style
from app.page_state.error_desk import DeskState
from app.page_state.session import PageSession
from app.pair_form import once
from core.allocator import return_freed_memory
from core.checkpoint import available, read_card
from core.desk import label_check, store, strongest_words, training_rows
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.file_state import FileState
from core.desk.filters import FilterError, rows_of
from core.desk.folders import SUFFIXES, desk_folder
from core.desk.formulas import with_formulas
from core.desk.jobs import checkpoint_named as checkpoint_named
from core.desk.label_check import with_label_check
from core.desk.remarks import remarks
from core.desk.row_map import RowMap, stored, with_maps
from core.desk.run import MOST_MODELS, Run
from core.desk.slices import with_slices
from core.desk.strongest_words import Found, StrongestWords
from core.desk.table import RunTable, open_table, with_deal, with_tags
from core.errors import UserError

PAGE = PageSession(DeskState)


@dataclass(frozen=True)
class OpenRun:
    """A run, the table of its rows with their tags, the annotations, and the rows that the page's filter selects."""

    run: Run
    table: RunTable
    state: FileState
    annotations: Annotations
    rows: np.ndarray
    """bool ``[N]``; all if the filter is invalid."""
    error: FilterError | None
    slices: Mapping[str, np.ndarray]
    """The rows of each saved slice, bool ``[N]``."""
    wrong_slices: Mapping[str, FilterError]
    """Errors of invalid saved slices."""
    notes: list[str]
    """Sentences about the user's own columns and the filter's result."""
    strongest: tuple[Found, ...]
    """The known words with the largest effect, by model."""
    words: StrongestWords
    maps: tuple[RowMap | None, ...]
    """The map of the rows, by model."""
    checked: np.ndarray | None
    """The probability of each row's label (:func:`core.desk.label_check.stored`)."""
    version: tuple[object, ...]
    """Changes with the run and the user's own columns, and whenever a tag, a note, a strongest word or the run itself
    is written."""

    @property
    def exported(self) -> FileState:
        """The annotations in exports: also the decisions on rows that the annotator has not labelled."""
        name = str(self.version[3])
        return self.annotations.state(self.file).seen_by(name, decisions=True)

    @property
    def file(self) -> str:
        """The file's checksum, as stored with tags."""
        return self.run.dataset.sha256

    @property
    def stem(self) -> str:
        """The beginning of the names of downloaded files: the data file's name without its ending."""
        endings = "|".join(map(re.escape, SUFFIXES))
        plain = re.sub(rf"(?i)({endings})(?=,|$)", "", self.run.dataset.name)  # taxi.tsv, perturbed
        return "pairlens-" + re.sub(r"[^\w.-]+", "-", plain)

    @property
    def filter(self) -> str:
        """The filter that selects :attr:`rows`; empty if it is invalid."""
        return "" if self.error else PAGE.state.filter

    @property
    def model(self) -> int:
        """The index of the model shown in figures."""
        return min(PAGE.state.of, len(self.run.models)) - 1


def open_run(annotator: str) -> OpenRun:
    """The run in the page's state, with the annotations that an annotator may see ("" for a visitor without a name).
    Raises DeskError if it does not exist."""
    state = PAGE.state
    engine, written = database(), store.written(state.file or "")
    annotations, words = Annotations(engine), StrongestWords(engine)
    run, plain = _run(state.file or "", state.models, written)
    maps = tuple(stored(run, model) for model in range(len(run.models)))
    # A rebuilt map has the same positions.
    checked = label_check.stored(run)
    parts = *(known is None for known in maps), checked is None
    written_since = annotations.version(), words.count(run.dataset.sha256), *parts
    version: tuple[object, ...] = (state.file, state.models, written, annotator, *written_since)
    people = once("desk state", version, lambda: annotations.state(run.dataset.sha256).seen_by(annotator))
    strongest = once("desk known words", version, lambda: _strongest(words, run))
    deal = state.file, written, people.hands, people.packed
    dealt = once("desk rows dealt", deal, lambda: with_deal(plain, run, people))
    tagged = functools.partial(with_tags, dealt, run, people)
    worded = functools.partial(strongest_words.with_words, run=run, found=strongest)
    known = once("desk table", version, lambda: with_label_check(with_maps(worded(tagged()), maps), checked))
    version = *version, state.columns
    own, notes = once("desk own columns", version, lambda: with_formulas(known, state.columns))
    table, slices, wrong_slices = once("desk slices of people", version, lambda: with_slices(own, people.slices))
    error, shown = None, (version, state.filter)
    try:
        rows = once("desk rows", shown, lambda: rows_of(state.filter, table))
        notes = notes + once("desk remarks", shown, lambda: remarks(state.filter, table, int(rows.sum())))
    except FilterError as wrong:
        rows, error = np.ones(len(run.keys), dtype=bool), wrong
    computed = strongest, words, maps, checked
    return OpenRun(run, table, people, annotations, rows, error, slices, wrong_slices, notes, *computed, version)


@st.cache_resource(show_spinner="Opening the run …", max_entries=4)
def _run(file: str, models: tuple[str, ...], written: str) -> tuple[Run, RunTable]:
    run = store.open_run(file, models)
    table = open_table(run)
    pa.default_memory_pool().release_unused()
    return_freed_memory()
    return run, table


@st.cache_resource(show_spinner=False)
def _database(address: str) -> Engine:
    return open_database()


def database() -> Engine:
    """The desk's database. Raises DeskError if it cannot be used."""
    return _database(f"{os.environ.get('PAIRLENS_DB')} {desk_folder()}")


def _strongest(words: StrongestWords, run: Run) -> tuple[Found, ...]:
    return tuple(words.known(run.dataset.sha256, model.sha256) for model in run.models)


def training_notes(run: Run) -> list[str]:
    """Sentences about the models that may have been trained on the run's rows."""
    names = {i: checkpoint_named(model) for i, model in enumerate(run.models)}
    folders = available()
    return training_rows.training_notes(run, {i: read_card(folders[name]) for i, name in names.items() if name})


def show(**values: Any) -> None:
    """Changes the page's state and its widgets."""
    PAGE.set(replace(PAGE.state, **values))


def show_run(file: str, models: Iterable[str], view: str = "rows") -> None:
    """Shows the run with these checksums."""
    first = tuple(map(store.short, models))[:MOST_MODELS]
    PAGE.set(PAGE.state.updated(file=store.short(file), models=first, view=view))


def attempt(change: Callable[[], None]) -> None:
    """Makes a change, or shows in one sentence why it was rejected."""
    PAGE.touch()
    try:
        change()
    except UserError as error:
        notice_next(f"{error}.")


def notice_next(sentence: str | Callable[[], str]) -> None:
    """Shows a sentence the next time the page is drawn; a function is called then, after all changes are made."""
    st.session_state["desk notice"] = sentence


def draw_notice() -> None:
    """Draws the sentence from :func:`notice_next`."""
    sentence = st.session_state.pop("desk notice", None)
    if callable(sentence):
        sentence = sentence()
    if sentence:
        page_style.notice([sentence])


def lines(sentences: Iterable[str]) -> None:
    """Draws short lines in small type."""
    small = "".join(f'<p class="pl-note" style="margin:0">{html.escape(sentence)}</p>' for sentence in sentences)
    if small:
        st.html(small)
