"""What Compare shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from app.examples import EXAMPLES
from app.page_state.codec import Address, Codec, one_of, parameter, short
from app.page_state.texts import Texts, TextState
from app.pairs import Pair

MOST = 4
"""Models side by side."""
WHAT: dict[str, str] = {"models": "Models on one pair", "versions": "One model on two versions of a pair"}
"""What may be compared, by its name in a link."""
ROWS = ("second", "first")
"""Whose words' attention is shown."""


@dataclass(frozen=True)
class Others(Codec):
    """The models beside the first, by their names with commas between them."""

    name: str = "with"
    text: Callable[[tuple[str, ...]], str] = ",".join

    def read(self, address: Address, default: tuple[str, ...]) -> tuple[str, ...]:
        names = list(dict.fromkeys(name for name in address.parameters.get(self.name, "").split(",") if name))
        known = [name for name in names if name in address.models and name != address.values["model"]]
        for name in names:
            if name not in address.models:
                address.problems.append(f"The link compares with “{short(name)}”, which is not here: it is left out.")
        if len(known) >= MOST:
            address.problems.append(f"The link names more than {MOST} models: the first {MOST} are shown.")
        return tuple(known[: MOST - 1]) or default


_NOT_COMPARED = f"The link asks to compare “{{}}”; it can ask for {' and '.join(WHAT)}: models are compared."
_NO_ROWS = "The link asks for the attention of the “{}” sentence; it can ask for first and second: the second is shown."


@dataclass(frozen=True)
class CompareState(TextState):
    """All that decides what Compare shows. ``texts``: the pair and, where versions of it are compared, the other one.
    ``others`` are the models beside ``model``; none for the page's own choice."""

    page = "compare"
    texts: tuple[Pair, ...] = parameter((Pair(),), Texts(examples=EXAMPLES, most=2))
    others: tuple[str, ...] = parameter((), Others())
    what: str = parameter("models", Codec("compare", _NOT_COMPARED, one_of(WHAT)))
    rows: str = parameter("second", Codec("rows", _NO_ROWS, one_of(ROWS)))

    @property
    def version(self) -> Pair:
        """The other version of the pair, until one is typed the pair itself."""
        return self.texts[1] if len(self.texts) > 1 else self.pair

    def suited(self, models: Mapping[str, str]) -> Self:
        """The same without models that are gone."""
        state, others = super().suited(models), tuple(name for name in self.others if name in models)
        return state if others == state.others else state.anew(others=others)
