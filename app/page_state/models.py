"""What the page Models shows."""

from __future__ import annotations

from dataclasses import dataclass

from app.page_state.codec import Address, Codec, PageState, parameter, short

COLUMNS = ("title", "task", "data", "score", "paper", "size", "time")
"""Columns of the table of all models, by their names in a link."""


@dataclass(frozen=True)
class OpenCard(Codec):
    """The model whose card is open; None for the table of all."""

    name: str = "model"

    def parse(self, text: str, address: Address) -> str | None:
        return text if text in address.models else None

    def sentence(self, text: str, address: Address) -> str:
        return f"The link asks for the card of “{short(text)}”, which is not here: all models are shown."


def _order(text: str) -> str | None:
    return text if text.removeprefix("-") in COLUMNS else None


_NO_ORDER = (
    f"The link asks to sort by “{{}}”; it can ask for {', '.join(COLUMNS)}, each with a - before it for descending."
)


@dataclass(frozen=True)
class ModelsState(PageState):
    """All that decides what Models shows. ``sort`` is a column, with a - before it for descending; None: by task."""

    page = "models"
    model: str | None = parameter(None, OpenCard())
    sort: str | None = parameter(None, Codec("sort", _NO_ORDER, _order))
