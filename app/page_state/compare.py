"""The state of the page Compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from app.examples import EXAMPLES
from app.page_state.codec import one_of, parameter
from app.page_state.texts import TextState
from app.pairs import Pair

MOST = 4
"""Maximum number of models side by side."""
WHAT: dict[str, str] = {"models": "Models on one pair", "versions": "One model on two versions of a pair"}
"""The comparisons, by their names in a link."""
ROWS = ("second", "first")
"""The sentence whose attention is shown."""


@dataclass(frozen=True)
class CompareState(TextState):
    """Everything that determines what Compare shows. ``texts``: the pair and, if two versions are compared, the other
    one. ``others``: the models compared with ``model``; empty for the page's own choice."""

    page = "compare"
    all_examples = EXAMPLES
    most = 2
    others: tuple[str, ...] = parameter((), lambda text: tuple(filter(None, text.split(","))), ",".join, name="with")
    what: str = parameter("models", one_of(WHAT), name="compare")
    rows: str = parameter("second", one_of(ROWS))

    @property
    def version(self) -> Pair:
        """The other version of the pair; until one is typed, the pair itself."""
        return self.texts[1] if len(self.texts) > 1 else self.pair

    def suited(self, models: Mapping[str, str]) -> Self:
        """At most four different, available models."""
        state = super().suited(models)
        others = [name for name in dict.fromkeys(state.others) if name in models and name != state.shown_model]
        return replace(state, others=tuple(others[: MOST - 1]))
