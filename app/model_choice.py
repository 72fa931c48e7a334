"""Selects the models that a page offers, based on their cards."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

from app import own_models
from app.examples import kind_of
from core.card import Card as Card
from core.checkpoint import CheckpointError, available, read_card, records_of
from core.checkpoint.unlisted import base_of
from core.evidence import AttentionMap, Record
from core.external import card as guests
from core.external.folder import is_external as is_external_folder
from core.models import REGISTRY
from core.tasks import ENTAILMENT
from core.wording import told_apart

RECOMMENDED = 3
"""How many models of a task come first in its list."""
SECOND_OPINION = "guest-minilm"
"""The external model that Explore uses as a second opinion, and that Compare opens next to AttConv."""


class Listed(NamedTuple):
    """A model that a page offers. ``card``: None if it cannot be read; ``problem``: the reason."""

    folder: Path
    card: Card | None
    problem: str = ""


def offered(
    fits: Callable[[Card], bool],
    *,
    unreadable: bool = False,
    last: Callable[[Card, Path], bool] = lambda card, folder: False,
) -> dict[str, Listed]:
    """The models whose card ``fits``, by name in list order; the first is the page's default. Those for which ``last``
    holds come last; ``unreadable`` includes those whose card cannot be read, so that selecting one shows the problem.

    The order follows the cards' ``listed``, then the name: the :data:`RECOMMENDED` first models of a task come first,
    then the others by architecture; models for lessons come last. The visitor's own models follow the
    default."""
    places: dict[str, tuple[bool, float, str]] = {}
    own = own_models.known()
    models = {name: _listed(folder) for name, folder in {**available(), **own}.items()}
    for name, (folder, card, _) in models.items():
        if card is None:
            suits, place = unreadable, (True, inf, name)
        else:
            suits, place = fits(card), (last(card, folder) or for_lessons(card), card.get("listed", inf), name)
        if suits:
            places[name] = place
    ordered = sorted(places.keys() - own.keys(), key=places.__getitem__)
    last_ones = {name for name in places if places[name][0]}
    listed = {name: models[name] for name in _by_architecture(ordered, models, last_ones)}
    # After the page's default; the first of their task's others.
    first = dict(list(listed.items())[:1])
    return first | {name: models[name] for name in own if name in places} | listed


def _by_architecture(ordered: Sequence[str], models: Mapping[str, Listed], last: set[str]) -> list[str]:
    """Recommended models of each task first, then the others grouped by architecture, then the ``last`` ones; otherwise
    the order stays."""
    tasks, families = Counter[object](), dict[object, int]()

    def place(name: str) -> tuple[bool, int]:
        card = models[name].card
        if name in last or card is None:
            return True, 0
        tasks[card["task"]] += 1
        family = families.setdefault(card["architecture"], len(families) + 1)
        return False, 0 if tasks[card["task"]] <= RECOMMENDED else family

    places = {name: place(name) for name in ordered}
    return sorted(ordered, key=places.__getitem__)


def _listed(folder: Path) -> Listed:
    try:
        return Listed(folder, read_card(folder))
    except CheckpointError as error:
        return Listed(folder, None, str(error))


def for_lessons(card: Card) -> bool:
    """Whether the model was made for lessons, which show all its numbers: it is less accurate than others for its task,
    and comes last in lists."""
    return bool(card.get("for_lessons", False))


def reads_pairs(card: Card) -> bool:
    """Whether the model reads pairs, not single texts."""
    return bool(card["roles"]["second"])


def explains_texts(card: Card) -> bool:
    """Whether the model has records that explain a pair, or attention within one text. Unknown architectures count too:
    selecting one shows its error."""
    known = card["architecture"] in REGISTRY
    return shows(AttentionMap)(card) or (reads_pairs(card) and (not known or bool(records_of(card))))


def by_task(models: Mapping[str, Listed]) -> dict[str, list[str]]:
    """Names of the models by task, in the order of ``models``; those with an unreadable card come last in the first
    group, where selecting one shows the problem."""
    groups: dict[str, list[str]] = {}
    for name, model in models.items():
        if model.card is not None:
            groups.setdefault(str(model.card["task"]), []).append(name)
    unreadable = [name for name, model in models.items() if model.card is None]
    if unreadable:
        groups.setdefault(next(iter(groups), "unreadable"), []).extend(unreadable)
    return groups


def kinds(models: Mapping[str, Listed]) -> dict[str, str]:
    """The example kind for each model; entailment, the most common, if its card cannot be read."""
    return {name: ENTAILMENT if model.card is None else kind_of(model.card) for name, model in models.items()}


def titles(models: Mapping[str, Listed]) -> dict[str, str]:
    """Display names; a model with an unreadable card keeps its folder's name."""
    out = {name: name if model.card is None else _title(model.card) for name, model in models.items()}
    names = {name: name[name.find("~") + 1 :][:6] if base_of(name) else name for name in out}
    apart = told_apart({names[name]: title for name, title in out.items()})
    return {name: apart[names[name]] for name in out}


def _title(card: Card) -> str:
    return f"{card['title']} (small, for the lessons)" if for_lessons(card) else str(card["title"])


def second_opinion(name: str, card: Card, cards: Mapping[str, Card]) -> str | None:
    """The model for a second opinion on the pairs of this three-class model: the one named in PAIRLENS_SECOND ("off":
    none), else :data:`SECOND_OPINION`; None if it is not among the ``cards`` or is this model."""
    other = os.environ.get("PAIRLENS_SECOND") or SECOND_OPINION
    if len(card["labels"]) != 3 or other == name or other not in cards:
        return None
    theirs = cards[other]
    return other if theirs["task"] == card["task"] and {*theirs["labels"]} == {*card["labels"]} else None


def size_said(name: str) -> str:
    """The size of an external model before it is loaded: “ (1.4 GB)”; empty for one of ours."""
    folder = available().get(name)
    known = folder is not None and is_external_folder(folder)
    return f" ({megabytes(guests.size_of(folder))})" if folder is not None and known else ""


def megabytes(size: int) -> str:
    """Formats a size in bytes: 3.9 MB, 440 MB, 1.4 GB."""
    if size >= 999.5e6:
        return f"{size / 1e9:.1f} GB"
    return f"{size / 1e6:.{0 if size >= 9.95e6 else 1}f} MB"


def shows(record: type[Record]) -> Callable[[Card], bool]:
    """Whether a model's explanations include this record, for a page about it."""
    return lambda card: record in records_of(card)
