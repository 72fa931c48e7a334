"""What the page Filter map shows, as URL query parameters or, when too long for a link, as a small file.

A text's parameters are ``first`` and, of a pair, ``second``, as on the other pages, so that each opens the pair of the
other's; further texts are ``first2``, ``second2`` and so on. Earlier versions of a text, which make its trail, are
``first.1`` (the oldest), ``first.2`` … What has no words is left out, but for ``first`` of the first and the last text:
so as many texts are opened as were shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.map_examples import LONGEST_TRAIL, MapText, Version, example_of, examples_of
from app.page_state.address import asked_model, read_file, short, short_enough, to_file

MOST_TEXTS = 6
"""As many texts as keep their own labels apart on the map."""

SIDES = ("first", "second")
VIEWS = {"whole": "the whole map", "near": "around the text looked into"}
"""What the figure shows, by its name in a link."""
PREFERRED_MODELS = ("topic-acnn", "as-adaqa", "sentiment-acnn", "para-adaqa", "as-adaqa-att")
"""The first that is there is shown when none is asked for; the list of models begins with them."""


@dataclass(frozen=True)
class MapPage:
    """All that decides what Filter map shows. ``model`` is None when no model that makes filters is there, ``layout``
    None for the map's first one; ``look`` and ``side`` name the text that is looked into, ``filter`` None stands for
    its strongest filter."""

    model: str | None
    texts: tuple[MapText, ...] = (MapText(),)
    layout: str | None = None
    look: int = 0
    side: str = "first"
    filter: int | None = None
    view: str = "whole"

    def to_parameters(self) -> dict[str, str]:
        """Query parameters; the texts of an example are named by its slug."""
        example = example_of(self.texts)
        return self._parameters({"example": example.slug} if example is not None else self._texts())

    def _texts(self) -> dict[str, str]:
        out = {}
        for place, text in enumerate(self.texts):
            at_the_edge = place in (0, len(self.texts) - 1)
            for age, version in enumerate(text.versions, start=1):
                now = age > len(text.earlier)
                for side, words in zip(SIDES, version, strict=True):
                    if words or (now and at_the_edge and side == "first"):
                        out[_name(side, place, None if now else age)] = words
        return out

    def _parameters(self, texts: Mapping[str, str]) -> dict[str, str]:
        out = ({} if self.model is None else {"model": self.model}) | dict(texts)
        if self.layout is not None:
            out["layout"] = self.layout
        if self.look:
            out["look"] = str(self.look + 1)
        if self.side != "first":
            out["side"] = self.side
        if self.filter is not None:
            out["filter"] = str(self.filter)
        if self.view != "whole":
            out["view"] = self.view
        return out

    def link_parameters(self) -> dict[str, str] | None:
        """:meth:`to_parameters`, without the trails where they are too long for a link, or None when it does not do."""
        bare = replace(self, texts=tuple(MapText(text.first, text.second) for text in self.texts))
        return short_enough(self.to_parameters()) or short_enough(bare.to_parameters())

    def to_file(self) -> str:
        """JSON text that :func:`from_file` opens again."""
        first = self.texts[0]
        return to_file("filter map", first.first, first.second, self._parameters(self._texts()))


def _name(side: str, place: int, age: int | None = None) -> str:
    return side + (str(place + 1) if place else "") + ("" if age is None else f".{age}")


PARAMETERS = (
    "model", "example", "layout", "look", "side", "filter", "view",
    *(_name(side, place, age) for side in SIDES for place in range(MOST_TEXTS)
      for age in (None, *range(1, LONGEST_TRAIL + 1))),
)  # fmt: skip
"""All names that an address of this page may hold."""


def default_model(models: Mapping[str, str]) -> str | None:
    """The model that is shown when none is asked for."""
    return next((name for name in (*PREFERRED_MODELS, *models) if name in models), None)


def default_texts(kind: str | None) -> tuple[MapText, ...]:
    """The first example of a kind of model."""
    return (MapText(),) if kind is None else examples_of(kind)[0].texts


def from_parameters(parameters: Mapping[str, str], kinds: Mapping[str, str]) -> tuple[MapPage, list[str]]:
    """State of a link and one sentence for each value that could not be used. Never raises. ``kinds``: the models, each
    with the kind of its examples."""
    problems: list[str] = []
    model = asked_model(parameters, list(kinds), default_model(kinds), problems, "model that makes filters")
    texts = _asked_texts(parameters, None if model is None else kinds[model], problems)
    page = MapPage(model, texts, parameters.get("layout") or None)
    number = r"\d{1,4}"
    if look := parameters.get("look"):
        if re.fullmatch(number, look, re.ASCII) and 0 < int(look) <= len(texts):
            page = replace(page, look=int(look) - 1)
        else:
            problems.append(f"The link looks into text “{short(look)}”, which is not there: the first is shown.")
    if side := parameters.get("side"):
        if side in SIDES:
            page = replace(page, side=side)
        else:
            problems.append(f"The link looks into the side “{short(side)}”; known are {' and '.join(SIDES)}.")
    if chosen := parameters.get("filter"):
        if re.fullmatch(number, chosen, re.ASCII):
            page = replace(page, filter=int(chosen))
        else:
            problems.append(f"The link asks for the filter “{short(chosen)}”, which is no number.")
    if view := parameters.get("view"):
        if view in VIEWS:
            page = replace(page, view=view)
        else:
            problems.append(f"The link asks to show “{short(view)}”; known are {', '.join(VIEWS)}.")
    return page, problems


def _asked_texts(parameters: Mapping[str, str], kind: str | None, problems: list[str]) -> tuple[MapText, ...]:
    asked = [_asked_text(parameters, place) for place in range(MOST_TEXTS)]
    while asked and asked[-1] is None:
        asked.pop()
    if asked:
        # An empty box between others has no name in the address, but it has its place.
        return tuple(text or MapText() for text in asked)
    slug = parameters.get("example")
    if slug is None:
        return default_texts(kind)
    found = next((example for example in examples_of(kind or "") if example.slug == slug), None)
    if found is None:
        problems.append(f"The link asks for the example “{short(slug)}”, which this model does not have: the first is "
                        "shown.")  # fmt: skip
    return default_texts(kind) if found is None else found.texts


def _asked_text(parameters: Mapping[str, str], place: int) -> MapText | None:
    """The text at this place, None where none of its versions is named. A text whose words were deleted has earlier
    versions alone: none of them is the present one."""
    versions: dict[int | None, Version] = {}
    for age in (*range(1, LONGEST_TRAIL + 1), None):
        first, second = (_name(side, place, age) for side in SIDES)
        if first in parameters or second in parameters:
            versions[age] = (parameters.get(first, ""), parameters.get(second, ""))
    if not versions:
        return None
    now = versions.pop(None, ("", ""))
    return MapText(*now, tuple(versions.values()))


def from_file(text: str, kinds: Mapping[str, str]) -> tuple[MapPage | None, list[str]]:
    """State of a saved file, or None and one sentence when it is not such a file."""
    parameters, problems = read_file("filter map", text)
    return (None, problems) if parameters is None else from_parameters(parameters, kinds)
