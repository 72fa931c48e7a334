"""A page's state in one browser session: read from the URL, changed by widgets, written back to the URL.

The page keeps its state as a plain value, never in a widget. A browser's message may arrive late, with a widget's value
from before the page last changed it, which Streamlit would take for a new choice. So a widget gets a new key whenever
the page changes its value (:meth:`PageSession.key`), and callbacks ignore messages for an old key.

All pages over texts share one pair: a pair typed, selected or opened on one page appears on the others. The example
that a page opens with was not chosen, so it is not shared; and texts in the URL take precedence over the shared pair.
Only Filter map, whose own examples are not pairs, also takes over the example that the previous page opened with. All
pages also share the projector setting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Generic, TypeVar

import streamlit as st

from app.page_state.address import complete
from app.page_state.codec import PageState
from app.page_state.texts import TextState
from app.pairs import SIDES, Version
from core.json_types import JsonObject

State = TypeVar("State", bound=PageState)
NO_MODELS: Mapping[str, str] = {}
_PAIR, _OPEN, _PROJECTOR = "pair of all pages", "page that is open", "projector of all pages"
"""Session keys of the shared pair, the name of the last drawn page, and projector mode."""


class _Url(Enum):
    """Stages of the URL: after a widget's change (``CHOSEN``), when that is drawn (``STEP``), when the URL's own state
    is drawn (``COMPLETE``), and until the next change (``WRITTEN``)."""

    CHOSEN = "of the next drawing"
    STEP = "a new entry of the browser's history"
    COMPLETE = "the same entry, with all parameters"
    WRITTEN = "as it is"


@dataclass
class _Visit(Generic[State]):
    """``written``: the URL parameters that the page wrote last; ``generation``: how often the page itself changed its
    widgets' values; ``url``: the stage of the URL; ``completed``: the URL parameters that the written ones replaced,
    which the browser may still send; ``shared``: the shared pair when the page last took or gave it."""

    state: State
    problems: list[str]
    models: Mapping[str, str]
    written: dict[str, str] = field(default_factory=dict)
    generation: int = 0
    url: _Url = _Url.COMPLETE
    completed: dict[str, str] | None = None
    shared: Version | None = None

    def says(self, address: Mapping[str, str]) -> bool:
        """Whether the page has written this URL itself."""
        return address in (self.written, self.completed)


def model_on(page: type[TextState]) -> str | None:
    """The model that a page showed last in this session; None before the first visit."""
    visit: _Visit[TextState] | None = st.session_state.get(page.page)
    return None if visit is None else visit.state.model


def _pair_on(page: str | None) -> Version | None:
    """The pair that a page shows in this session; None if it shows none."""
    visit: _Visit[PageState] | None = None if page is None else st.session_state.get(page)
    state = None if visit is None else visit.state
    return state.pair.now if isinstance(state, TextState) and not state.pair.empty else None


class PageSession(Generic[State]):
    """The session's state for the page whose states are of type ``kind``."""

    def __init__(self, kind: type[State]) -> None:
        self.kind, self.name = kind, kind.page

    def open(self, models: Mapping[str, str]) -> State:
        """The state to show: from the URL on the first visit and after Back or a manual change of the URL, else the
        previous one, with the shared pair if another page has changed it. ``models``: the available ones, the default
        one first, each with the kind of its examples.

        A run triggered by a widget never reads the URL, which may be older than the user's latest input.
        """
        session, address = st.session_state, st.query_params.to_dict()
        before, session[_OPEN] = session.get(_OPEN), self.name
        if before != self.name or self.name not in session:
            self._arrive(before, address, models)
        elif self._visit.url is not _Url.CHOSEN:
            self._go_back(address, models)
        visit = self._visit
        visit.models = models
        suited = visit.state.suited(models)
        if suited != visit.state:
            self._replace(suited, visit.problems)  # type: ignore[arg-type]
        session[_PROJECTOR], visit.shared = visit.state.projector, session.get(_PAIR)
        visit.url = _Url.STEP if visit.url is _Url.CHOSEN else _Url.COMPLETE
        return visit.state

    def _arrive(self, before: str | None, address: Mapping[str, str], models: Mapping[str, str]) -> None:
        """From another page or a link: the URL's state if it says anything new, else the previous one with the shared
        pair."""
        session, names_texts = st.session_state, self.kind.names_texts(address)
        if not address and self.kind.follows and session.get(_PAIR) is None:
            session[_PAIR] = _pair_on(before)
        shared: Version | None = session.get(_PAIR)
        visit: _Visit[State] | None = session.get(self.name)
        if visit is None:
            visit = session[self.name] = _Visit(*self._read(address, models), models)
            read = True
        elif read := not self.kind.names().isdisjoint(address) and not visit.says(address):
            self._replace(*self._read(address, models))
        elif shared not in (None, visit.shared) and not names_texts:
            self._replace(visit.state.take_pair(shared, models))  # type: ignore[arg-type]
        if names_texts and (read or shared is not None):
            session[_PAIR] = visit.state.give_pair(shared, models)
        projector = session.get(_PROJECTOR, visit.state.projector)
        if "projector" not in address and projector != visit.state.projector:
            self._replace(replace(visit.state, projector=projector), visit.problems)

    def _go_back(self, address: Mapping[str, str], models: Mapping[str, str]) -> None:
        """By Back, or a URL changed by hand: its state. A URL without parameters is the initial state of a page without
        texts."""
        first = not address and not issubclass(self.kind, TextState)
        if self._visit.says(address) or not (first or not self.kind.names().isdisjoint(address)):
            return
        self._replace(*self._read(address, models))
        if self.kind.names_texts(address):
            st.session_state[_PAIR] = self.state.give_pair(st.session_state.get(_PAIR), models)

    def touch(self) -> None:
        """A widget has changed something."""
        self._visit.url, self._visit.problems = _Url.CHOSEN, []

    def settle(self) -> None:
        """A fragment has drawn a widget's change, without :meth:`open`."""
        if self._visit.url is _Url.CHOSEN:
            self._visit.url = _Url.STEP

    def _read(self, address: Mapping[str, str], models: Mapping[str, str]) -> tuple[State, list[str]]:
        """State and problems of a URL; one without texts gets the shared pair."""
        shared: Version | None = st.session_state.get(_PAIR)
        named = self.kind.names_texts(address)
        if shared is not None and not named and self.kind.takes(shared, address, models):
            address = dict(address) | dict(zip(SIDES, shared, strict=True))
        return self.kind.from_parameters(address, models)

    def _replace(self, state: State, problems: Sequence[str] = ()) -> None:
        """Sets a state that the widgets do not show yet."""
        self._visit.state, self._visit.problems = state, list(problems)
        self._visit.generation += 1

    @property
    def _visit(self) -> _Visit[State]:
        visit: _Visit[State] = st.session_state[self.name]
        return visit

    @property
    def state(self) -> State:
        """The current state."""
        return self._visit.state

    @property
    def problems(self) -> list[str]:
        """One sentence for each unusable value in the URL or file."""
        return list(self._visit.problems)

    @property
    def models(self) -> Mapping[str, str]:
        """The available models, as given to :meth:`open`."""
        return self._visit.models

    def key(self, widget: str) -> str:
        """The widget's key, which changes whenever the page changes the widget's value."""
        return f"{self.name} {widget} {self._visit.generation}"

    def change(self, **values: Any) -> None:
        """Store new values from a widget that already shows them."""
        self._put(replace(self.state, **values))

    def update(self, **values: Any) -> None:
        """Like :meth:`change`, and resets fields that belonged to the old values."""
        self._put(self.state.updated(**values))  # type: ignore[arg-type]

    def set(self, state: State) -> None:
        """Sets a state that the widgets do not show yet."""
        self._put(state)
        self._visit.generation += 1

    def _put(self, state: State) -> None:
        self.touch()
        shared, before, self._visit.state = st.session_state.get(_PAIR), self.state, state
        st.session_state[_PROJECTOR] = state.projector
        pair = state.give_pair(shared, self.models)
        if pair != before.give_pair(shared, self.models):
            st.session_state[_PAIR] = self._visit.shared = pair

    def refuse(self, sentence: str) -> None:
        """Explains why a request cannot be met; the state is unchanged."""
        self.touch()
        self._visit.problems = [sentence]

    def widget(
        self, name: str, take: Callable[[Any], None] | None = None, key: Callable[[str], str] | None = None
    ) -> JsonObject:
        """Key and callback for a widget whose value is the state's field ``name``, or is passed to ``take``. ``key``:
        overrides the widget's key, by default :meth:`key`."""
        key_now = key or self.key
        drawn = key_now(name)

        def changed() -> None:
            self.touch()
            if drawn != key_now(name):
                return
            value = st.session_state[drawn]
            if take is None:
                self.update(**{name: value})
            else:
                take(value)

        return {"key": drawn, "on_change": changed}

    def open_file(self, text: str, own: Mapping[str, str] = NO_MODELS) -> None:
        """Loads the state from a saved file's text, or explains in one sentence why there is none. ``own``: models that
        no list has yet, as in :meth:`open`."""
        state, problems = self.kind.from_file(text, {**self.models, **own})
        if state is None:
            self.touch()
        else:
            self.set(state)
        self._visit.problems = problems

    def write_step(self) -> None:
        """Writes a widget's change to the URL, as a new entry in the browser history."""
        visit, parameters = self._visit, self.state.address()
        if visit.url is _Url.STEP:
            if st.query_params.to_dict() != parameters:
                st.query_params.from_dict(parameters)
                visit.completed = None
            visit.written, visit.url = parameters, _Url.WRITTEN

    def write_link(self) -> None:
        """Writes the state to the URL: a choice as a new entry (:meth:`write_step`); the URL that the visitor opened is
        completed without one."""
        self.write_step()
        visit, parameters, address = self._visit, self.state.address(), st.query_params.to_dict()
        drawn = visit.url in (_Url.COMPLETE, _Url.CHOSEN)  # chosen since open: by the page itself, not by a widget
        completing = drawn and address != parameters
        if completing:
            visit.completed = address
        complete(address, parameters if completing else None)
        visit.written = parameters
        if drawn:
            visit.url = _Url.WRITTEN
