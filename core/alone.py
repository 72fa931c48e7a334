"""The verdict on the judged text alone, by a model with the same classes that reads nothing else."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Mapping
from math import inf
from pathlib import Path

from core.card import Card
from core.checkpoint import CheckpointError, available, load_named, read_card
from core.evidence import Explanation
from core.explain import explain, kept
from core.models import REGISTRY
from core.reading.reader import PairError


def unread(card: Card) -> str:
    """The role of the text that the model ignores; empty if it reads all."""
    spec, roles = REGISTRY.get(card["architecture"]), card["roles"]
    if spec is None or not roles["second"] or 0 not in spec.model.reads(card["config"]).contexts:
        return ""
    return str(roles["first"] if roles["judged"] == roles["second"] else roles["second"])


def _readable_cards() -> Mapping[str, Card]:
    """The readable cards of all available models, without external ones, which read both texts of a pair."""
    found = []
    for name, folder in available().items():
        with contextlib.suppress(OSError):
            now = os.stat(folder / "card.json")  # noqa: PTH116
            found.append((name, folder, now.st_ino, now.st_size, now.st_ctime_ns))
    return _cards_in(tuple(found))


@functools.lru_cache(maxsize=4)
def _cards_in(folders: tuple[tuple[str, Path, int, int, int], ...]) -> Mapping[str, Card]:
    """Cached, because every reason for a verdict needs them."""
    cards = dict[str, Card]()
    for name, folder, *_ in folders:
        with contextlib.suppress(CheckpointError):
            cards[name] = read_card(folder)
    return cards


def judging_alone(card: Card, cards: Mapping[str, Card] | None = None) -> str | None:
    """The first model with the task, labels and texts of this ``card`` that reads only the judged text (or only one of
    the two if both are judged); None if there is none, and for such a model itself. ``cards``: of the models to choose
    from, by default all available ones."""
    if unread(card):
        return None
    roles = card["roles"], {**card["roles"], "judged": card["roles"]["second"]}
    found = dict[str, float]()
    for name, other in (_readable_cards() if cards is None else cards).items():
        same = all(other[key] == card[key] for key in ("task", "labels"))  # type: ignore[literal-required]
        if same and other["roles"] in roles and unread(other):
            found[name] = other.get("listed", inf)
    return min(found, key=lambda name: (found[name], name), default=None)


def explained_alone(card: Card, first: str, second: str, cards: Mapping[str, Card] | None = None) -> Explanation | None:
    """The prediction for a pair by the model from :func:`judging_alone`, without evidence, cached for all threads; None
    without such a model, and if it cannot read the pair. ``cards`` as in :func:`judging_alone`."""
    name = judging_alone(card, cards)
    if name is not None:
        with contextlib.suppress(CheckpointError, PairError):
            other, pair = load_named(name), (first, second)
            return kept(other, ("verdict alone", pair), lambda: explain(other, *pair, records=()))
    return None
