"""The pointing game: is the word that a way names the one that people changed?

An item is a pair of which a second one is known that differs in one word of one side and has another label. A way of
asking why points right when the changed word has the largest effect of all words of its side. Items count when the
model judges them right.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from core.checkpoint import Checkpoint
from core.data import Example
from core.effects.question import Question
from core.effects.words import TAKEN_AWAY, Sampling, places
from core.errors import RunError
from core.evaluation.intervals import bootstrap_mean, wilson
from core.evaluation.predict import predict
from core.models import build
from core.reading.tokens import tokenize

LONG = 3
"""Letters that a word must have more of to be named by the rule without a model."""
RULE, CHANCE = "rule", "chance"


@dataclass(frozen=True)
class Item:
    """A pair, its label, and the word that people changed."""

    id: str
    premise: str
    hypothesis: str
    label: str
    index: int
    """The changed word's place in the hypothesis, of an item of ``set`` "premise" in the premise."""
    set: str
    """Where it is from: "natural", "replaced" (made), or, in files that earlier versions wrote, "premise" (people
    changed the premise)."""
    kind: str = ""
    """Of a made pair, its kind."""

    @property
    def side(self) -> int:
        """0 where the changed word stands in the premise, 1 in the hypothesis."""
        return 0 if self.set == "premise" else 1


def natural_items(rows: Iterable[Example]) -> Iterator[Item]:
    """Pairs of one premise whose hypotheses have one length, differ in one token, and in label: each of both is an item
    ("natural"). A last full stop does not count as a token. An item stands once."""
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
                    yield Item(f"{row.id}-{index}", row.first, row.second, str(row.label), index, "natural")


def replaced_items(rows: Iterable[Example]) -> Iterator[Item]:
    """Made pairs whose hypothesis is the premise with one word replaced, with their kind, which their id names."""
    for row in rows:
        index = only_difference(_words(row.first), _words(row.second))
        if index is not None and row.label is not None:
            kind = row.id.rpartition("-")[0]
            yield Item(f"{row.id}-{index}", row.first, row.second, row.label, index, "replaced", kind)


def _words(text: str) -> list[str]:
    norms = [token.norm for token in tokenize(text)]
    return norms[:-1] if norms[-1:] == ["."] else norms


def only_difference(first: Sequence[str], second: Sequence[str]) -> int | None:
    """The one place where two lists of words of one length differ; None where it is not one."""
    places = [i for i, (one, other) in enumerate(zip(first, second, strict=False)) if one != other]
    return places[0] if len(first) == len(second) and len(places) == 1 else None


@dataclass
class PointingScore:
    """How often a way pointed right."""

    pointed: list[float] = field(default_factory=list)
    """One number an item, in their order: 1, 0, or of a tie the share of the changed word."""

    def to_dict(self) -> dict[str, object]:
        """Plain values, with a 95 % interval (Wilson 1927)."""
        right, items = sum(self.pointed), len(self.pointed)
        return {"right": right, "items": items, "share": right / items, "interval": wilson(right, items)}


@dataclass
class Game:
    """The game of one checkpoint over some items."""

    scores: dict[str, PointingScore]
    """By way, with the baselines."""
    without_rule: dict[str, PointingScore]
    """The same over the items where the rule is of no use: the other side lacks several such words, or none."""

    def beyond(self) -> dict[str, tuple[float, tuple[float, float]]]:
        """By way, how much more often taken away points right than it does on the same items, with a paired 95 %
        interval; of ways that answer for every item."""
        base = self.scores.get(TAKEN_AWAY, PointingScore()).pointed
        pairs = {way: score.pointed for way, score in self.scores.items() if len(score.pointed) == len(base)}
        more = {way: np.subtract(base, pointed) for way, pointed in pairs.items() if way != TAKEN_AWAY}
        return {way: (float(values.mean()), bootstrap_mean(values)) for way, values in more.items() if len(values)}

    def to_dict(self) -> dict[str, object]:
        """Plain values."""
        parts = {"ways": self.scores, "rule_of_no_use": self.without_rule}
        shares = {name: {way: score.to_dict() for way, score in scores.items()} for name, scores in parts.items()}
        beyond = {way: {"mean": mean, "interval": interval} for way, (mean, interval) in self.beyond().items()}
        return {**shares, "taken_away_beyond": beyond}


def judged_right(checkpoint: Checkpoint, items: Sequence[Item]) -> list[Item]:
    """The items whose label is the model's verdict and whose changed word it reads."""
    readings = [checkpoint.read(item.premise, item.hypothesis) for item in items]
    verdicts = predict(checkpoint, readings).argmax(1).tolist()
    return [
        item
        for item, reading, verdict in zip(items, readings, verdicts, strict=True)
        if checkpoint.labels[verdict] == item.label and item.index < len(reading.texts()[item.side].tokens)
    ]


def play(
    checkpoint: Checkpoint,
    items: Sequence[Item],
    ways: Sequence[str],
    sampling: Sampling | None = None,
    progress: Callable[[int], None] = lambda items: None,
) -> Game:
    """Play the game with these ways (methods of :func:`core.effects.question`, :data:`LEAST_ATTENDED` and
    :data:`MOST_ATTENDED`); ``progress`` is called with the items done. Ways that read attention are left out where no
    map has the side's words."""
    game = Game(defaultdict(PointingScore), defaultdict(PointingScore))
    for number, item in enumerate(items, 1):
        asked = Question(checkpoint, item.premise, item.hypothesis, sampling)
        named = rule(asked, item.side)
        scores = {RULE: _rule_points(named, asked, item), CHANCE: 1 / len(asked.sides[item.side].tokens)}
        values, _ = asked.word_values(ways, places(asked.sides, item.side))
        scores |= {way: pointed(numbers, item.index) for way, numbers in values.items()}
        for way, value in scores.items():
            game.scores[way].pointed.append(value)
            if len(named) != 1:
                game.without_rule[way].pointed.append(value)
        progress(number)
    return game


def untrained(checkpoint: Checkpoint, seed: int = 0) -> Checkpoint:
    """The same architecture and words with fresh weights: what a way shows of a model that learnt nothing. Raises
    RunError for an external model, of which nothing but its weights is known."""
    if "guest" in checkpoint.card:
        raise RunError(f"{checkpoint.name} cannot be reinitialised: leave --untrained out")
    torch.manual_seed(seed)
    model = build(checkpoint.card["architecture"], checkpoint.card["config"]).eval()
    return replace(checkpoint, name=f"{checkpoint.name}, untrained", model=model, state=())


def rule(asked: Question, side: int) -> list[int]:
    """The places of a side's words with letters, longer than :data:`LONG`, that the other side lacks: a rule that reads
    the texts and asks no model."""
    others = {norm for number, text in enumerate(asked.sides) if number != side for norm in text.norms}
    return [
        i
        for i, norm in enumerate(asked.sides[side].norms)
        if len(norm) > LONG and any(letter.isalpha() for letter in norm) and norm not in others
    ]


def _rule_points(named: Sequence[int], asked: Question, item: Item) -> float:
    """One of the named words at random; of none, any word."""
    pool = named or range(len(asked.sides[item.side].tokens))
    return (item.index in pool) / len(pool)


def pointed(values: Sequence[float], *right: int) -> float:
    """1 where one of the words at ``right`` has the largest value alone, their share among those that tie, else 0."""
    largest = max(values)
    return sum(values[index] == largest for index in right) / sum(value == largest for value in values)
