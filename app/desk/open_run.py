"""The run open on the Error desk, with the annotations of its rows."""

from __future__ import annotations

import functools
import html
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

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
from core.desk.columns import find
from core.desk.database import open_database
from core.desk.file_state import FileState
from core.desk.filters import FilterError, fits, rows_of
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


class Columns(NamedTuple):
    """The table of a run's rows with their tags, and values derived from it. Labelling needs none of them."""

    table: RunTable
    slices: Mapping[str, np.ndarray]
    """The rows of each saved slice, bool ``[N]``."""
    wrong_slices: Mapping[str, FilterError]
    """Errors of invalid saved slices."""
    notes: list[str]
    """Sentences about the user's own columns."""
    steady: RunTable
    """The columns that do not depend on tags, notes or labels, with the slices that only need these columns, so that
    they are not computed again after each label."""
    steady_version: tuple[object, ...]
    """Changes with these columns."""


@dataclass(frozen=True)
class OpenRun:
    """A run, the table of its rows with their tags, the annotations, and the rows that the page's filter selects."""

    run: Run
    state: FileState
    annotations: Annotations
    rows: np.ndarray
    """bool ``[N]``; all if the filter is invalid."""
    error: FilterError | None
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
    order: tuple[object, ...]
    """Changes with the page's filter and order, and with the columns that these read."""
    columns: Callable[[], Columns]
    remarks: list[str]
    """Sentences about the filter's result."""

    @property
    def table(self) -> RunTable:
        """See :class:`Columns`."""
        return self.columns().table

    @property
    def slices(self) -> Mapping[str, np.ndarray]:
        """See :class:`Columns`."""
        return self.columns().slices

    @property
    def wrong_slices(self) -> Mapping[str, FilterError]:
        """See :class:`Columns`."""
        return self.columns().wrong_slices

    @property
    def notes(self) -> list[str]:
        """Sentences about the user's own columns and the filter's result."""
        return self.columns().notes + self.remarks

    @property
    def exported(self) -> FileState:
        """The annotations for exports, which include the decisions on rows that the annotator has not labelled."""
        name = str(self.version[3])
        return self.annotations.state(self.file).seen_by(name, decisions=True)

    @property
    def labellers(self) -> list[str]:
        """The annotators without adjudicators, who decide on others' labels and label no rows."""
        return [name for name in self.annotations.annotators() if name not in self.state.deciders]

    @property
    def file(self) -> str:
        """The file's checksum, as stored with tags."""
        return self.run.dataset.sha256

    @property
    def stem(self) -> str:
        """The stem of downloaded files' names: the data file's name without its extension."""
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
    run = _run(state.file or "", state.models, written)
    maps = tuple(stored(run, model) for model in range(len(run.models)))
    # A rebuilt map has the same positions.
    checked = label_check.stored(run)
    parts = *(known is None for known in maps), checked is None
    written_since = annotations.version(), words.count(run.dataset.sha256), *parts
    version: tuple[object, ...] = (state.file, state.models, written, annotator, *written_since)
    people = once("desk state", version, lambda: annotations.state(run.dataset.sha256).seen_by(annotator))
    strongest = once("desk known words", version, lambda: _strongest(words, run))
    steady = functools.partial(_steady, people, maps, checked, (state.file, state.models, written), parts)
    version = *version, state.columns

    @functools.cache  # downloads are built outside of the session that `once` needs
    def columns() -> Columns:
        return once("desk columns", version, lambda: _columns(run, steady(), people, strongest, state.columns))

    error, notes = None, list[str]()
    order: tuple[object, ...] = (state.file, written)
    rows = np.ones(len(run.rows), dtype=bool)
    try:
        if state.filter.strip() or state.sort:
            known = columns()
            shown = known.steady_version if fits(state.filter, known.steady) else version, state.filter
            rows = once("desk rows", shown, lambda: rows_of(state.filter, known.table))
            notes = once("desk remarks", shown, lambda: remarks(state.filter, known.table, int(rows.sum())))
            by = find(state.sort.removeprefix("-"), known.table.columns)
            order = *(shown if by is None or by in known.steady.columns else (version, state.filter)), state.sort
    except FilterError as wrong:
        error, order = wrong, (version, state.sort)
    computed = strongest, words, maps, checked
    return OpenRun(run, people, annotations, rows, error, *computed, version, order, columns, notes)


def _steady(
    people: FileState,
    maps: tuple[RowMap | None, ...],
    checked: np.ndarray | None,
    run: tuple[str | None, tuple[str, ...], str],
    parts: tuple[bool, ...],
) -> tuple[RunTable, RunTable, Mapping[str, np.ndarray], tuple[object, ...]]:
    """The table of the columns that do not depend on tags, notes or labels; the same with the slices that only need
    these columns; these slices' rows; and a key that changes with all of this. ``parts``: which of the maps and checks
    are missing."""
    own, plain = _run(*(run[0] or "", *run[1:])), _table(run[0] or "", *run[1:])
    deal = *run, people.hands, people.packed
    dealt = once("desk rows dealt", deal, lambda: with_deal(plain, own, people))
    table = once("desk steady table", (*deal, *parts), lambda: with_label_check(with_maps(dealt, maps), checked))
    version = *deal, *parts, tuple(people.slices.items())
    sliced, slices, _ = once("desk steady slices", version, lambda: with_slices(table, people.slices))
    return table, sliced, slices, version


def _columns(
    run: Run,
    steady: tuple[RunTable, RunTable, Mapping[str, np.ndarray], tuple[object, ...]],
    people: FileState,
    strongest: tuple[Found, ...],
    formulas: str,
) -> Columns:
    table, sliced, known, version = steady
    worded = strongest_words.with_words(with_tags(table, run, people), run=run, found=strongest)
    own, notes = with_formulas(worded, formulas)
    return Columns(*with_slices(own, people.slices, known), notes, sliced, version)


@st.cache_resource(show_spinner="Opening the run …", max_entries=4)
def _run(file: str, models: tuple[str, ...], written: str) -> Run:
    return store.open_run(file, models)


@st.cache_resource(show_spinner="Computing the columns …", max_entries=4)
def _table(file: str, models: tuple[str, ...], written: str) -> RunTable:
    table = open_table(_run(file, models, written))
    pa.default_memory_pool().release_unused()
    return_freed_memory()
    return table


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


def row_title(key: str) -> str:
    """A row's heading, from its id."""
    return page_style.capital(key) if key.startswith("line ") else f"Row {key}"


def attempt(change: Callable[[], None]) -> None:
    """Makes a change, or shows in one sentence why it was rejected."""
    PAGE.touch()
    try:
        change()
    except UserError as error:
        notice_next(f"{error}.")


def switch(label: str, now: bool, key: str, write: Callable[[bool], None], **options: Any) -> None:
    """A toggle for a setting of the log. ``key`` changes with the log, so after an interrupted page run Streamlit may
    report a change that the user did not make: only a value other than ``now`` is written."""

    def changed() -> None:
        value = bool(st.session_state.get(key, now))
        if value != now:
            attempt(lambda: write(value))

    st.toggle(label, now, key=key, on_change=changed, **options)


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
