"""The state of the lecturer's page of a room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from app.examples import EXAMPLES, suiting
from app.page_state.codec import PageState, one_of, parameter
from core.errors import UserError
from core.rooms.room import BREAK, GUESS, TEACH, code_in

KINDS = {GUESS: "Guess", BREAK: "Break it", TEACH: "Teach"}
"""The kinds of rounds, in the order in which a class plays them."""


def _code(text: str) -> str | None:
    try:
        return code_in(text)
    except UserError:
        return None


@dataclass(frozen=True)
class ClassroomState(PageState):
    """Everything that determines what the page shows. ``room``: its code, empty before one is opened; ``kind``: kind of
    the next round; ``model``, ``first`` and ``second``: the model and texts of the previous page, ``gold``: the label
    of its example. In projector mode it shows nothing that the lecturer has not let through."""

    page = "classroom"
    room: str = parameter("", _code)
    kind: str = parameter(GUESS, one_of(KINDS))
    model: str | None = parameter(None)
    first: str = parameter("")
    second: str = parameter("")
    gold: str = parameter("")

    def with_pair(self, models: Mapping[str, str]) -> Self:
        """A copy with the first example for its model, unless the previous page showed a pair."""
        examples = [] if self.first or self.second else suiting(models.get(self.model or ""), EXAMPLES)
        if not examples:
            return self
        first, second = examples[0].texts[0].now
        return self.updated(first=first, second=second, gold=examples[0].gold)

    def suited(self, models: Mapping[str, str]) -> Self:
        return self if self.model in models else replace(self, model=next(iter(models), None))
