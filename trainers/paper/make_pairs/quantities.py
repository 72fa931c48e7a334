"""Quantifiers and monotonicity: determiners over narrower and wider words, and verbs that reverse entailment.

"Every child is running" entails it for every girl, "some girls are running" for some children: whether a narrower or a
wider word follows depends on the determiner and on the side (restrictor or scope; its direction is in quantities.yaml),
and a step against the direction is neutral. Steps use a narrower noun, an adjective, a phrase, "and" or "or".
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from core.files import read_yaml
from core.linguistics.word_lists import WordLists, article, plural
from trainers.paper.make_pairs.families import MadePair, different, finished
from trainers.paper.make_pairs.kinds import CONTRADICTION, ENTAILMENT, NEUTRAL

PAIRS = {"direction": 6500, "turned": 4000, "determiner": 5500}
"""Number of pairs of each kind."""

SINGULAR = {"every", "each", "not one", "a", "at least one", "not every"}
"""Singular determiners."""


class Scene(NamedTuple):
    """The narrower and wider forms of a restrictor, for either number, and of a scope without its "is", which is absent
    in the ``past``."""

    restrictors: dict[str, tuple[str, str]]
    scope: tuple[str, str]
    past: bool

    def said(self, determiner: str, number: str, restrictor: str, scope: str) -> str:
        """The sentence with these forms."""
        words = article(restrictor) if determiner == "a" else determiner
        be = [] if self.past else ["is" if number == "singular" else "are"]
        return " ".join([words, restrictor, *be, scope])


class Quantities:
    """Samples pairs on quantity and direction."""

    def __init__(self, lists: WordLists, seed: int) -> None:
        self.random, self.lists = random.Random(seed), lists
        self.data = read_yaml(Path(__file__).with_name("quantities.yaml"))

    def pairs(self, scale: float) -> Iterator[tuple[str, str, str, str]]:
        """(kind, label, premise, hypothesis), without duplicates."""
        for kind, number in PAIRS.items():
            draw = functools.partial(self.drawn, getattr(self, kind))
            for pair in different(int(scale * number), draw):
                yield kind, *pair

    def drawn(self, maker: Callable[[], MadePair]) -> MadePair:
        """A pair of a kind, in its written form."""
        return finished(self.random, *maker())

    def scene(self) -> Scene:
        """Subject and predicate, each in a narrower and a wider form."""
        people = self.random.random() < 0.75
        past = people and self.random.random() < 0.35
        if people:
            narrow, wide = self.random.choice(self.data["animate"])
            adjective = self.random.choice(self.data["alive"])
        else:
            group = self.random.choice(("vehicle", "fruit", "vegetable", "instrument", "building", "insect"))
            narrow, wide = self.random.choice(self.lists.groups[group]), self.lists.above[group][0]
            adjective = self.random.choice(self.data["alike"])
        behind = self.random.choice(self.data["where" if people else "where things"] + self.data["with"] * people)
        step = self.random.choice(("noun", "adjective", "where"))
        restrictors: dict[str, tuple[str, str]] = {}
        for number in ("singular", "plural"):
            low, high = (narrow, wide) if number == "singular" else (plural(narrow), plural(wide))
            steps = {"noun": (low, high), "adjective": (f"{adjective} {low}", low), "where": (f"{high} {behind}", high)}
            restrictors[number] = steps[step]
        narrower, wider = self.random.choice(self.data["did" if past else "doing" if people else "being"])
        return Scene(restrictors, (narrower, wider), past)

    def direction(self) -> MadePair:
        """One determiner, with a step in its restrictor, its scope or both."""
        name, number, *directions = self.random.choice(self.data["determiners"])
        scene = self.scene()
        steps = [i for i, direction in enumerate(directions) if direction != "no"]
        if len(steps) == 2 and self.random.random() < 0.85:
            steps = [self.random.choice(steps)]
        # Restrictor and scope, each in the premise and in the hypothesis.
        sides = [list(scene.restrictors[number]), list(scene.scope)]
        for i, direction in enumerate(directions):
            if direction == "down":
                sides[i].reverse()
            if i not in steps:
                sides[i] = [self.random.choice(sides[i])] * 2
        given, follows = (scene.said(name, number, sides[0][at], sides[1][at]) for at in (0, 1))
        if "none" in [directions[i] for i in steps]:
            return (NEUTRAL, given, follows) if self.random.random() < 0.5 else (NEUTRAL, follows, given)
        return (ENTAILMENT, given, follows) if self.random.random() < 0.55 else (NEUTRAL, follows, given)

    def determiner(self) -> MadePair:
        """Two determiners with the same words."""
        label = self.random.choice((ENTAILMENT, NEUTRAL, CONTRADICTION))
        names = self.random.choice(self.data["exchanged"][label])
        scene = self.scene()
        wide = self.random.randrange(2)
        texts = []
        for name in names:
            number = "singular" if name in SINGULAR or (name == "no" and "a" in names) else "plural"
            texts.append(scene.said(name, number, scene.restrictors[number][0], scene.scope[wide]))
        return label, texts[0], texts[1]

    def turned(self) -> MadePair:
        """Verbs and clauses that keep or reverse the direction of their object."""
        did, do, does, doing, objects = self.random.choice(self.data["turned"])
        narrow, wide = self.random.choice(objects)
        they = self.random.choice(
            (*self.random.sample(self.lists["male names"] + self.lists["female names"], 3), "he", "she")
        )
        words = {"did": did, "do": do, "does": does, "doing": doing, "They": they, "they": they}

        def said(context: str, *things: str) -> list[str]:
            """One context of a kind, applied to each of the things."""
            patterns = self.data["contexts"][context]
            pattern: str = self.random.choice([x for x in patterns if did != "saw" or "was seen" not in x])
            return [pattern.format(**words, x=thing) for thing in things]

        ways = {"up": 0.2, "down": 0.3, "not done": 0.15, "excluded": 0.25, "open": 0.1}
        way = self.random.choices(list(ways), list(ways.values()))[0]
        if way in ("up", "down"):
            given, follows = said(way, narrow, wide) if way == "up" else said(way, wide, narrow)
            return (ENTAILMENT, given, follows) if self.random.random() < 0.5 else (NEUTRAL, follows, given)
        if way == "not done":
            # Whoever refused to eat meat ate no chicken; whether they also refused chicken is open.
            if self.random.random() < 0.5:
                return ENTAILMENT, said(way, wide)[0], said("plain not", narrow)[0]
            return NEUTRAL, said(way, narrow)[0], said("plain not", wide)[0]
        if way == "excluded":
            sides = said("did", narrow) + said("did not", narrow if self.random.random() < 0.3 else wide)
            self.random.shuffle(sides)
            return CONTRADICTION, sides[0], sides[1]
        return NEUTRAL, said("open", narrow)[0], said(self.random.choice(("did", "did not")), wide)[0]
