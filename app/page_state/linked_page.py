"""A page's state in one browser session: taken from the address, changed by widgets, written back into the address.

The state is a plain value of ours, never a widget's. A browser answers a moment late: what it sends with the next
gesture may hold a value from before the page last changed that widget, and Streamlit would take it for a new choice.
So wherever the page itself changes what a widget shows, the widget gets a new key (:meth:`LinkedPage.key`), and a
callback tells the key that it was made for: a late one of an old key is not heard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import streamlit as st

State = TypeVar("State")
Reader = Callable[[Mapping[str, str]], tuple[State, list[str]]]


@dataclass
class _Kept(Generic[State]):
    state: State
    problems: list[str]
    written: dict[str, str] = field(default_factory=dict)
    generation: int = 0
    touched: bool = False


class LinkedPage(Generic[State]):
    """State of the page ``name``, a frozen dataclass. ``parameters``: the names it knows in an address."""

    def __init__(self, name: str, parameters: Sequence[str]) -> None:
        self.name, self.parameters = name, parameters

    def open(self, read: Reader[State]) -> State:
        """The state to show: the address's on the first visit and when a person goes back or edits it, else the old.

        A run that a widget caused never reads the address: it may be older than what was typed meanwhile.
        """
        address = st.query_params.to_dict()
        kept: _Kept[State] | None = st.session_state.get(self.name)
        if kept is None:
            kept = st.session_state[self.name] = _Kept(*read(address))
        elif not kept.touched and address != kept.written and any(name in address for name in self.parameters):
            kept.state, kept.problems = read(address)
            kept.generation += 1
        kept.touched = False
        return kept.state

    @property
    def _kept(self) -> _Kept[State]:
        kept: _Kept[State] = st.session_state[self.name]
        return kept

    @property
    def state(self) -> State:
        """The state as it is now."""
        return self._kept.state

    @property
    def problems(self) -> list[str]:
        """One sentence for each value of the address or file that could not be used."""
        return list(self._kept.problems)

    def key(self, widget: str) -> str:
        """The widget's key, another one whenever the page has changed what it shows."""
        return f"{self.name} {widget} {self._kept.generation}"

    def touch(self) -> None:
        """Note that a widget caused the coming run."""
        self._kept.touched, self._kept.problems = True, []

    def change(self, **values: Any) -> None:
        """A widget's new value, of a widget that shows it already."""
        self.touch()
        self._kept.state = replace(self.state, **values)  # type: ignore[type-var]

    def take(self, field: str, key: str) -> None:
        """Callback of the widget with this key, whose value is the state's ``field``."""
        if key == self.key(field):
            self.change(**{field: st.session_state[key]})

    def set(self, state: State | None, problems: Sequence[str] = ()) -> None:
        """A state that the widgets do not show yet (None: keep the present one and only tell the problems)."""
        self.touch()
        self._kept.problems = list(problems)
        if state is not None:
            self._kept.state = state
            self._kept.generation += 1

    def write_link(self, parameters: dict[str, str]) -> None:
        """Put these into the address."""
        if st.query_params.to_dict() != parameters:
            st.query_params.from_dict(parameters)
        self._kept.written = parameters
