"""Short statements: what is and is not there, is so or the opposite, is done by one to another, and how many.

Premises of SNLI say what a picture shows, and hardly ever what it does not. People who try a model type such statements
first. Words are drawn for the sentences of a family of statements.yaml, which says what follows from what.
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
from core.linguistics.word_lists import WordLists, article, plural

FAMILIES = Path(__file__).with_name("statements.yaml")
EACH = 800
"""Pairs of a family that does not say how many, as many of each label as it can have."""
NAMES = 0.2
"""How often people have names."""
DIGITS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30", "fifty": "50",
}  # fmt: skip
Words = JsonObject
Pair = tuple[str, str, str]
"""Label, premise, hypothesis."""
COLUMNS = {
    "place": ("places", ["place"]),
    "one way": ("one way", ["did", "do", "done", "beasts"]),
    "both ways": ("both ways", ["with"]),
    "alone": ("alone", ["being"]),
}
"""What is drawn from one list of the file: its name, and what the words of an entry are called."""


def different(count: int, draw: Callable[[], Pair | None]) -> Iterator[Pair]:
    """So many pairs of unlike sentences, none twice, from at most three times as many draws; some give none."""
    seen: set[tuple[str, str]] = set()
    for _ in range(3 * count):
        if len(seen) == count:
            return
        pair = draw()
        if pair is not None and pair[1] != pair[2] and pair[1:] not in seen:
            seen.add(pair[1:])
            yield pair


class Statements:
    """Draws pairs of short statements. ``scenes`` are premises of SNLI."""

    def __init__(self, lists: WordLists, seed: int, scenes: list[str]) -> None:
        self.random = random.Random(seed)
        self.lists, self.scenes = lists, scenes
        self.data = read_yaml(FAMILIES)
        groups = {name: group["above"] for name, group in lists["count"].items() if group["above"]}
        self.things = [name for name in groups if name not in ("room", "building")]
        self.countable = [name for name in self.things if not {"person", "piece of furniture"} & set(groups[name])]

    def pairs(self, scale: float) -> Iterator[tuple[str, str, str, str]]:
        """(kind, label, premise, hypothesis), ``scale`` times the pairs of each family at most and none twice."""
        for name, family in self.data["families"].items():
            labels = [label for label in ("entailment", "neutral", "contradiction") if family[label]]
            draw = functools.partial(self.drawn, family, itertools.cycle(labels))
            for pair in different(int(scale * family.get("pairs", EACH)), draw):
                yield family.get("kind", name), *pair

    def drawn(self, family: JsonObject, labels: Iterator[str]) -> Pair | None:
        """A pair of a family with the next label; None where the words that are drawn do not fill its forms."""
        label = next(labels)
        words_of = self.random.choice(family[label]).split(" > ")
        words = self.draw(family["draws"])
        first, second = (family["says"][one] for one in words_of)
        return (label, filled(first, words), filled(second, words)) if self.possible((first, second), words) else None

    def possible(self, forms: tuple[str, str], words: Words) -> bool:
        """Whether the words fill the forms: not everything has a word above it."""
        return "up" in words or not any("{a up}" in form for form in forms)

    def draw(self, draws: list[str]) -> Words:
        """The words of a family's braces."""
        words: Words = {"A": self.random.choice(("a", "the"))}
        for draw in draws:
            if draw in ("gradable", "complementary"):
                words |= self.opposites(draw)
            else:
                words |= self.entry(draw) if draw in COLUMNS else getattr(self, draw.replace(" ", "_"))()
        if {"one way", "alone", "open way"} & set(draws) and "whom" in words:
            words |= self.beasts(words, draws)
        return words

    def thing(self, groups: list[str] | None = None) -> Words:
        """x, y that exclude each other, and a word above both if there is one."""
        group = self.random.choice(groups or self.things)
        listed = self.lists.groups.get(group) or self.data[group]
        x, y = self.random.sample(listed, 2)
        while not self.lists.exclude(x, y):
            x, y = self.random.sample(listed, 2)
        above = ["vehicle"] if group == "driven" else self.lists.above[group]
        return {"x": x, "y": y} | ({"up": self.random.choice(above)} if above else {})

    def entry(self, draw: str) -> Words:
        """The words of an entry of a list."""
        name, columns = COLUMNS[draw]
        entry = self.random.choice(self.data[name])
        return dict(zip(columns, [entry] if isinstance(entry, str) else entry, strict=True))

    def action(self) -> Words:
        doing, groups = self.random.choice(self.data["actions"])
        return self.thing(groups) | {"doing": doing, "who": self.random.choice(self.data["who"])}

    def opposites(self, name: str) -> Words:
        """Two adjectives in any order, and a noun that both are said of."""
        a, b, *_, nouns = self.random.choice(self.data[name])
        if self.random.random() < 0.5:
            a, b = b, a
        return {"a": a, "b": b, "n": self.random.choice(nouns)}

    def compared(self) -> Words:
        a, b, more, less, nouns = self.random.choice([row for row in self.data["gradable"] if row[2] and row[3]])
        if self.random.random() < 0.5:
            a, b, more, less = b, a, less, more
        n, m = self.random.sample(nouns, 2)
        return {"a": a, "more": more, "less": less, "n": n, "m": m}

    def person(self) -> Words:
        """Somebody who is the subject: a pronoun, a name or a noun; with what is done with things and how many."""
        names = self.lists["male names"] + self.lists["female names"]
        who = self.random.choice(self.data["who"])
        noun = f"{self.random.choice(('the', 'my', article(who)))} {who}"
        they = self.random.choice(("he", "she", self.random.choice(names), noun, noun))
        return {"They": they, "got": self.random.choice(self.data["got"])}

    def pair(self) -> Words:
        """Two people."""
        names = self.lists["male names"] + self.lists["female names"]
        if self.random.random() < NAMES:
            who, whom = self.random.sample(names, 2)
            return {"who": who, "whom": whom}
        who, whom = self.random.sample(self.data["who"], 2)
        return self.determined(who, whom)

    def determined(self, who: str, whom: str) -> Words:
        """Two nouns with the same article."""
        the = self.random.random() < 0.6
        return {
            key: f"the {noun}" if the else f"{article(noun)} {noun}" for key, noun in (("who", who), ("whom", whom))
        }

    def beasts(self, words: Words, draws: list[str]) -> Words:
        """Animals in place of people where both can do it, and sometimes a person and an animal."""
        if not words.get("beasts", True) or ("one way" not in draws and self.random.random() < 0.7):
            return {}
        if self.random.random() < 0.3:
            return self.determined(*self.random.sample(self.data["beasts"], 2))
        return {}

    def open_way(self) -> Words:
        does, does_not, both = self.random.choice(self.data["open way"])
        return {"does": does, "does not": does_not, "are do": both, "beasts": does.startswith("is ")}

    def beside(self) -> Words:
        here, there = self.random.sample(self.random.choice(self.data["beside"]), 2)
        return {"here": here, "there": there}

    def habit(self) -> Words:
        does, do, things = self.random.choice(self.data["habits"])
        what, other = self.random.sample(things, 2)
        return self.person() | {"does": does, "do": do, "what": what, "other": other}

    def taste(self) -> Words:
        what, other = self.random.sample(self.data["tastes"], 2)
        return self.person() | {"what": what, "other": other}

    def worn(self) -> Words:
        x, who = self.random.choice(self.data["worn"]), self.random.choice(self.data["who"])
        colour = self.random.choice(self.lists["colours"])
        return {"x": x, "who": who, "colour x": f"{colour} {x}"} | self.entry("alone")

    def amount(self) -> Words:
        """m, n and p of a thing, each at least two more than the one before."""
        spelt = list(DIGITS)
        at = sorted(self.random.sample(range(len(spelt)), 3))
        while at[1] < at[0] + 2 or at[2] < at[1] + 2:
            at = sorted(self.random.sample(range(len(spelt)), 3))
        m, n, p = (spelt[i] for i in at)
        return self.thing(self.countable) | {"m": m, "n": n, "p": p, "a": self.random.choice(self.data["predicates"])}

    def scene(self) -> Words:
        return {"scene": self.random.choice(self.scenes).rstrip(". ") + "."}

    def event(self) -> Words:
        data = self.data["events"]
        past = self.random.choice(data["past"])
        if self.random.random() < 0.6:
            when, was, was_not, never = data["was"], f"was {past}", f"was not {past}", f"was never {past}"
        else:
            when, was, was_not, never = data["will"], f"will be {past}", f"will not be {past}", f"will never be {past}"
        thing = self.random.choice(data["things"])
        return {"thing": thing, "was": was, "was not": was_not, "never": never, "when": self.random.choice(when)}


def filled(form: str, words: Words) -> str:
    """A sentence with the words in its braces: ``{a x}`` with its article, ``{A x}`` with the drawn one, ``{x s}`` in
    the plural, ``{#n}`` in digits."""

    def put(match: re.Match[str]) -> str:
        key = match[1]
        if key in words:
            return str(words[key])
        if key.startswith("#"):
            return DIGITS[words[key[1:]]]
        if key.endswith(" s"):
            return plural(words[key[:-2]])
        lead, _, rest = key.partition(" ")
        noun = words[rest]
        return f"the {noun}" if lead == "A" and words["A"] == "the" else f"{article(noun)} {noun}"

    text = re.sub(r"\{([^}]+)\}", put, form)
    return text[:1].upper() + text[1:]
