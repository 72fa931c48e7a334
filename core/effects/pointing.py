"""The pointing game: does a method give the word that people changed the largest effect?

An item is a pair for which a second pair is known that differs in one word of one side and has another label. A method
points right if the changed word has the largest effect among all words of its side. Only items whose verdict is correct
count.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.checkpoint import Checkpoint
from core.data import Example
from core.effects.methods import MEASURED
from core.effects.methods.method import word_values
from core.effects.question import Question
from core.effects.words import TAKEN_AWAY, places
from core.evaluation.intervals import bootstrap_mean, wilson
from core.evaluation.predict import predict
from core.reading.tokens import tokenize

LONG = 3
"""The model-free rule names only words longer than this many letters."""
RULE, CHANCE = "rule", "chance"


@dataclass(frozen=True)
class Item:
    """A pair, its label, and the word that people changed."""

    id: str
    premise: str
    hypothesis: str
    label: str
    index: int
    """Position of the changed word in the hypothesis."""


def items_of(rows: Iterable[Example]) -> Iterator[Item]:
    """Pairs with the same premise whose hypotheses have equal length and differ in one token and in the label: both are
    items. A final full stop does not count as a token. Items are not repeated."""
    groups: dict[str, dict[str, Example]] = defaultdict(dict)
    for row in rows:
        if row.label is not None:
            groups[row.first.strip()].setdefault(row.second.strip(), row)
    seen = set()
    for group in groups.values():
        tokens = {text: _words(text) for text in group}
        for one, other in itertools.combinations(group, 2):
            index = only_difference(tokens[one], tokens[other])
            if index is None or group[one].label == group[other].label:
                continue
            for row in (group[one], group[other]):
                if (row.id, index) not in seen:
                    seen.add((row.id, index))
                    yield Item(f"{row.id}-{index}", row.first, row.second, str(row.label), index)


def _words(text: str) -> list[str]:
    norms = [token.norm for token in tokenize(text)]
    return norms[:-1] if norms[-1:] == ["."] else norms


def only_difference(first: Sequence[str], second: Sequence[str]) -> int | None:
    """The only position where two equally long lists of words differ; None if they differ elsewhere or nowhere."""
    places = [i for i, (one, other) in enumerate(zip(first, second, strict=False)) if one != other]
    return places[0] if len(first) == len(second) and len(places) == 1 else None


Points = Mapping[str, Sequence[float]]
"""By method, one number per item, in order: 1, 0, or the changed word's share of a tie."""


@dataclass
class Game:
    """The game of one checkpoint over some items."""

    scores: Points
    """Including the baselines."""
    without_rule: Points
    """The same for items that the rule cannot solve: the other side lacks several such words, or none."""

    def beyond(self) -> dict[str, tuple[float, tuple[float, float]]]:
        """By method, how much more often combined removal points right than that method on the same items, with a
        paired 95 % interval; only for methods that answer every item."""
        base = self.scores.get(TAKEN_AWAY, ())
        pairs = {
            method: points
            for method, points in self.scores.items()
            if len(points) == len(base) and method != TAKEN_AWAY
        }
        more = {method: np.subtract(base, points) for method, points in pairs.items()}
        return {
            method: (float(values.mean()), bootstrap_mean(values)) for method, values in more.items() if len(values)
        }

    def to_dict(self) -> dict[str, object]:
        """Plain values, shares with a 95 % interval (Wilson 1927)."""
        parts = {"ways": self.scores, "rule_of_no_use": self.without_rule}
        shares = {name: {method: _share(points) for method, points in of.items()} for name, of in parts.items()}
        beyond = {method: {"mean": mean, "interval": interval} for method, (mean, interval) in self.beyond().items()}
        return {**shares, "taken_away_beyond": beyond}


def _share(points: Sequence[float]) -> dict[str, object]:
    right, items = sum(points), len(points)
    return {"right": right, "items": items, "share": right / items, "interval": wilson(right, items)}


def judged_right(checkpoint: Checkpoint, items: Sequence[Item]) -> list[Item]:
    """The items whose label the model predicts and whose changed word it reads."""
    readings = [checkpoint.read(item.premise, item.hypothesis) for item in items]
    verdicts = predict(checkpoint, readings).argmax(1).tolist()
    return [
        item
        for item, reading, verdict in zip(items, readings, verdicts, strict=True)
        if checkpoint.labels[verdict] == item.label and item.index < len(reading.second.tokens)
    ]


def play(
    checkpoint: Checkpoint,
    items: Sequence[Item],
    methods: Iterable[str] = MEASURED,
    progress: Callable[[int], object] = lambda items: None,
) -> Game:
    """Plays the game with these methods; ``progress`` receives the number of items done. Methods that need attention
    are skipped if no map has the side's words."""
    every, without_rule = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for number, item in enumerate(items, 1):
        asked = Question(checkpoint, item.premise, item.hypothesis)
        named, words = rule(asked), len(asked.sides[1].tokens)
        pool = named or range(words)
        scores = {RULE: (item.index in pool) / len(pool), CHANCE: 1 / words}
        values, _ = word_values(asked, [MEASURED[method] for method in methods], places(asked.sides, 1))
        scores |= {method: pointed(numbers, item.index) for method, numbers in values.items()}
        for method, value in scores.items():
            every[method].append(value)
            if len(named) != 1:
                without_rule[method].append(value)
        progress(number)
    return Game(every, without_rule)


def rule(asked: Question) -> list[int]:
    """The positions of the hypothesis' words that are longer than :data:`LONG` letters and missing from the premise: a
    rule that reads the texts and needs no model. If it names several words, or none, it picks one at random."""
    first, second = asked.sides
    return [
        i
        for i, norm in enumerate(second.norms)
        if len(norm) > LONG and any(letter.isalpha() for letter in norm) and norm not in first.norms
    ]


def pointed(values: Sequence[float], *right: int) -> float:
    """1 if a single word at ``right`` has the largest value, its share of a tie otherwise, else 0."""
    largest = max(values)
    return sum(values[index] == largest for index in right) / sum(value == largest for value in values)
