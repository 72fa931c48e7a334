"""Words for the placeholders of families: each sampler returns words by placeholder."""

from __future__ import annotations

import functools
import itertools
import random
from typing import Any

from core.json_types import JsonObject
from core.linguistics.word_lists import article, plural, word_groups
from trainers.paper.make_pairs.exchanges import Exchanges
from trainers.paper.make_pairs.verbs import TENSES, Verb, groups

PLURALS, NAMED, BEASTS = 0.25, 0.15, 0.4
"""Probabilities of plural people, names, and animals where possible."""
MOST_WORDS = 16
"""Number of words that a scene of the family ``elsewhere`` stays below."""
ROLES = ("who", "whom", "third")
DIGITS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30", "fifty": "50",
}  # fmt: skip
SINGULAR = {"every", "each", "not one", "a", "at least one", "not every"}
"""Singular determiners."""
Fillers = JsonObject
ENTRIES = {
    "place": ("places", ["place"]),
    "both ways": ("both ways", ["with"]),
    "alone": ("alone", ["being"]),
    "worn": ("worn", ["x"]),
    "coloured": ("coloured", ["doing", "x"]),
    "same": ("same", ["a", "b"]),
    "ways": ("ways", ["here", "there"]),
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
SWAPS = {"a": "b", "b": "a", "more": "less", "less": "more", "here": "there", "there": "here"}


@functools.cache
def uncounted() -> frozenset[str]:
    """Words without "a": mass and plural nouns, unless a count noun has the same form."""
    lists = word_groups()
    counted = {word for group in lists["count"].values() for word in group["words"]}
    others = (group for kind in ("plural", "mass") for group in lists[kind].values())
    return frozenset(word for group in others for word in (*group["words"], *group["above"])) - counted


def with_article(noun: str) -> str:
    """A noun with "a" or "an" if it takes one."""
    return noun if noun in uncounted() else f"{article(noun)} {noun}"


class Samplers:
    """Samplers over the words in ``data`` and word_lists.yaml. ``scenes`` are premises from SNLI."""

    def __init__(self, chance: random.Random, data: JsonObject, scenes: list[str]) -> None:
        self.random, self.data = chance, data
        self.scenes = [text for text in scenes if len(text.split()) < MOST_WORDS]
        self.lists = lists = word_groups()
        data["compared"] = [row for row in data["gradable"] if row[2] and row[3]]
        kinds = (lists[kind] for kind in ("count", "plural", "mass"))
        self.groups = {name: group for kind in kinds for name, group in kind.items()} | {"driven": data["driven"]}
        above = {name: group["above"] for name, group in lists["count"].items() if group["above"]}
        self.things = [name for name in above if name not in ("room", "building")]
        self.countable = [name for name in self.things if not {"person", "piece of furniture"} & {*above[name]}]
        self.names = [*lists["male names"], *lists["female names"]]
        self.overlapping = {frozenset(pair) for key in ("synonyms", "overlapping") for pair in lists[key]}
        self.exchanges = Exchanges(chance, data, lists, scenes, self.overlapping)

    def draw(self, draws: list[str]) -> Fillers:
        """The words for a family's placeholders; each sampler sees the earlier ones."""
        words: Fillers = {"A": self.random.choice(("a", "the"))}
        for draw in draws:
            words |= self.entry(draw) if draw in ENTRIES else getattr(self, draw.replace(" ", "_"))(words)
        return words

    def entry(self, draw: str) -> Fillers:
        """The words of a list entry. In a pair of opposites or synonyms, either may come first."""
        name, parts = ENTRIES[draw]
        entry = self.random.choice(self.data[name])
        words = dict(zip(parts, [entry] if isinstance(entry, str) else entry, strict=True))
        if parts[0] in SWAPS and self.random.random() < 0.5:
            words = {SWAPS.get(part, part): word for part, word in words.items()}
        for part, choices in list(words.items()):
            if isinstance(choices, list):
                words[part], words["other"] = self.random.sample(choices, 2)
        return words

    def thing(self, words: Fillers, among: list[str] | None = None) -> Fillers:
        """x, y that exclude each other, and a hypernym of both if there is one."""
        group = self.groups[self.random.choice(among or self.things)]
        x, y = self.random.sample(group["words"], 2)
        while frozenset((x, y)) in self.overlapping:
            x, y = self.random.sample(group["words"], 2)
        return {"x": x, "y": y} | ({"up": self.random.choice(group["above"])} if group["above"] else {})

    def action(self, words: Fillers) -> Fillers:
        doing, among = self.random.choice(self.data["actions"])
        return self.thing(words, among) | {"doing": doing, "who": self.random.choice(self.data["who"])}

    def described(self, words: Fillers) -> Fillers:
        """Somebody with either of two looks that exclude each other."""
        kind = self.random.choice([kind for kind in self.data["owners"] if "garments" in kind])
        who, looks = self.random.choice(kind["nouns"]), self.random.sample(self.random.choice(kind["looks"]), 2)
        return {"who": who, "seen who": f"{looks[0]} {who}", "unlike who": f"{looks[1]} {who}"}

    def colours(self, words: Fillers) -> Fillers:
        return dict(zip(("colour", "other colour"), self.random.sample(self.lists["colours"], 2), strict=True))

    def person(self, words: Fillers) -> Fillers:
        """A person as the subject: a pronoun, a name or a noun; with a verb and a quantity of things."""
        noun = f"{self.random.choice(('the', 'the', 'my'))} {self.random.choice(self.data['people'])}"
        they = self.random.choice(("he", "she", self.random.choice(self.names), noun, noun))
        return {"They": they, "got": self.random.choice(self.data["got"])}

    def amount(self, words: Fillers) -> Fillers:
        """m, n and p of a thing, each at least two more than the previous."""
        spelt = list(DIGITS)
        places = [
            at for at in itertools.combinations(range(len(spelt)), 3) if at[1] >= at[0] + 2 <= at[2] - at[1] + at[0]
        ]
        m, n, p = (spelt[i] for i in self.random.choice(places))
        drawn = {"m": m, "n": n, "p": p, "a": self.random.choice(self.data["predicates"])}
        return self.thing(words, self.countable) | drawn

    def scene(self, words: Fillers) -> Fillers:
        return {"scene": self.random.choice(self.scenes).rstrip(". ") + "."}

    def framed(self, words: Fillers) -> Fillers:
        return self.exchanges.framed()

    def replaced(self, words: Fillers) -> Fillers:
        return self.exchanges.replaced()

    def turned_round(self, words: Fillers) -> Fillers:
        return self.exchanges.turned_round()

    def alike_words(self, words: Fillers) -> Fillers:
        return self.exchanges.alike_words()

    def event(self, words: Fillers) -> Fillers:
        return {key: self.random.choice(choices) for key, choices in self.data["events"].items()}

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

    def past(self, words: Fillers) -> Fillers:
        """The simple past, for the scene that follows."""
        return {"tense": "past", "aspect": "past"}

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
        both = self.verb(words, first, ("V", "N", "P", "NP")) | self.verb(words, second, ("V2", "N2", "P2", "NP2"))
        return both | {"done": first[2]}

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

    def doing_twice(self, words: Fillers) -> Fillers:
        first, second = self.random.sample(self.data["doings"], 2)
        return self.verb(words, first, ("I", "NI")) | self.verb(words, second, ("J", "NJ"))

    def gift(self, words: Fillers) -> Fillers:
        """Verbs of giving and getting, and two things."""
        gift, other = self.random.sample(self.data["gift"], 2)
        return dict(zip(("gave", "given", "got"), self.random.choice(self.data["gifts"]), strict=True)) | {
            "gift": gift,
            "other": other,
        }

    def misread(self, words: Fillers) -> Fillers:
        """A verb whose object may be a noun or a clause, and a conjunction."""
        past, base = self.random.choice(self.data["heard"])
        when = self.random.choice(self.data["when"])
        return self.verb(words, [past, base, past], ("heard",)) | {"When": when.capitalize()}

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
        drawn = {
            key: self.random.choice(self.data[key]) for key in ("managed", "failed", "planned", "not managed", "tried")
        }
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

    def quantified(self, words: Fillers) -> Fillers:
        """A subject and a predicate, each in a narrower and a wider form: ``restrictors`` by number and ``scope``,
        without its "is", which is absent in the ``past``."""
        people = self.random.random() < 0.75
        past = people and self.random.random() < 0.35
        if people:
            narrow, wide = self.random.choice(self.data["animate"])
        else:
            group = self.groups[self.random.choice(self.data["inanimate"])]
            narrow, wide = self.random.choice(group["words"]), group["above"][0]
        adjective = self.random.choice(self.data["alive" if people else "alike"])
        behind = self.random.choice(self.data["behind people" if people else "behind things"])
        step = self.random.choice(("noun", "adjective", "behind"))
        restrictors = {}
        for number, low, high in (("singular", narrow, wide), ("plural", plural(narrow), plural(wide))):
            steps = {
                "noun": (low, high),
                "adjective": (f"{adjective} {low}", low),
                "behind": (f"{high} {behind}", high),
            }
            restrictors[number] = steps[step]
        scope = self.random.choice(self.data["did" if past else "doing" if people else "being"])
        return {"restrictors": restrictors, "scope": scope, "past": past}

    def direction(self, words: Fillers) -> Fillers:
        """One determiner, with a step in its restrictor, its scope or both: a sentence ``given`` and what follows from
        it, if the determiner has a direction; and ``from`` a sentence ``to`` one that it leaves open."""
        name, number, *directions = self.random.choice(self.data["determiners"])
        steps = [i for i, direction in enumerate(directions) if direction != "no"]
        if len(steps) == 2 and self.random.random() < 0.85:
            steps = [self.random.choice(steps)]
        # Restrictor and scope, each in the premise and in the hypothesis.
        sides = [list(words["restrictors"][number]), list(words["scope"])]
        for i, direction in enumerate(directions):
            if direction == "down":
                sides[i].reverse()
            if i not in steps:
                sides[i] = [self.random.choice(sides[i])] * 2
        texts = [said(name, number, restrictor, scope, words) for restrictor, scope in zip(*sides, strict=True)]
        if "none" in [directions[i] for i in steps]:
            return dict(zip(("from", "to"), self.random.sample(texts, 2), strict=True))
        return {"given": texts[0], "follows": texts[1], "from": texts[1], "to": texts[0]}

    def determiner(self, words: Fillers) -> Fillers:
        """Two determiners with the same words, for each relation between them."""
        scope, drawn = self.random.choice(words["scope"]), dict[str, str]()
        for label, choices in self.data["exchanged"].items():
            names = self.random.choice(choices)
            for place, name in zip(("first", "second"), names, strict=True):
                number = "singular" if name in SINGULAR or (name == "no" and "a" in names) else "plural"
                drawn[f"{label} {place}"] = said(name, number, words["restrictors"][number][0], scope, words)
        return drawn

    def turned(self, words: Fillers) -> Fillers:
        """A narrower and a wider object in contexts that keep or reverse their direction."""
        did, do, does, doing, objects = self.random.choice(self.data["turned"])
        they = self.random.choice((*self.random.sample(self.names, 3), "he", "she"))
        verb, drawn = {"did": did, "do": do, "does": does, "doing": doing, "They": they, "they": they}, Fillers()
        narrow, wide = self.random.choice(objects)
        for context, patterns in self.data["contexts"].items():
            pattern = self.random.choice([text for text in patterns if did != "saw" or "was seen" not in text])
            drawn |= {context: pattern.format(**verb, x=narrow), f"{context} wide": pattern.format(**verb, x=wide)}
        return drawn


def said(determiner: str, number: str, restrictor: str, scope: str, words: Fillers) -> str:
    """A sentence with a determiner, a restrictor and a scope."""
    lead = article(restrictor) if determiner == "a" else determiner
    be = [] if words["past"] else ["is" if number == "singular" else "are"]
    return " ".join([lead, restrictor, *be, scope])
