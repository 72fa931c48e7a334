"""Computations of a session beside its page: the verdict does not wait for them, and a newer question ends them."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import streamlit as st

from core.effects.memory import Ended
from core.effects.words import Progress
from core.errors import UserError

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_SESSION = "effects at work"
_THREADS = ThreadPoolExecutor(max(2, os.cpu_count() or 1), "effects")


@dataclass
class Work(Generic[T]):
    """One computation. ``done`` and ``of``: how far it is; ``answer``: what it found, ``problem``: why it found
    nothing, in one sentence; ``stopped``: by the person, so that it does not begin again by itself."""

    make: Callable[[Progress], T]
    done: int = 0
    of: int = 0
    answer: T | None = None
    problem: str = ""
    stopped: bool = False
    _ended: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        self._future = _THREADS.submit(self._run)

    def _run(self) -> None:
        try:
            self._progress(0, 0)
            self.answer = self.make(self._progress)
        except Ended:
            self._ended = True
        except UserError as error:
            self.problem = _sentence(str(error))
        except (Exception, SystemExit) as error:
            # Or it would be raised in the page, whose spinner would never stop.
            _LOG.exception("A computation beside the page failed")
            self.problem = _sentence(f"this could not be computed ({type(error).__name__}): the server’s log says why")

    def _progress(self, done: int, of: int) -> None:
        if self._ended:
            raise Ended
        self.done, self.of = done, of

    @property
    def finished(self) -> bool:
        """Whether nothing more comes of it."""
        return self._future.done() or self._ended

    def wait(self, seconds: float) -> None:
        """Until it is finished, but no longer than this."""
        if not self._ended:
            wait([self._future], seconds)

    def end(self) -> None:
        """Nobody waits for it any more."""
        self._ended = True
        self._future.cancel()


def _sentence(said: str) -> str:
    """What is shown of an error, as plain text."""
    said = re.sub(r"`([^`]+)`", r"“\1”", said)
    return f"{said[:1].upper()}{said[1:].rstrip('.')}."


Key = tuple[str, *tuple[Hashable, ...]]
Asked = Mapping[Key, Callable[[Progress], T]]
"""Questions by their key, which begins with a name, each with what answers it."""


def begun(asked: Asked[T]) -> dict[Key, Work[T]]:
    """The works of this session, of which those that are not asked for any more end."""
    known: dict[Key, Work[T]] = st.session_state.setdefault(_SESSION, {})
    for key in [key for key in known if key not in asked]:
        known.pop(key).end()
    return known


def at_work(asked: Asked[T]) -> dict[Key, Work[T]]:
    """The same, and new ones begin."""
    known = begun(asked)
    for key, make in asked.items():
        if key not in known:
            known[key] = Work(make)
    return {key: known[key] for key in asked}


def stop(name: str | None = None) -> None:
    """End what this session computes, or what it computes by this name alone, until a person asks for it again."""
    known: dict[Key, Work[object]] = st.session_state.get(_SESSION, {})
    for key, work in known.items():
        if name in (None, key[0]) and not work.finished:
            work.stopped = True
            work.end()


def again() -> None:
    """Begin anew what was stopped."""
    known = st.session_state.get(_SESSION, {})
    for key in [key for key, work in known.items() if work.stopped]:
        known.pop(key)
