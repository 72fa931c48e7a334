"""What the page Filter map shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from app.examples import MAP_EXAMPLES
from app.page_state.codec import Codec, one_of, parameter, whole_number
from app.page_state.texts import Model, Place, Texts, TextState
from app.pairs import LONGEST_TRAIL, SIDES, Pair, Version

MOST_TEXTS = 6
"""As many texts as keep their own labels apart on the map."""

VIEWS = {"whole": "the whole map", "near": "around the text looked into"}
"""What the figure shows, by its name in a link."""


_NO_TEXT = "The link looks into text “{}”, which is not there: the first is shown."
_NO_SIDE = f"The link looks into the side “{{}}”; it can ask for {' and '.join(SIDES)}."
_NO_FILTER = "The link asks for the filter “{}”, which is no number."
_NO_VIEW = f"The link asks to show “{{}}”; it can ask for {', '.join(VIEWS)}."
_OF_BOTH = ("model", "texts")


@dataclass(frozen=True)
class MapState(TextState):
    """All that decides what Filter map shows. ``layout`` is None for the map's first one; ``look`` and ``side`` name
    the text that is looked into; ``filter`` None stands for its strongest filter, one that a person selects stays with
    other texts. For a model of single texts the pair of all pages is the first text and the second one."""

    page = "filter map"
    follows = True
    model: str | None = parameter(None, Model(noun="model that makes filters"))
    texts: tuple[Pair, ...] = parameter(
        (Pair(),), Texts(examples=MAP_EXAMPLES, most=MOST_TEXTS, trail=LONGEST_TRAIL, across=False)
    )
    layout: str | None = parameter(None, Codec("layout"), belongs_to=("model",))
    look: int = parameter(0, Place("look", _NO_TEXT), belongs_to=("texts",))
    side: str = parameter("first", Codec("side", _NO_SIDE, one_of(SIDES)), belongs_to=_OF_BOTH)
    filter: int | None = parameter(None, Codec("filter", _NO_FILTER, whole_number()), belongs_to=_OF_BOTH)
    view: str = parameter("whole", Codec("view", _NO_VIEW, one_of(VIEWS)))

    def suited(self, models: Mapping[str, str]) -> Self:
        """The same; a pair that came with a link or a file is two texts to a model of single texts."""
        state = super().suited(models)
        first, *others = state.texts
        if not state._single(models) or not first.second or others:
            return state
        return replace(state, texts=(replace(first, second=""), Pair(first.second)))

    def with_model(self, model: str, models: Mapping[str, str]) -> Self:
        """The first two texts become a pair where the new model reads pairs, and a pair two texts where it does not."""
        other = self.anew(model=model)
        if self._single(models) == other._single(models):
            return other
        pair = self.give_pair(None, models)
        rest = self.texts[2:] if self._single(models) else self.texts[1:]
        return other.anew(texts=(*other._placed(pair, models), *rest)[:MOST_TEXTS])

    def give_pair(self, shared: Version | None, models: Mapping[str, str]) -> Version:
        """The first pair, or the first two single texts; a single text leaves the second of the shared pair."""
        first, *others = self.texts
        if not self._single(models):
            return first.now
        second = others[0].first if others else first.second
        return first.first, second or (shared[1] if shared else "")

    def take_pair(self, shared: Version, models: Mapping[str, str]) -> Self:
        """The same with another page's pair in the place of the first pair, or of the first two single texts."""
        if not self._single(models):
            return super().take_pair(shared, models)
        placed = self._placed(shared, models)
        if placed == tuple(Pair(text.first) for text in self.texts[: len(placed)]):
            return self
        return self.anew(texts=(*placed, *(self.texts[2:] if self.example is None else ())))

    def _placed(self, pair: Version, models: Mapping[str, str]) -> tuple[Pair, ...]:
        """The texts that stand for a pair."""
        if not self._single(models):
            return (Pair(*pair),)
        first, second = pair
        return (Pair(first), *([Pair(second)] if second.strip() else []))
