"""Figures of several models for a lesson, read from their cards, so that retraining a model updates them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from core.card import Card, CardByK
from core.checkpoint import available, read_card
from core.effects import METHODS
from core.evaluation.people_table import ALL, CHANCE, NEW
from core.lessons.lesson import LessonError, Values
from core.models.routes import WEIGHTS

Figure = Callable[[Card], float]
"""Reads a number from a card. Raises KeyError if the card lacks it."""


def figures(models: Sequence[str], figure: Figure) -> tuple[list[str], list[float]]:
    """The short names and figures of the installed ``models`` whose card has the figure."""
    folders, found = available(), {}
    for name in models:
        if name in folders:
            try:
                found[name.partition("-")[2]] = figure(read_card(folders[name]))
            except KeyError:
                continue
    return [*found], [*found.values()]


def dev(card: Card) -> float:
    """Accuracy on SNLI dev."""
    return float(card["results"]["SNLI dev"]["accuracy"])


def accuracies(models: Sequence[str]) -> tuple[list[str], Values]:
    """The short names of the installed ``models`` and their accuracy on SNLI dev, ``dev``: the first one's is
    ``dev_right`` of ``dev_pairs``."""
    names, shares = figures(models, dev)
    _, pairs = figures(models, lambda card: float(card["results"]["SNLI dev"]["items"] or 0))
    return names, {"dev": list(shares), "dev_right": shares[0] * pairs[0], "dev_pairs": pairs[0]}


def by_looking(card: Card) -> float:
    """The median share of the attention weights in the difference that an exchanged colour makes."""
    return float(card["routes"]["one_word"]["colour"]["routes"][WEIGHTS.name]["share"])


def alignment(data_set: str) -> Figure:
    """F1 of attention links against human alignments on this set."""
    return lambda card: float(card["alignment"]["results"][data_set]["f1"])


def people_words(card: Card, roles: Sequence[str]) -> tuple[list[str], Values]:
    """The names of the methods on the card, and how often the top-ranked word of each in each text is one that people
    use to explain the label, on the card's first set; the first method's in the last text is ``people_named`` of
    ``people_items``. Raises LessonError if the card has no such result."""
    stored = card.get("people")
    if not stored:
        raise LessonError(f"{card['name']} was not compared with people: name another checkpoint in the lesson")
    first = next(iter(stored.values()))
    sides = [first["sides"][role][ALL] for role in roles]
    methods = [method for method in (*METHODS, NEW, CHANCE) if all(method in side["at_1"] for side in sides)]
    people_y, people_x = ([side["at_1"][method]["mean"] for method in methods] for side in sides)
    items = float(sides[-1]["items"])
    named = items * people_x[0]
    values: Values = {"people_y": people_y, "people_x": people_x, "people_named": named, "people_items": items}
    return [method.replace("-", " ") for method in methods], values


BY_K = {"sick": ("te-phrases", "SICK trial"), "wikiqa": ("as-phrases", "WikiQA dev")}
"""Phrase models scored by k (`python -m trainers.paper by-k`), each on a set it was not trained on: names without their
pooling."""


def by_k() -> Values:
    """The scores by k for models trained with k-min and with k-max, each under its own pooling; for k-min models also
    under k-max. ``…_sum``: the sum of the items' scores at k = 1. Raises LessonError if a model has no such scores."""
    values: Values = {}
    for short, (model, data) in BY_K.items():
        least, most = (_scores(f"{model}-{pooling}", data) for pooling in ("kmin", "kmax"))
        values.update(
            {
                f"{short}_kmin": least["kmin"],
                f"{short}_kmax": most["kmax"],
                f"{short}_swapped": least["kmax"],
                f"{short}_items": float(least["items"]),
            }
        )
        for name in ("kmin", "kmax"):
            scores = cast(list[float], values[f"{short}_{name}"])
            values[f"{short}_{name}_best"] = scores.index(max(scores)) + 1.0
            values[f"{short}_{name}_sum"] = scores[0] * least["items"]
    return values


def _scores(name: str, data: str) -> CardByK:
    folder = available().get(name)
    scores = read_card(folder).get("by_k", {}).get(data) if folder else None
    if not scores:
        raise LessonError(
            f"{name} has no scores by k on {data}: run `python -m trainers.paper by-k {name} FILE --card '{data}'`"
        )
    return scores
