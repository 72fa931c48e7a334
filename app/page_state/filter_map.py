"""What the page Filter map shows."""

from __future__ import annotations

from dataclasses import dataclass

from app.examples import MAP_EXAMPLES
from app.page_state.codec import Codec, one_of, parameter, whole_number
from app.page_state.texts import Model, Place, Texts, TextState
from app.pairs import LONGEST_TRAIL, SIDES, Pair

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
    other texts."""

    page = "filter map"
    model: str | None = parameter(None, Model(noun="model that makes filters"))
    texts: tuple[Pair, ...] = parameter(
        (Pair(),), Texts(examples=MAP_EXAMPLES, most=MOST_TEXTS, trail=LONGEST_TRAIL, across=False)
    )
    layout: str | None = parameter(None, Codec("layout"), belongs_to=("model",))
    look: int = parameter(0, Place("look", _NO_TEXT), belongs_to=("texts",))
    side: str = parameter("first", Codec("side", _NO_SIDE, one_of(SIDES)), belongs_to=_OF_BOTH)
    filter: int | None = parameter(None, Codec("filter", _NO_FILTER, whole_number()), belongs_to=_OF_BOTH)
    view: str = parameter("whole", Codec("view", _NO_VIEW, one_of(VIEWS)))
