"""The state of the page Filter map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from app.examples import MAP_EXAMPLES
from app.page_state.codec import one_of, parameter, whole_number
from app.page_state.texts import TextState
from app.pairs import LONGEST_TRAIL, SIDES, Pair, Version

MOST_TEXTS = 6
"""Maximum number of texts whose labels on the map stay legible."""

VIEWS = {"whole": "the whole map", "near": "around the inspected text"}
"""The figure's contents, by their names in a link."""

_OF_BOTH = ("model", "texts")


def _place(text: str) -> int | None:
    """The index of a text, counted from 1 in a link."""
    place = whole_number(1, MOST_TEXTS)(text)
    return None if place is None else place - 1


@dataclass(frozen=True)
class MapState(TextState):
    """Everything that determines what Filter map shows. ``layout`` is None for the map's first one; ``look`` and
    ``side`` identify the inspected text; ``filter`` is None for its strongest filter, while a chosen one is kept for
    other texts. For a model of single texts, the pair shared by all pages is the first and the second text."""

    page = "filter map"
    follows = True
    all_examples = MAP_EXAMPLES
    across = False
    most = MOST_TEXTS
    trail = LONGEST_TRAIL
    layout: str | None = parameter(None, belongs_to=("model",))
    look: int = parameter(0, _place, lambda place: str(place + 1), belongs_to=("texts",))
    side: str = parameter("first", one_of(SIDES), belongs_to=_OF_BOTH)
    filter: int | None = parameter(None, whole_number(), belongs_to=_OF_BOTH)
    view: str = parameter("whole", one_of(VIEWS))

    def suited(self, models: Mapping[str, str]) -> Self:
        """A model of single texts treats a pair from a link or a file as two texts."""
        state = super().suited(models)
        first, *others = state.texts
        if state._single(models) and first.second and not others:
            state = replace(state, texts=(replace(first, second=""), Pair(first.second)))
        return state if state.look < len(state.texts) else replace(state, look=0)

    def with_model(self, model: str, models: Mapping[str, str]) -> Self:
        """The first two texts become a pair if the new model reads pairs; otherwise a pair becomes two texts."""
        other = self.updated(model=model)
        if self._single(models) == other._single(models):
            return other
        pair = self.give_pair(None, models)
        rest = self.texts[2:] if self._single(models) else self.texts[1:]
        return other.updated(texts=(*other._placed(pair, models), *rest)[:MOST_TEXTS])

    def give_pair(self, shared: Version | None, models: Mapping[str, str]) -> Version:
        """The first pair, or the first two single texts; with only one text, the second of the shared pair is kept."""
        first, *others = self.texts
        if not self._single(models):
            return first.now
        second = others[0].first if others else first.second
        return first.first, second or (shared[1] if shared else "")

    def take_pair(self, shared: Version, models: Mapping[str, str]) -> Self:
        """A copy whose first pair, or first two single texts, are another page's pair."""
        if not self._single(models):
            return super().take_pair(shared, models)
        placed = self._placed(shared, models)
        if placed == tuple(Pair(text.first) for text in self.texts[: len(placed)]):
            return self
        return self.updated(texts=(*placed, *(self.texts[2:] if self.example is None else ())))

    def _placed(self, pair: Version, models: Mapping[str, str]) -> tuple[Pair, ...]:
        """The texts that represent a pair."""
        if not self._single(models):
            return (Pair(*pair),)
        first, second = pair
        return (Pair(first), *([Pair(second)] if second.strip() else []))
