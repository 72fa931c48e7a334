"""Effects on a page: asked for with the verdict, and told to the browser when they are computed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from app import components
from app.browser import unseen
from app.effects import asking, work
from app.page_state.explore import Selection
from app.pairs import Version
from app.panels import Drawing, effects
from app.panels.belief import Belief, belief
from app.panels.like_these import LikeThese, like_these
from app.panels.links import LinkMap, link_map
from app.panels.verdict import class_names
from app.panels.what_if import Offered, Turn, offered, turns
from core.checkpoint import Checkpoint
from core.effects.memory import Answer as Kept
from core.effects.memory import kept_believed, kept_changes, kept_heads, kept_links, kept_why
from core.effects.why import target_class
from core.effects.words import TAKEN_AWAY, Progress, unheard
from core.evidence import Explanation
from core.evidence.effects import Effects, LinkEffects
from core.evidence.faithfulness import Faithfulness
from core.neighbours import Neighbours, nearest

WORDS, LINKS, TURNS, BELIEVED, OFFERS, LIKE = "words", "links", "turns", "believed", "offers", "like"
"""What can be asked for."""
KEY = "what was computed late"
"""Of the component that tells it."""
PATIENCE = 0.05
"""Seconds that the server waits for an answer before it says how far it is: a newer question may wait as long."""

Answer = Kept | Offered | Neighbours


@dataclass(frozen=True)
class Questions:
    """What a page asks about a pair. ``method``: as a person chooses it, ``drawn``: with which replacements
    (:mod:`app.effects.asking`); ``links``: how links are cut, empty where nobody asks for them; ``layer``: the first
    one of a transformer, from 1, in which they are; ``offers``: what may stand in each word's place; ``turns``: the
    smallest changes that turn the verdict; ``believed``: faithfulness; ``like``: training rows like the pair."""

    checkpoint: Checkpoint
    texts: Version
    method: str = TAKEN_AWAY
    links: str = ""
    offers: bool = False
    turns: bool = False
    believed: bool = False
    like: bool = False
    drawn: str = ""
    layer: int = 1

    @functools.cached_property
    def way(self) -> asking.Way:
        """How words are asked about: the mean of several ways has each of them."""
        return asking.way(self.checkpoint, self.texts, self.method, self.drawn)

    @property
    def computed(self) -> str:
        """The method that is computed."""
        return self.way.computed

    def _why(self, progress: Progress) -> Effects:
        way = self.way
        return kept_why(self.checkpoint, *self.texts, way.computed, progress, drawing=way.drawing)

    def _links(self, progress: Progress) -> tuple[LinkEffects, ...]:
        pair = self.checkpoint, *self.texts
        if asking.of_heads(self.links, self.checkpoint):
            return kept_heads(*pair, progress)
        taken, every = asking.cut(self.links)
        return kept_links(*pair, taken, progress, every=every, layer=self.layer - 1)

    @property
    def asked(self) -> work.Asked[Answer]:
        """By name, with what answers each."""
        checkpoint, texts = self.checkpoint, self.texts
        about = checkpoint.folder, checkpoint.state, texts
        out: dict[work.Key, Callable[[Progress], Answer]] = {
            (WORDS, *about, self.computed, self.way.drawing): self._why
        }
        if self.links:
            out[LINKS, *about, self.links, self.layer] = self._links
        if self.offers:
            out[OFFERS, *about] = functools.partial(offered, checkpoint, texts)
        if self.turns:
            out[TURNS, *about] = functools.partial(kept_changes, checkpoint, *texts)
        if self.believed:
            out[BELIEVED, *about] = functools.partial(kept_believed, checkpoint, *texts)
        if self.like:
            out[LIKE, *about] = lambda progress: nearest(checkpoint, *texts)
        return out

    def faithfulness(self) -> Faithfulness:
        """How far all this can be believed, for a file that a person asks for."""
        return kept_believed(self.checkpoint, *self.texts, unheard)

    def effects(self) -> Effects:
        """Everything that is asked for as one record. It takes as long as it takes: for a file that a person asks
        for."""
        words = self._why(unheard)
        return replace(words, links=self._links(unheard)) if self.links else words


def followed(checkpoint: Checkpoint, explanation: Explanation) -> str:
    """The class whose probability effects are about, as people read it."""
    return class_names(explanation)[target_class(checkpoint, explanation.probabilities)]


@dataclass(frozen=True)
class Late:
    """What the browser hears, of the drawing with this ``id``. By name of what is asked, ``working``: how far what is
    not yet there is; ``stopped``: by a person; ``problems``: why there is nothing. ``selection``: the word that is
    selected where nobody has chosen one, with what is looked up ``late`` for it."""

    id: str
    words: effects.WordBars | None = None
    links: tuple[LinkMap, ...] | None = None
    offers: Offered | None = None
    turns: tuple[Turn, ...] | None = None
    believed: Belief | None = None
    like: LikeThese | None = None
    working: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    stopped: tuple[str, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)
    selection: Selection | None = None
    late: Mapping[str, Any] = field(default_factory=dict)


def hear(questions: Questions, explanation: Explanation, id: str) -> Late:
    """What is known by now, or in a moment."""
    works = {key[0]: one for key, one in work.at_work(questions.asked).items()}
    for one in works.values():
        one.wait(PATIENCE / len(works))

    def answer(name: str) -> Any:
        return works[name].answer if name in works else None

    words, links, changes, measured = map(answer, (WORDS, LINKS, TURNS, BELIEVED))
    names, like = class_names(explanation), answer(LIKE)
    return Late(
        id,
        None if words is None else effects.word_bars(words, bool(questions.checkpoint.seconds)),
        None if links is None else tuple(link_map(one, explanation) for one in links),
        answer(OFFERS),
        None if changes is None else turns(changes, explanation.labels, names),
        None if measured is None else belief(measured, explanation),
        None if like is None else like_these(like, questions.checkpoint.name, explanation.labels, names),
        {name: (one.done, one.of) for name, one in works.items() if not one.finished},
        tuple(name for name, one in works.items() if one.stopped),
        {name: one.problem for name, one in works.items() if one.problem},
    )


@dataclass(frozen=True)
class LateColumns:
    """What the browser hears of several verdicts side by side, each with what words do to it where that is known; the
    rest as :class:`Late` has it."""

    id: str
    columns: tuple[effects.WordBars | None, ...]
    working: Mapping[str, tuple[int, int]]
    stopped: tuple[str, ...]
    problems: Mapping[str, str]


def hear_all(questions: Sequence[Questions | None], id: str) -> LateColumns:
    """What is known by now, or in a moment, of what words do to several verdicts."""
    asked = {key: make for one in questions if one is not None for key, make in one.asked.items()}
    works = work.at_work(asked)
    for one in works.values():
        one.wait(PATIENCE / len(works))
    columns = [None if one is None else works[next(iter(one.asked))] for one in questions]
    unfinished = [one for one in works.values() if not one.finished]
    done, of = sum(one.done for one in unfinished), sum(one.of for one in unfinished)
    return LateColumns(
        id,
        tuple(effects.word_bars(one.answer) if one and isinstance(one.answer, Effects) else None for one in columns),
        {WORDS: (done, of)} if unfinished else {},
        tuple({WORDS for one in works.values() if one.stopped}),
        {str(number): one.problem for number, one in enumerate(columns) if one and one.problem},
    )


def strongest(questions: Questions, drawing: Drawing) -> Selection | None:
    """The word with the largest positive effect, once it is known. Nothing begins to be computed: the verdict that is
    about to be drawn would wait for it."""
    for one in work.begun(questions.asked).values():
        if isinstance(one.answer, Effects) and one.answer.strongest is not None:
            word = one.answer.strongest
            axes = {side.axis for side in drawing.sides if side.role == word.role}
            return Selection(row=word.index) if "row" in axes else Selection(column=word.index)
    return None


def draw(heard: Late | LateColumns) -> None:
    """Tell it the browser."""
    with unseen("late"):
        components.draw("late", heard, key=KEY, on_selection_change=_said)


def _said() -> None:
    """The browser asks again, stops what is computed or begins it anew."""
    said: Mapping[str, Any] = st.session_state[KEY].get("selection") or {}
    # Streamlit calls a component's script again only where its data differ, and an answer may be as the one before.
    st.session_state[f"{KEY} turn"] = said.get("turn", 0)
    if said.get("stop"):
        work.stop(said["stop"] if isinstance(said["stop"], str) else None)
    elif said.get("again"):
        work.again()
