"""The offer to choose the next row by a model that learns from the labels (active learning), and the model's accuracy
so far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import streamlit as st

from app import page_style
from app.desk import annotator, drawing, jobs, learning_curve
from app.desk.open_run import OpenRun, attempt
from app.desk.reader_choice import reader
from core.desk import suggestions
from core.desk.jobs import QUEUE
from core.desk.suggestions import BACKGROUND, EVERY, FIRST, RANDOM_EVERY, RowFeatures, SuggestingModel
from core.wording import counted

_ON, _GUESS, _NEXT = "desk suggest", "desk show guess", "desk suggested"


class Suggested(NamedTuple):
    """A suggested row and the reason."""

    key: str
    random: bool


def draw(opened: OpenRun) -> None:
    """Draws the part."""
    name = annotator.name()
    if not name or len(opened.state.classes) < 2:
        return
    with st.expander("Which row comes next", key="desk next row"):
        known = suggestions.stored(opened.run)
        if jobs.draw_running(*suggestions.about(opened.run)):
            return
        if known is None:
            _offer(opened)
            return
        st.toggle(
            "Suggest the next row",
            key=_ON,
            help=f"After {FIRST} labels, and again after every {EVERY}, a model learns from them. Then the row comes "
            f"that it is least sure of, and one row in {RANDOM_EVERY} at random.",
        )
        st.toggle("Show the model’s guess", key=_GUESS, help="Hidden, so that it does not suggest your label.")
        fitted(opened)  # begins in the background, so that it is ready for the next row
        labels = len(_labels(opened, known))
        if labels < FIRST:
            page_style.note(f"{counted(FIRST - labels, 'more label')} until the first suggestion.")
        guesses = opened.state.guesses(name)
        for sentence in suggestions.sentences(guesses):
            page_style.note(sentence)
        drawing.figures(learning_curve.of_labels(guesses), "desk label curve")


def _offer(opened: OpenRun) -> None:
    """The model that reads the rows, and the button that starts it."""
    model = reader(opened, "Model that learns", "desk suggesting model")

    def begin() -> None:
        QUEUE.add(suggestions.features_job(opened.run, model or ""))
        st.session_state[_ON] = True

    page_style.note("It reads the rows once; you can label meanwhile.")
    label = "Let a model suggest the next row"
    st.button(label, key="desk read rows", disabled=model is None, on_click=lambda: attempt(begin))


def _labels(opened: OpenRun, known: RowFeatures) -> dict[int, int]:
    """The number of the class of each row that the annotator's model may learn from, by the row's index."""
    numbers = {name: number for number, name in opened.state.classes.items()}
    found = suggestions.learned_from(opened.state, annotator.name())
    places = {place: found[key] for key, place in opened.run.places(found).items() if found[key] in numbers}
    inside = np.isin([*places], known.rows).tolist()
    return {place: numbers[label] for (place, label), own in zip(places.items(), inside, strict=True) if own}


def fitted(opened: OpenRun) -> SuggestingModel | None:
    """The annotator's latest classifier; None if suggestions are off, or before the first."""
    if not st.session_state.get(_ON):
        return None
    known = suggestions.stored(opened.run)
    if known is None:
        return None
    whose = opened.file, annotator.name(), tuple(opened.state.classes)
    return BACKGROUND.latest(whose, known, _labels(opened, known))


def choose(opened: OpenRun, left: np.ndarray) -> int | None:
    """The index of the row to suggest among ``left``, the rows without a label in the order of the page; before the
    first classifier the first one that it can learn from. None without suggestions."""
    model = fitted(opened)
    if model is None:
        known = suggestions.stored(opened.run) if st.session_state.get(_ON) else None
        if known is None:
            return None
        inside = np.zeros(len(opened.run.keys), dtype=bool)
        inside[known.rows] = True
        sample = left[inside[left]]
        return int(sample[0]) if len(sample) else None
    random = len(opened.state.guesses(annotator.name())) % RANDOM_EVERY == RANDOM_EVERY - 1
    rest = np.zeros(len(opened.run.keys), dtype=bool)
    rest[left] = True
    place = model.next(rest, opened.run.draws, random=random)
    if place is not None:
        st.session_state[_NEXT] = Suggested(str(opened.run.keys[place]), random)
    return place


def guess(opened: OpenRun, place: int) -> tuple[int, bool, int] | None:
    """The model's prediction for the open row before it is labelled, as stored in the log; None if the row was not
    suggested or is labelled already."""
    model, key = fitted(opened), str(opened.run.keys[place])
    suggested: Suggested | None = st.session_state.get(_NEXT)
    own = opened.state.row(key)
    if model is None or suggested is None or suggested.key != key or annotator.name() in own.labels:
        return None
    number = model.guess(place)
    return None if number is None else (number, suggested.random, model.labels)


def shown_guess(opened: OpenRun, place: int) -> str:
    """The name of the class that the model predicts, if the annotator wants to see it."""
    model = fitted(opened) if st.session_state.get(_GUESS) else None
    number = None if model is None else model.guess(place)
    return "" if number is None else opened.state.classes.get(number, "")
