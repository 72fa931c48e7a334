"""What a folder of app.panels declares: which records its panel draws, where on the page, and what it draws of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from core.evidence import Explanation, Sentence

Payload = dict[str, Any]


class Page(NamedTuple):
    """The page that shows more of these records: its file in app/views, and what a link to it says."""

    file: str
    title: str
    label: str


@dataclass(frozen=True)
class Panel:
    """``kinds``: of the records that it draws; the first is the folder's name and that of its script's
    ``PANELS.<kind>``. ``payloads(records, explanation, show)``: one JSON-like dict for each panel to draw; one with
    ``rows`` and ``columns`` says which roles stand along the edges, and its ``focus`` which row is selected at first.
    ``late(records)``: what a new selection adds without a new drawing."""

    kinds: tuple[str, ...]
    place: Literal["main", "beside", "below"] = "below"
    payloads: Callable[[Sequence[Any], Explanation, str], list[Payload]] = lambda records, explanation, show: []
    late: Callable[[Sequence[Any]], Payload] = lambda records: {}
    page: Page | None = None


def sentence(side: Sentence) -> Payload:
    """A side's words: text, a mark where the word table has no row for it, and where its lines begin."""
    return {
        "role": side.role,
        "tokens": [token.text for token in side.tokens],
        "unknown": [i for i, token in enumerate(side.tokens) if token.unknown],
        "truncated": side.truncated,
        "lines": list(side.line_starts),
    }
