"""Families of short sentences with known relations: one word exchanged, dropped or negated; absence, opposites, time
and number; determiners over narrower and wider words; who did what to whom in every voice and clause; colours, places
and their owners; attempts that succeeded or failed.

SNLI's premises describe what a picture shows, and hardly ever what is absent. Users who try a model type negative
statements first. A family in statements.yaml or scenes.yaml lists the relations between sentences that describe one
scene: swapped roles contradict each other for one-sided actions (chase, arrest) and are neutral for mutual ones (see,
like); a clause under "if", "said that" or "perhaps" stays open, one under "because", "knew that" or "clearly" is true;
swapped colours or places contradict each other. Words are sampled for the placeholders in braces
(:mod:`trainers.paper.make_pairs.samplers`); they occur under every label, so that no hypothesis alone reveals its own.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from core.files import read_yaml
from core.json_types import JsonObject
from core.linguistics.word_lists import plural
from trainers.paper.make_pairs.samplers import DIGITS, Fillers, Samplers, with_article
from trainers.paper.make_pairs.verbs import contracted

FOLDER = Path(__file__).parent
EACH = 800
"""The default number of pairs per family, divided equally among its labels."""
CONTRACTIONS, UNDOTTED = 0.3, 0.1
"""Probabilities of "isn't" and of a missing full stop."""
LABELS = ("entailment", "neutral", "contradiction")
MadePair = tuple[str, str, str]
"""Label, premise, hypothesis."""


class Families:
    """Samples pairs of short sentences. ``scenes`` are premises from SNLI."""

    def __init__(self, seed: int, scenes: list[str]) -> None:
        self.random = random.Random(seed)
        names = ("statements", "scenes", "scene_words", "quantities", "exchanges")
        texts = [read_yaml(FOLDER / f"{name}.yaml") for name in names]
        self.families: JsonObject = texts[0]["families"] | texts[1]["families"]
        self.samplers = Samplers(self.random, texts[0] | texts[2] | texts[3] | texts[4], scenes)

    def pairs(self, scale: float) -> Iterator[tuple[str, str, str, str]]:
        """(kind, label, premise, hypothesis), at most ``scale`` times the pairs of each family, without duplicates;
        some with contracted negations and some without full stops."""
        for name, family in self.families.items():
            labels = [label for label in LABELS if family[label]]
            draw = functools.partial(self.drawn, family, itertools.cycle(labels))
            for pair in different(int(scale * family.get("pairs", EACH)), draw):
                yield family.get("kinds", {}).get(pair[0], name), *pair

    def drawn(self, family: JsonObject, labels: Iterator[str]) -> MadePair | None:
        """A pair from a family with the next label; None if the sampled words do not fill its templates, or make its
        sentences equal."""
        label = next(labels)
        forms = self.random.choice(family[label]).split(" > ")
        words = self.samplers.draw(family["draws"])
        templates = [family["says"][form] for form in forms]
        # "A boy did not chase a cook" is ambiguous.
        if words.get("definite") == "no" and any("{N" in template for template in templates):
            return None
        texts = [filled(template, words) for template in templates]
        if None in texts or (texts[0] == texts[1] and forms[0] != forms[1]):
            return None
        return finished(self.random, label, *map(str, texts))


def different(count: int, draw: Callable[[], MadePair | None]) -> Iterator[MadePair]:
    """``count`` distinct pairs, from at most three times as many attempts."""
    seen: set[tuple[str, str]] = set()
    for _ in range(3 * count):
        if len(seen) == count:
            return
        pair = draw()
        if pair is not None and pair[1:] not in seen:
            seen.add(pair[1:])
            yield pair


def finished(drawn: random.Random, label: str, *sides: str) -> MadePair:
    """A capitalised pair, sometimes with contracted negations or without full stops."""
    if drawn.random() < CONTRACTIONS:
        sides = tuple(map(contracted, sides))
    first, second = (side.rstrip(".") + ("" if drawn.random() < UNDOTTED else ".") for side in sides)
    return label, first[:1].upper() + first[1:], second[:1].upper() + second[1:]


def filled(form: str, words: Fillers) -> str | None:
    """A sentence with its placeholders filled: ``{a x}`` with its article, ``{A x}`` with the sampled one, ``{x s}`` in
    the plural, ``{#n}`` in digits; None if one of them has no word."""

    def put(match: re.Match[str]) -> str:
        key = match[1]
        if words.get(key) is not None:
            return str(words[key])
        if key.startswith("#"):
            return DIGITS[words[key[1:]]]
        if key.endswith(" s"):
            return plural(words[key[:-2]])
        lead, _, rest = key.partition(" ")
        return f"the {words[rest]}" if lead == "A" and words["A"] == "the" else with_article(words[rest])

    try:
        return re.sub(r"\{([^}]+)\}", put, form)
    except KeyError:
        return None
