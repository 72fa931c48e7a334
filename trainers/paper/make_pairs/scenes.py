"""Short scenes: who did what to whom, in every voice and clause; whose colour and place; what was managed or forgotten.

Labels of scenes.yaml, where both sentences speak of one scene: exchanged roles exclude each other for deeds (chase,
arrest) and are open for what the other may do too (see, like); what is said under "if", "unless", "said that" or
"perhaps" is open, under "because", "although", "knew that" or "clearly" it holds; colours and places that change owners
exclude each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from core.files import read_yaml
from core.json_types import JsonObject
from core.linguistics.word_lists import article, plural
from trainers.paper.make_pairs.statements import Statements, Words
from trainers.paper.make_pairs.verbs import TENSES, Verb, contracted, groups

SCENES, WORDS = (Path(__file__).with_name(name) for name in ("scenes.yaml", "scene_words.yaml"))
PLURALS, NAMED, BEASTS, CONTRACTIONS, UNDOTTED = 0.25, 0.15, 0.4, 0.3, 0.2
"""How often people are several, have names, and may be animals; "isn't" for "is not"; sentences without full stop."""
ROLES = ("who", "whom", "third")
OPTIONAL = ("mutual", "one 3", "loose", "strict", "Before", "passing", "is sole", "is not sole")
"""Words that not every draw has."""


class Scenes(Statements):
    """Draws pairs of short scenes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.data = read_yaml(SCENES) | read_yaml(WORDS)

    def pairs(self, scale: float) -> Iterator[tuple[str, str, str, str]]:
        """(kind, label, premise, hypothesis), some with contracted negations and some without full stops."""
        for kind, label, *sides in super().pairs(scale):
            if self.random.random() < CONTRACTIONS:
                sides = [contracted(side) for side in sides]
            if self.random.random() < UNDOTTED:
                dotted = self.random.choice(((False, False), (False, False), (True, False), (False, True)))
                sides = [side if dot else side.rstrip(".") for side, dot in zip(sides, dotted, strict=True)]
            yield kind, label, sides[0], sides[1]

    def possible(self, forms: tuple[str, str], words: Words) -> bool:
        """Whether the words fill the forms; "a boy did not chase a cook" may mean two things, so it is not made."""
        unclear = words.get("definite") == "no" and any("{N" in form for form in forms)
        return not unclear and all(key in words or f"{{{key}}}" not in " ".join(forms) for key in OPTIONAL)

    def draw(self, draws: list[str]) -> Words:
        """The words of a family's braces; each draw sees those before it."""
        words: Words = {"A": self.random.choice(("a", "the"))}
        for draw in draws:
            words |= getattr(self, draw)(words)
        return words

    def people(self, words: Words, named: bool = True) -> Words:
        """Three people or animals, each one or several, and the tenses of what they do."""
        beasts = self.random.random() < BEASTS
        pool = self.data["animals"] if beasts and self.random.random() < 0.5 else self.data["people"]
        nouns = self.random.sample(pool, 3)
        if beasts:
            nouns[self.random.randrange(3)] = self.random.choice(self.data["people"])
            nouns[self.random.randrange(3)] = self.random.choice([x for x in self.data["animals"] if x not in nouns])
        names = self.random.sample(self.lists["male names"] + self.lists["female names"], 3)
        determiner = self.random.choices(("the", "a", "my"), (14, 5, 1))[0]
        words = words | {
            "definite": "no" if determiner == "a" else "yes",
            "beasts": "yes" if set(nouns) & set(self.data["animals"]) else "no",
            "tense": words.get("tense") or self.random.choices(tuple(TENSES), (4, 3, 1, 1))[0],
        }
        words["aspect"] = words.get("aspect") or self.random.choice(TENSES[words["tense"]])
        for role, noun, name in zip(ROLES, nouns, names, strict=True):
            many = self.random.random() < PLURALS and bool(plural(noun))
            words[f"{role} many"] = "yes" if many else ""
            if many:
                words[role] = (
                    f"{self.random.choice(('some', 'two')) if determiner == 'a' else determiner} {plural(noun)}"
                )
            else:
                words[role] = f"{article(noun) if determiner == 'a' else determiner} {noun}"
            person = noun in self.data["people"]
            if named and self.random.random() < NAMED and person:
                words[role], words[f"{role} many"] = name, ""
            words[f"that {role}"] = "who" if person else "that"
            words[f"somebody {role}"] = "somebody" if person else "an animal"
        was = ("was", "were") if words["tense"] == "past" else ("is", "are")
        for role, key in (("who", "was"), ("third", "was third")):
            words[key] = was[bool(words[f"{role} many"])]
        return words | {"was it": was[0]}

    def told(self, words: Words) -> Words:
        """What somebody says or supposes, in the past or the present."""
        return {"tense": self.random.choice(("past", "past", "present"))}

    def narrated(self, words: Words) -> Words:
        return {"tense": "past", "aspect": "past"}

    def nouns(self, words: Words) -> Words:
        """Three people or animals without names."""
        return self.people(words, named=False)

    def distinct(self, words: Words) -> Words:
        """The same of whom none may be another, each known: only the cook, not only a cook or the woman."""
        drawn = self.nouns(words)
        while drawn["definite"] == "no" or any(drawn[role].endswith(tuple(self.kin)) for role in ROLES):
            drawn = self.nouns(words)
        return drawn

    @cached_property
    def kin(self) -> list[str]:
        """Who may be another of the people, in both numbers."""
        return [form for noun in self.data["kin"] for form in (f" {noun}", f" {plural(noun)}")]

    def agreeing(self, words: Words, verb: Verb, keys: tuple[str, ...], tense: str) -> Words:
        """The groups of a verb for every subject: under ``keys`` the positive one, its negation and their passives."""
        many = {role: bool(words[f"{role} many"]) for role in ROLES} | {"they": True, "one": False}
        return {
            f"{key} {role}": group
            for role, several in many.items()
            for key, group in zip(keys, groups(verb, tense, several).values(), strict=False)
        }

    def verb(self, words: Words, row: list[Any], keys: tuple[str, ...], states: bool = False) -> Words:
        """A verb of a list in the scene's tense and aspect; of a state never in the progressive."""
        tense = TENSES[words["tense"]][0] if states else words["aspect"]
        return self.agreeing(words, Verb(*row[:3]), keys, tense)

    def deeds(self, words: Words) -> Words:
        """Two deeds, the first as participle too."""
        fitting = [row for row in self.data["deeds"] if row[3] or words["beasts"] == "no"]
        first, second = self.random.sample(fitting, 2)
        verb = Verb(*first[:3])
        return (
            self.verb(words, first, ("V", "N", "P", "NP"))
            | self.verb(words, second, ("V2", "N2", "P2", "NP2"))
            | {"done": verb.participle, "doing": verb.progressive}
        )

    def feelings(self, words: Words) -> Words:
        row = self.random.choice(self.data["feelings"])
        return self.verb(words, row, ("V", "N", "P", "NP"), states=row[3])

    def giving(self, words: Words) -> Words:
        row = self.random.choice(self.data["giving"])
        return self.verb(words, row, ("V", "N", "P", "NP")) | {"to": row[3]}

    def handed(self, words: Words) -> Words:
        return self.thing(["held thing", "fruit", "food item", "toy or ball game thing", "instrument"])

    def doings(self, words: Words) -> Words:
        return self.verb(words, self.random.choice(self.data["doings"]), ("I", "NI"))

    def misread(self, words: Words) -> Words:
        aspect = {"aspect": self.random.choice(TENSES[words["tense"]])}
        return self.verb(words | aspect, self.random.choice(self.data["misread"]), ("M", "NM")) | {
            "thought": self.random.choice(("believed", "heard", "feared", "suspected")),
            "saw": self.random.choice(("knew", "noticed", "realized", "remembered", "saw that", "found out that")),
            "place": self.random.choice(self.data["rooms"]),
        }

    def nearby(self, words: Words) -> Words:
        return {"near": self.random.choice(self.data["near"])}

    def where(self, words: Words) -> Words:
        """A place or, in the past, a time; how often only of what is not in progress."""
        past = self.data["past"] * (words["tense"] == "past") + self.data["once"] * (words["aspect"] == "past")
        return {"where": self.random.choice(self.data["where"] + past)}

    def frames(self, words: Words) -> Words:
        """Conjunctions, adverbs, and verbs with "that" in the scene's tense: what is in progress has no "before", and
        "only if" stands behind the main clause of a habit."""
        drawn: Words = {key: self.random.choice(choices) for key, choices in self.data["frames"].items()}
        simple = words["aspect"] == TENSES[words["tense"]][0]
        habit = words["aspect"] == "present"
        if words["tense"] == "past" and drawn["if"] == "provided that":
            drawn["if"] = "if"
        drawn["then if"] = "only if" if habit and self.random.random() < 0.2 else drawn["if"]
        drawn |= {key.capitalize(): word for key, word in drawn.items()} | ({"Before": "Before"} if simple else {})
        for key in ("claimed", "knew"):
            past, base, rest = self.random.choice(self.data[key])
            for role in ROLES:
                many = bool(words[f"{role} many"])
                if base == "be":
                    verb = ("is", "are")[many] if words["tense"] == "present" else ("was", "were")[many]
                else:
                    verb = groups(Verb(past, base, past), words["tense"], many)["V"]
                drawn[f"{key} {role}"] = f"{verb} {rest}".strip()
        return drawn

    def subject(self, words: Words) -> Words:
        """Somebody who is the subject."""
        names = self.lists["male names"] + self.lists["female names"]
        who = self.random.choice(self.data["people"])
        noun = f"{self.random.choice(('the', 'the', 'my'))} {who}"
        return {"They": self.random.choice(("he", "she", self.random.choice(names), noun, noun))}

    def tasks(self, words: Words) -> Words:
        did, do, things = self.random.choice(self.data["tasks"])
        what, other = self.random.sample(things, 2)
        keys = ("managed", "failed", "planned", "not managed")
        drawn = {key: self.random.choice(self.data[key]) for key in keys}
        while drawn["managed"].startswith("was ") and drawn["failed"] in ("refused to", "declined to"):
            drawn["managed"] = self.random.choice(self.data["managed"])  # who refused may have been forced
        forgot, not_forgot = self.random.choice(self.data["forgotten"])
        return drawn | {"did": did, "do": do, "what": what, "other": other, "forgot": forgot, "not forgot": not_forgot}

    def attributes(self, kind: JsonObject) -> list[str]:
        """Three attributes that exclude each other, as they stand before or behind a noun."""
        draw = self.random.random()
        if draw < 0.45:
            colours = self.random.sample(kind.get("colours", self.lists["colours"]), 3)
            garment = self.random.choice(kind.get("garments", [""]))
            return [f"in {article(x)} {x} {garment}" for x in colours] if garment else colours
        if draw < 0.6:
            return [*self.random.sample(self.random.choice(self.data["sides"]), 2), ""]
        return [*self.random.sample(self.random.choice(kind["looks"]), 2), ""]

    def owners(self, words: Words) -> Words:
        """Two of a kind, plain and with each of the attributes."""
        kind = self.random.choice(self.data["owners"])
        one, two = self.random.sample(kind["nouns"], 2)
        attributes = self.attributes(kind)
        while attributes[0].startswith("in the "):  # nobody in the front is beside somebody in the back
            attributes = self.attributes(kind)
        the = self.random.random() < 0.4
        drawn: Words = {}
        for key, noun in (("one", one), ("two", two)):
            for number, attribute in enumerate(["", *attributes]):
                behind = attribute.startswith(("in ", "on ", "near ", "far "))
                noun_phrase = " ".join(filter(None, (noun, attribute) if behind else (attribute, noun)))
                determiner = "the" if the else article(noun_phrase)
                name = f"{key} {number}" if number else key
                drawn |= {name: f"{determiner} {noun_phrase}", f"any {name}": f"{article(noun_phrase)} {noun_phrase}"}
        if not attributes[2]:
            del drawn["one 3"]
        # What is on the left is not to be behind something, too.
        mutual = self.random.random() < 0.6 or attributes[0].startswith("on ")
        linked = self.random.choice(kind["mutual" if mutual else "linked"])
        return drawn | {"linked": linked} | ({"mutual": linked} if mutual else {})

    def owned(self, words: Words) -> Words:
        """Two of a kind, and what the one has or is and the other is not."""
        kind = self.random.choice(self.data["owners"])
        one, two = self.random.sample(kind["nouns"], 2)
        p, q, _ = self.attributes(kind)
        verb, negation = ("is", "is not")
        if p.startswith(("in a ", "in an ")):
            (verb, negation), p, q = ("is wearing", "is not wearing"), p[3:], q[3:]
        elif self.random.random() < 0.3 and "garments" in kind:
            thing = self.random.choice(("car", "bike", "hat", "umbrella", "dog", "bag", "cup", "boat", "coat"))
            verb, negation = "has", "does not have"
            p, q = (f"a {colour} {thing}" for colour in self.random.sample(self.lists["colours"], 2))
            p, q = (f"{article(x[2:])} {x[2:]}" for x in (p, q))
        short = negation.removesuffix(" wearing").removesuffix(" have")
        return {
            "one": f"the {one}",
            "two": f"the {two}",
            "p": p,
            "q": q,
            "is": verb,
            "is not": negation,
            "does not": short,
        } | ({"is sole": verb, "is not sole": negation} if verb != "has" else {})

    def room(self, words: Words) -> Words:
        return {"place": self.random.choice(self.data["emptied"])}

    def opposed(self, words: Words) -> Words:
        kind = self.random.choice(tuple(self.data["opposites"]))
        a, b = self.random.choice(self.data["opposites"][kind])
        if self.random.random() < 0.5:
            a, b = b, a
        passing = {"passing": a} if a in self.data["passing"] else {}
        return {"a": a, "b": b, kind: b, "who": self.random.choice(self.data["people"])} | passing
