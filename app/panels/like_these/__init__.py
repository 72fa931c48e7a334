"""Like these: the training rows that are nearest to the pair for the model's classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from app.page_state.codec import fits_a_link
from app.panels.panel import Panel, significant
from core.neighbours import Neighbours, TrainingNeighbour


@dataclass(frozen=True)
class LikeRow:
    """A training row. ``data``: the name of its set; ``link``: the page with that pair, empty where it is too long."""

    first: str
    second: str
    data: str
    cosine: float
    link: str


@dataclass(frozen=True)
class LikeClass:
    """The nearest rows of one class, as people read it."""

    name: str
    rows: tuple[LikeRow, ...]


@dataclass(frozen=True)
class LikeThese:
    """What the panel shows: of ``searched`` rows among ``of`` training rows."""

    classes: tuple[LikeClass, ...]
    searched: int
    of: int


def like_these(found: Neighbours, model: str, labels: Sequence[str], names: Sequence[str]) -> LikeThese:
    """What the panel shows of the nearest rows. ``names``: the ``labels`` as people read them; ``model``: the one that
    opens a row."""
    called = dict(zip(labels, names, strict=True))
    classes = tuple(
        LikeClass(called[label], tuple(_row(one, model) for one in rows)) for label, rows in found.by_label.items()
    )
    return LikeThese(classes, found.searched, found.of)


def _row(one: TrainingNeighbour, model: str) -> LikeRow:
    pair = {"model": model, "first": one.row.first, "second": one.row.second}
    link = f"?{urlencode(pair, errors='replace')}" if fits_a_link(pair) else ""
    (cosine,) = significant((one.cosine,), 4)
    return LikeRow(one.row.first, one.row.second, one.row.data, cosine, link)


PANEL = Panel(("like_these",), "below")
