"""Effects on a page: asked for with the verdict, and told to the browser when they are computed."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from app import components
from app.effects import work
from app.page_state.explore import Selection
from app.pairs import Version
from app.panels import Drawing
from app.panels.effects import WordBars, word_bars
from app.panels.verdict import class_names
from core.checkpoint import Checkpoint
from core.effects.memory import Answer, kept_why
from core.effects.why import MIX, target_class
from core.effects.words import TAKEN_AWAY
from core.evidence import Explanation
from core.evidence.effects import Effects

KEY = "what was computed late"
"""Of the component that tells it."""
PATIENCE = 0.25
"""Seconds that the server waits for an answer before it says how far it is: a newer question waits no longer."""


@dataclass(frozen=True)
class Questions:
    """What a page asks about a pair. ``method``: as a person chooses it."""

    checkpoint: Checkpoint
    texts: Version
    method: str

    @property
    def computed(self) -> str:
        """The method that is computed: the mean of three ways has each of them."""
        return TAKEN_AWAY if self.method in MIX else self.method

    @property
    def asked(self) -> work.Asked[Answer]:
        """By name, with what answers each."""
        about = self.checkpoint.folder, self.checkpoint.state, self.texts
        return {
            ("words", *about, self.computed): functools.partial(kept_why, self.checkpoint, *self.texts, self.computed)
        }


def followed(checkpoint: Checkpoint, explanation: Explanation) -> str:
    """The class whose probability effects are about, as people read it."""
    return class_names(explanation)[target_class(checkpoint, explanation.probabilities)]


@dataclass(frozen=True)
class Late:
    """What the browser hears, of the drawing with this ``id``. ``working``: how far what is not yet there is;
    ``stopped``: by a person; ``selection``: the word that is selected where nobody has chosen one, with what is looked
    up ``late`` for it."""

    id: str
    words: WordBars | None = None
    working: tuple[int, int] | None = None
    stopped: bool = False
    problem: str = ""
    selection: Selection | None = None
    late: Mapping[str, Any] = field(default_factory=dict)


def hear(questions: Questions, id: str) -> Late:
    """What is known by now, or in a moment."""
    works = work.at_work(questions.asked)
    for one in works.values():
        one.wait(PATIENCE)
    (words,) = works.values()
    return Late(
        id,
        word_bars(words.answer) if isinstance(words.answer, Effects) else None,
        None if words.finished else (words.done, words.of),
        words.stopped,
        words.problem,
    )


def strongest(questions: Questions, drawing: Drawing) -> Selection | None:
    """The word with the largest positive effect, once it is known."""
    for one in work.at_work(questions.asked).values():
        if isinstance(one.answer, Effects) and one.answer.strongest is not None:
            word = one.answer.strongest
            axes = {side.axis for side in drawing.sides if side.role == word.role}
            return Selection(row=word.index) if "row" in axes else Selection(column=word.index)
    return None


def draw(heard: Late) -> None:
    """Tell it the browser."""
    with st.container(key="late"):
        components.draw("late", heard, key=KEY, on_selection_change=_said)


def _said() -> None:
    """The browser asks again, stops what is computed or begins it anew."""
    said: Mapping[str, Any] = st.session_state[KEY].get("selection") or {}
    if said.get("stop"):
        work.stop()
    elif said.get("again"):
        work.again()
