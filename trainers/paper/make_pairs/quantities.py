"""Quantity and direction: determiners over narrower and wider words, verbs that turn what follows round.

"Every child is running" says it of every girl, "some girls are running" of some children: whether a step to a narrower
or a wider word follows depends on the determiner and on the side (restrictor or scope; its direction stands in
quantities.yaml), and a step against the direction is open. Steps are made by a narrower noun, an adjective, a phrase, a
relative clause, "and" and "or".
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from core.linguistics.word_lists import WordLists, article, plural
from trainers.paper.make_pairs.verbs import contracted

LISTS = Path(__file__).with_name("quantities.yaml")
PAIRS = {"direction": 6500, "turned": 4000, "determiner": 3000, "opposed": 2500}
"""Pairs of each family; those of the last one are named with the determiners."""
ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
Step = tuple[str, str]
"""The narrower and the wider form."""
UNDOTTED = 0.2


class Quantities:
    """Draws pairs on quantity and direction."""

    def __init__(self, lists: WordLists, seed: int) -> None:
        self.random, self.lists = random.Random(seed), lists
        self.data = yaml.safe_load(LISTS.read_text(encoding="utf-8"))

    def pairs(self, scale: float) -> Iterator[tuple[str, str, str, str]]:
        """(kind, label, premise, hypothesis), none twice."""
        makers: dict[str, Callable[[], tuple[str, str, str]]] = {
            "direction": self.direction, "turned": self.turned, "determiner": self.determiner, "opposed": self.opposed,
        }  # fmt: skip
        for kind, number in PAIRS.items():
            seen: set[tuple[str, str]] = set()
            for _ in range(3 * int(scale * number)):
                if len(seen) == int(scale * number):
                    break
                label, *sides = makers[kind]()
                premise, hypothesis = map(self.finished, sides)
                if premise != hypothesis and (premise, hypothesis) not in seen:
                    seen.add((premise, hypothesis))
                    yield "determiner" if kind == "opposed" else kind, label, premise, hypothesis

    def finished(self, text: str) -> str:
        """With a capital, mostly a full stop, and by turns contracted."""
        text = contracted(text) if self.random.random() < 0.3 else text
        return f"{text[:1].upper()}{text[1:]}{'' if self.random.random() < UNDOTTED / 2 else '.'}"

    def scene(self) -> tuple[dict[str, Step], Step]:
        """A restrictor's step for either number, and a scope's step without its verb "be"."""
        people = self.random.random() < 0.75
        if people:
            narrow, wide = self.random.choice(self.data["animate"])
            adjective = self.random.choice(self.data["alive"])
            scope = tuple(self.random.choice(self.data["doing" if self.random.random() < 0.65 else "did"]))
        else:
            group = self.random.choice(("vehicle", "fruit", "vegetable", "instrument", "building", "insect"))
            narrow = self.random.choice(self.lists.groups[group])
            wide, adjective = self.lists.above[group][0], self.random.choice(self.data["alike"])
            scope = tuple(self.random.choice(self.data["being"]))
        draw = self.random.random()
        forms: dict[str, Step] = {}
        behind = self.random.choice(self.data["where" if people else "where things"])
        with_ = self.random.choice(self.data["with"])
        who = self.random.randrange(len(self.data["who"]))
        for number in ("singular", "plural"):
            low, high = (narrow, wide) if number == "singular" else (plural(narrow), plural(wide))
            if draw < 0.4:
                forms[number] = low, high
            elif draw < 0.6:
                forms[number] = f"{adjective} {low}", low
            elif draw < 0.75 or not people:
                forms[number] = f"{high} {behind}", high
            elif draw < 0.85:
                forms[number] = f"{low} {with_}", low
            else:
                forms[number] = f"{low} {self.data['who' if number == 'singular' else 'plural who'][who]}", low
        return forms, scope  # type: ignore[return-value]

    def said(self, determiner: str, number: str, restrictor: str, scope: str, negated: bool = False) -> str:
        """A sentence of a determiner; "be" before what is no past tense."""
        words = article(restrictor) if determiner == "a" else determiner
        first = scope.split(" ")[0]
        past = any(first == row[0].split(" ")[0] for row in self.data["did"])
        be = "" if past else ("is " if number == "singular" else "are ")
        return f"{words} {restrictor} {be}{'not ' if negated else ''}{scope}"

    def direction(self) -> tuple[str, str, str]:
        """One determiner, a step in its restrictor or its scope or both."""
        name, number, *directions = self.random.choice(self.data["determiners"])
        restrictors, scope = self.scene()
        steps = [i for i, direction in enumerate(directions) if direction != "no"]
        if len(steps) == 2 and self.random.random() < 0.85:
            steps = [self.random.choice(steps)]
        # Both sides of a step: (premise, hypothesis) of restrictor and scope, in the direction that follows.
        sides = [list(restrictors[number]), list(scope)]
        for i, direction in enumerate(directions):
            if direction == "down":
                sides[i].reverse()
            if i not in steps:
                sides[i] = [self.random.choice(sides[i])] * 2
        texts = [self.said(name, number, sides[0][at], sides[1][at]) for at in (0, 1)]
        if any(directions[i] == "none" for i in steps):
            self.random.shuffle(texts)
            return NEUTRAL, *texts  # type: ignore[return-value]
        if self.random.random() < 0.45:
            return NEUTRAL, texts[1], texts[0]
        return ENTAILMENT, texts[0], texts[1]

    def determiner(self) -> tuple[str, str, str]:
        """Two determiners of the same words."""
        label = self.random.choice((ENTAILMENT, NEUTRAL, CONTRADICTION))
        names = self.random.choice(self.data["exchanged"][label])
        restrictors, scope = self.scene()
        wide = self.random.randrange(2)
        restrictor = {number: step[self.random.randrange(1)] for number, step in restrictors.items()}
        texts = []
        for name in names:
            number = "singular" if name in SINGULAR or (name == "no" and "a" in names) else "plural"
            texts.append(self.said(name, number, restrictor[number], scope[wide]))
        return label, texts[0], texts[1]

    def opposed(self) -> tuple[str, str, str]:
        """Determiners that exclude each other, with a step: no children against two girls, every child against a girl
        that is not; narrower words against wider ones are open."""
        restrictors, scope = self.scene()
        first, first_number, second, second_number = self.random.choice(self.data["against"])
        every = self.random.random() < 0.35
        past = any(scope[0].split(" ")[0] == row[0].split(" ")[0] for row in self.data["did"])
        open_ = self.random.random() < 0.35
        low, high = (1, 0) if open_ else (0, 1)
        step = self.random.randrange(3)
        narrow, wide = (low if step != 1 else 0), (high if step != 1 else 0)
        inner, outer = (low if step != 0 else 0), (high if step != 0 else 0)
        if every and not past:
            name, number = self.random.choice((("every", "singular"), ("all", "plural"), ("all of the", "plural")))
            other, other_number = self.random.choice((("some", "plural"), ("one", "singular"), ("two", "plural")))
            # Every child is running in the park, and one girl is not running.
            texts = [
                self.said(name, number, restrictors[number][wide], scope[inner]),
                self.said(other, other_number, restrictors[other_number][narrow], scope[outer], negated=True),
            ]
        else:
            texts = [
                self.said(first, first_number, restrictors[first_number][wide], scope[outer]),
                self.said(second, second_number, restrictors[second_number][narrow], scope[inner]),
            ]
        if open_:
            return NEUTRAL, texts[0], texts[1]
        self.random.shuffle(texts)
        return CONTRADICTION, texts[0], texts[1]

    def turned(self) -> tuple[str, str, str]:
        """Verbs and clauses that keep or turn the direction of their object."""
        did, do, does, doing, objects = self.random.choice(self.data["turned"])
        steps: list[Step] = [tuple(step) for step in objects]
        narrow, wide = self.random.choice(steps)
        names = self.lists["male names"] + self.lists["female names"]
        noun = f"the {self.random.choice(self.random.choice(self.data['animate']))}"
        they = self.random.choice((self.random.choice(names), noun, noun, "he", "she"))
        words = {"did": did, "do": do, "does": does, "doing": doing, "They": they, "they": they}

        def form(context: str, thing: str) -> str:
            pattern: str = self.random.choice(self.data["contexts"][context])
            return pattern.format(**words, x=thing)

        def same(context: str) -> tuple[str, str]:
            pattern: str = self.random.choice(self.data["contexts"][context])
            return pattern.format(**words, x=narrow), pattern.format(**words, x=wide)

        draw = self.random.random()
        if draw < 0.2:
            low, high = same("up")
            return (ENTAILMENT, low, high) if draw < 0.1 else (NEUTRAL, high, low)
        if draw < 0.65:
            low, high = same("down")
            return (ENTAILMENT, high, low) if draw < 0.43 else (NEUTRAL, low, high)
        if draw < 0.9:
            sides = [form("did", narrow), form("did not", wide)]
            if self.random.random() < 0.3:
                sides[1] = form("did not", narrow)
            self.random.shuffle(sides)
            return CONTRADICTION, sides[0], sides[1]
        if draw < 0.95:
            return NEUTRAL, form("did not", narrow), form("did", wide)
        return NEUTRAL, form("neutral", narrow), form(self.random.choice(("did", "did not")), wide)


SINGULAR = {"every", "each", "not one", "a", "at least one", "not every"}
