"""Families of short statements and scenes: absence, opposites, time and number; who did what to whom in every voice and
clause; colours, places and their owners; attempts that succeeded or failed.

SNLI's premises describe what a picture shows, and hardly ever what is absent. Users who try a model type negative
statements first. A family in statements.yaml or scenes.yaml lists the relations between sentences that describe one
scene: swapped roles contradict each other for one-sided actions (chase, arrest) and are neutral for mutual ones (see,
like); a clause under "if", "said that" or "perhaps" stays open, one under "because", "knew that" or "clearly" is true;
swapped colours or places contradict each other. Words are sampled for the placeholders in braces.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from core.files import read_yaml
from core.json_types import JsonObject
from core.linguistics.word_lists import WordLists, article, plural
from trainers.paper.make_pairs.verbs import TENSES, Verb, contracted, groups

FOLDER = Path(__file__).parent
EACH = 800
"""The default number of pairs per family, divided equally among its labels."""
PLURALS, NAMED, BEASTS, CONTRACTIONS, UNDOTTED = 0.25, 0.15, 0.4, 0.3, 0.1
"""Probabilities of plural people, names, and animals where possible; of "isn't"; of a missing full stop."""
ROLES = ("who", "whom", "third")
OPTIONAL = ("a up", "mutual", "one 3", "loose", "strict", "Before", "passing")
"""Placeholders that some samples leave empty."""
DIGITS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30", "fifty": "50",
}  # fmt: skip
Fillers = JsonObject
MadePair = tuple[str, str, str]
"""Label, premise, hypothesis."""
ENTRIES = {
    "place": ("places", ["place"]),
    "both ways": ("both ways", ["with"]),
    "alone": ("alone", ["being"]),
    "beside": ("beside", ["here", "there"]),
    "complementary": ("complementary", ["a", "b", "n"]),
    "gradable": ("gradable", ["a", "b", "more", "less", "n"]),
    "compared": ("compared", ["a", "b", "more", "less", "n"]),
    "taste": ("tastes", ["what"]),
    "habit": ("habits", ["does", "do", "what"]),
    "nearby": ("near", ["near"]),
    "room": ("emptied", ["place"]),
}
"""Samplers from one of the word lists: the list's name, and the names of an entry's parts. If a part is a list, one
element is sampled, and "other" is a different one."""


def different(count: int, draw: Callable[[], MadePair | None]) -> Iterator[MadePair]:
    """``count`` distinct pairs of different sentences, from at most three times as many attempts."""
    seen: set[tuple[str, str]] = set()
    for _ in range(3 * count):
        if len(seen) == count:
            return
        pair = draw()
        if pair is not None and pair[1] != pair[2] and pair[1:] not in seen:
            seen.add(pair[1:])
            yield pair


def finished(drawn: random.Random, label: str, *sides: str) -> MadePair:
    """A capitalised pair, sometimes with contracted negations or without full stops."""
    if drawn.random() < CONTRACTIONS:
        sides = tuple(map(contracted, sides))
    first, second = (side.rstrip(".") + ("" if drawn.random() < UNDOTTED else ".") for side in sides)
    return label, first[:1].upper() + first[1:], second[:1].upper() + second[1:]


class Families:
    """Samples pairs of short sentences. ``scenes`` are premises from SNLI."""

    def __init__(self, lists: WordLists, seed: int, scenes: list[str]) -> None:
        self.random = random.Random(seed)
        self.lists, self.scenes = lists, scenes
        statements, more, words = (
            read_yaml(FOLDER / f"{name}.yaml") for name in ("statements", "scenes", "scene_words")
        )
        self.families: JsonObject = statements["families"] | more["families"]
        self.data: JsonObject = statements | words
        self.data["compared"] = [row for row in self.data["gradable"] if row[2] and row[3]]
        above = {name: group["above"] for name, group in lists["count"].items() if group["above"]}
        self.things = [name for name in above if name not in ("room", "building")]
        self.countable = [name for name in self.things if not {"person", "piece of furniture"} & set(above[name])]
        self.names = [*lists["male names"], *lists["female names"]]

    def pairs(self, scale: float) -> Iterator[tuple[str, str, str, str]]:
        """(kind, label, premise, hypothesis), at most ``scale`` times the pairs of each family, without duplicates;
        some with contracted negations and some without full stops."""
        for name, family in self.families.items():
            labels = [label for label in ("entailment", "neutral", "contradiction") if family[label]]
            draw = functools.partial(self.drawn, family, itertools.cycle(labels))
            for pair in different(int(scale * family.get("pairs", EACH)), draw):
                yield family.get("kind", name), *pair

    def drawn(self, family: JsonObject, labels: Iterator[str]) -> MadePair | None:
        """A pair from a family with the next label; None if the sampled words do not fill its templates."""
        label = next(labels)
        first, second = (family["says"][form] for form in self.random.choice(family[label]).split(" > "))
        words = self.draw(family["draws"])
        if not self.possible((first, second), words):
            return None
        return finished(self.random, label, filled(first, words), filled(second, words))

    def possible(self, forms: tuple[str, str], words: Fillers) -> bool:
        """Whether the words fill the templates; "a boy did not chase a cook" is ambiguous, so it is excluded."""
        unclear = words.get("definite") == "no" and any("{N" in form for form in forms)
        return not unclear and all(
            key.removeprefix("a ") in words or f"{{{key}}}" not in " ".join(forms) for key in OPTIONAL
        )

    def draw(self, draws: list[str]) -> Fillers:
        """The words for a family's placeholders; each sampler sees the earlier ones."""
        words: Fillers = {"A": self.random.choice(("a", "the"))}
        for draw in draws:
            words |= self.entry(draw) if draw in ENTRIES else getattr(self, draw.replace(" ", "_"))(words)
        return words

    def entry(self, draw: str) -> Fillers:
        """The words of a list entry. In a pair of opposites, either may come first."""
        name, parts = ENTRIES[draw]
        entry = self.random.choice(self.data[name])
        words = dict(zip(parts, [entry] if isinstance(entry, str) else entry, strict=True))
        if draw in ("beside", "complementary", "gradable", "compared") and self.random.random() < 0.5:
            swaps = {"a": "b", "b": "a", "more": "less", "less": "more", "here": "there", "there": "here"}
            words = {swaps.get(part, part): word for part, word in words.items()}
        for part, choices in list(words.items()):
            if isinstance(choices, list):
                words[part], words["other"] = self.random.sample(choices, 2)
        return words

    def thing(self, words: Fillers, among: list[str] | None = None) -> Fillers:
        """x, y that exclude each other, and a hypernym of both if there is one."""
        group = self.random.choice(among or self.things)
        listed = self.lists.groups.get(group) or self.data[group]
        x, y = self.random.sample(listed, 2)
        while not self.lists.exclude(x, y):
            x, y = self.random.sample(listed, 2)
        above = ["vehicle"] if group == "driven" else self.lists.above[group]
        return {"x": x, "y": y} | ({"up": self.random.choice(above)} if above else {})

    def action(self, words: Fillers) -> Fillers:
        doing, among = self.random.choice(self.data["actions"])
        return self.thing(words, among) | {"doing": doing, "who": self.random.choice(self.data["who"])}

    def person(self, words: Fillers) -> Fillers:
        """A person as the subject: a pronoun, a name or a noun; with a verb and a quantity of things."""
        noun = f"{self.random.choice(('the', 'the', 'my'))} {self.random.choice(self.data['people'])}"
        they = self.random.choice(("he", "she", self.random.choice(self.names), noun, noun))
        return {"They": they, "got": self.random.choice(self.data["got"])}

    def worn(self, words: Fillers) -> Fillers:
        x, colour = self.random.choice(self.data["worn"]), self.random.choice(self.lists["colours"])
        return {"x": x, "who": self.random.choice(self.data["who"]), "colour x": f"{colour} {x}"}

    def amount(self, words: Fillers) -> Fillers:
        """m, n and p of a thing, each at least two more than the previous."""
        spelt = list(DIGITS)
        places = [
            at for at in itertools.combinations(range(len(spelt)), 3) if at[1] >= at[0] + 2 <= at[2] - at[1] + at[0]
        ]
        m, n, p = (spelt[i] for i in self.random.choice(places))
        return self.thing(words, self.countable) | {
            "m": m,
            "n": n,
            "p": p,
            "a": self.random.choice(self.data["predicates"]),
        }

    def scene(self, words: Fillers) -> Fillers:
        return {"scene": self.random.choice(self.scenes).rstrip(". ") + "."}

    def event(self, words: Fillers) -> Fillers:
        return {key: self.random.choice(self.data["events"][key]) for key in ("thing", "done", "when")}

    def dated(self, words: Fillers) -> Fillers:
        """A place or a time, and another one."""
        name, phrase = self.random.choice(self.data["phrases"])
        at, other = self.random.sample(self.lists[name], 2)
        return {"at": phrase.format(at), "else": phrase.format(other)}

    def people(self, words: Fillers, named: float = NAMED, many: float = PLURALS) -> Fillers:
        """Three people or animals, each singular or plural, and the tenses of their actions."""
        beasts = self.random.random() < BEASTS
        pool = self.data["animals"] if beasts and self.random.random() < 0.5 else self.data["people"]
        nouns = self.random.sample(pool, 3)
        if beasts:
            nouns[self.random.randrange(3)] = self.random.choice([x for x in self.data["people"] if x not in nouns])
            nouns[self.random.randrange(3)] = self.random.choice([x for x in self.data["animals"] if x not in nouns])
        names = self.random.sample(self.names, 3)
        determiner = self.random.choices(("the", "a", "my"), (14, 5, 1))[0]
        words = words | {
            "definite": "no" if determiner == "a" else "yes",
            "beasts": "yes" if set(nouns) & set(self.data["animals"]) else "no",
            "tense": words.get("tense") or self.random.choices(tuple(TENSES), (4, 3, 1, 1))[0],
        }
        words["aspect"] = words.get("aspect") or self.random.choice(TENSES[words["tense"]])
        for role, noun, name in zip(ROLES, nouns, names, strict=True):
            several = self.random.random() < many and bool(plural(noun))
            person = noun in self.data["people"]
            words |= {f"that {role}": "who" if person else "that", f"{role} many": "yes" if several else ""}
            words[f"somebody {role}"] = "somebody" if person else "an animal"
            first = self.random.choice(("some", "two")) if determiner == "a" else determiner
            one = article(noun) if determiner == "a" else determiner
            words[role] = f"{first} {plural(noun)}" if several else f"{one} {noun}"
            if person and self.random.random() < named:
                words[role], words[f"{role} many"] = name, ""
        was = ("was", "were") if words["tense"] == "past" else ("is", "are")
        return words | {
            "was it": was[0],
            "was": was[bool(words["who many"])],
            "was third": was[bool(words["third many"])],
        }

    def pair(self, words: Fillers) -> Fillers:
        """Two people or animals, each singular."""
        return self.people(words, many=0.0)

    def nouns(self, words: Fillers) -> Fillers:
        """Three people or animals without names."""
        return self.people(words, named=0.0)

    def told(self, words: Fillers) -> Fillers:
        """A verb of saying or supposing, in the past or present."""
        return {"tense": self.random.choice(("past", "past", "present"))}

    def verb(self, words: Fillers, row: list[Any], keys: tuple[str, ...], tense: str = "") -> Fillers:
        """A verb's verb groups for every subject, in the scene's aspect unless a tense is given: under ``keys`` the
        positive one, its negation and their passives."""
        many = {role: bool(words[f"{role} many"]) for role in ROLES} | {"they": True, "one": False}
        return {
            f"{key} {role}": group
            for role, several in many.items()
            for key, group in zip(
                keys, groups(Verb(*row[:3]), tense or words["aspect"], several).values(), strict=False
            )
        }

    def deeds(self, words: Fillers) -> Fillers:
        """Two actions."""
        fitting = [row for row in self.data["deeds"] if row[3] or words["beasts"] == "no"]
        first, second = self.random.sample(fitting, 2)
        return self.verb(words, first, ("V", "N", "P", "NP")) | self.verb(words, second, ("V2", "N2", "P2", "NP2"))

    def roles(self, words: Fillers) -> Fillers:
        """An ongoing action and its participle."""
        doing = self.random.choice(
            [*self.lists["roles"]] if words["beasts"] == "no" else self.lists["roles of animals"]
        )
        return {"doing": doing, "done": self.lists["roles"][doing]}

    def feelings(self, words: Fillers) -> Fillers:
        """A feeling; states are never progressive."""
        row = self.random.choice(self.data["feelings"])
        return self.verb(words, row, ("V", "N", "P", "NP"), TENSES[words["tense"]][0] if row[3] else "")

    def doings(self, words: Fillers) -> Fillers:
        return self.verb(words, self.random.choice(self.data["doings"]), ("I", "NI"))

    def where(self, words: Fillers) -> Fillers:
        """A place or, in the past, a time; frequency only for actions that are not in progress."""
        past = self.data["past"] * (words["tense"] == "past") + self.data["once"] * (words["aspect"] == "past")
        return {"where": self.random.choice(self.data["where"] + past)}

    def frames(self, words: Fillers) -> Fillers:
        """Conjunctions, adverbs, and verbs with "that" in the scene's tense: ongoing actions have no "before", and
        "only if" follows the main clause of a habit."""
        drawn: Fillers = {key: self.random.choice(choices) for key, choices in self.data["frames"].items()}
        drawn["then if"] = "only if" if words["aspect"] == "present" and self.random.random() < 0.2 else drawn["if"]
        simple = words["aspect"] == TENSES[words["tense"]][0]
        drawn |= {key.capitalize(): word for key, word in drawn.items()} | ({"Before": "Before"} if simple else {})
        for key in ("claimed", "knew"):
            past, base, rest = self.random.choice(self.data[key])
            be = ("is", "are") if words["tense"] == "present" else ("was", "were")
            for role in ROLES:
                many = bool(words[f"{role} many"])
                verb = be[many] if base == "be" else groups(Verb(past, base, past), words["tense"], many)["V"]
                drawn[f"{key} {role}"] = f"{verb} {rest}".strip()
        return drawn

    def tasks(self, words: Fillers) -> Fillers:
        did, do, things = self.random.choice(self.data["tasks"])
        what, other = self.random.sample(things, 2)
        drawn = {key: self.random.choice(self.data[key]) for key in ("managed", "failed", "planned", "not managed")}
        forgot, not_forgot = self.random.choice(self.data["forgotten"])
        return drawn | {"did": did, "do": do, "what": what, "other": other, "forgot": forgot, "not forgot": not_forgot}

    def owners(self, words: Fillers) -> Fillers:
        """Two things of a kind, plain and with mutually exclusive attributes: colours, or size, age and looks."""
        kind = self.random.choice(self.data["owners"])
        if self.random.random() < 0.6:
            garment = self.random.choice(kind.get("garments", [""]))
            colours = self.random.sample(kind.get("colours", self.lists["colours"]), 3)
            attributes = ["", *(f"in {article(x)} {x} {garment}" if garment else x for x in colours)]
        else:
            attributes = ["", *self.random.sample(self.random.choice(kind["looks"]), 2)]
        the, drawn = self.random.random() < 0.4, dict[str, str]()
        for key, noun in zip(("one", "two"), self.random.sample(kind["nouns"], 2), strict=True):
            for number, attribute in enumerate(attributes):
                phrase = f"{noun} {attribute}" if attribute.startswith("in ") else f"{attribute} {noun}".strip()
                name = f"{key} {number}" if number else key
                drawn |= {f"any {name}": f"{article(phrase)} {phrase}"}
                drawn[name] = f"the {phrase}" if the else drawn[f"any {name}"]
        way = "mutual" if self.random.random() < 0.6 else "linked"
        linked = self.random.choice(kind[way])
        return drawn | {"linked": linked, way: linked}

    def opposed(self, words: Fillers) -> Fillers:
        kind = self.random.choice(tuple(self.data["opposites"]))
        a, b = self.random.sample(self.random.choice(self.data["opposites"][kind]), 2)
        passing = {"passing": a} if a in self.data["passing"] else {}
        return {"a": a, "b": b, kind: b, "who": self.random.choice(self.data["people"])} | passing


def filled(form: str, words: Fillers) -> str:
    """A sentence with its placeholders filled: ``{a x}`` with its article, ``{A x}`` with the sampled one, ``{x s}`` in
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

    return re.sub(r"\{([^}]+)\}", put, form)
