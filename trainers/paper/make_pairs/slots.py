"""The places of a sentence whose word can be exchanged for one that excludes it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.linguistics.word_lists import PLURAL, Noun, WordLists
from trainers.paper.make_pairs.sentences import (
    ARTICLES,
    CLOSED,
    NUMBERS,
    OLD,
    PREPOSITIONS,
    YOUNG,
    Clause,
    Order,
    Sentence,
    nouns,
    positions,
)

PERSONS = {"people", "occupation", "performer", "athlete"}
PERSONAL = {"people", "couple", "male", "female", "worker", "workers", "asian", "african", "american"}
"""Words for people that stand in no group of the lists."""
COAT_COLOURS = ("black", "white", "brown", "gray")
"""Colours that an animal may have."""
MOVING = {
    "walking", "running", "climbing", "going", "riding", "skiing", "sliding", "driving", "hiking", "biking", "jogging",
    "traveling", "moving", "skating", "skateboarding", "snowboarding", "sledding", "crawling", "marching", "heading",
    "coming", "racing", "jumping", "diving", "stepping", "strolling", "walks", "runs",
    "climbs", "goes", "rides", "skis", "slides", "drives", "hikes", "jogs", "moves", "crawls", "marches", "heads",
    "races", "jumps", "dives", "steps",
}  # fmt: skip
"""What someone does who goes up, down, into or over something."""
VESSELS = {"bottle", "bottles", "cup", "glass"}
DRINKING = {"drinking", "drinks", "drink", "sipping", "pouring", "pours", "serving"} | VESSELS
"""Without one of these "water" is no drink."""
STILL = {"in front of", "behind", "inside", "outside", "near", "far from", "on top of"}
ADVERBS = {"indoors", "outdoors", "uphill", "downhill", "upstairs", "downstairs"}
NO_OPPOSITE = {"up", "down", "out", "off", "over", "for", "to", "with"}
"""After these a verb means something else ("sitting up"), or its opposite does not take them."""


@dataclass(frozen=True)
class Frame:
    """A sentence with its whole order and shorter ones that follow from it."""

    sentence: Sentence
    whole: Order
    shorter: tuple[Order, ...] = ()
    parts: Clause | None = None


def _nothing(word: str) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class Slot:
    """A place ``width`` words long from position ``at``, and the words that may stand in it."""

    kind: str
    at: int
    word: str
    pool: Sequence[str]
    """Words that may take the place of ``word`` on both sides; empty: none."""
    partners: Callable[[str], Sequence[str]]
    """Words that exclude a word in this place."""
    above: Callable[[str], Sequence[str]] = _nothing
    form: Callable[[str], str] = str
    width: int = 1

    def change(self, word: str) -> dict[int, str]:
        """The changes that put ``word`` here."""
        return {self.at: self.form(word), **{self.at + i: "" for i in range(1, self.width)}}


def one_of(
    kind: str, at: int, word: str, words: Sequence[str], above: Callable[[str], Sequence[str]] = _nothing
) -> Slot:
    """A place for words that all exclude each other."""
    return Slot(kind, at, word, words, lambda w: [other for other in words if other != w], above)


def said_of(pair: set[str], person: bool, child: bool) -> bool:
    """Whether two antonyms can be said of a noun for a person, perhaps a child, or for something else."""
    of_people = bool(pair & {"young", "elderly"}) or pair in ({"thin", "fat"}, {"skinny", "fat"})
    of_things = bool(pair & {"new", "large", "huge", "big"})
    return not ((of_people and not person) or (of_things and person) or (child and pair & OLD))


class Slots:
    """Finds the places in sentences with the words of the lists."""

    def __init__(self, lists: WordLists) -> None:
        self.lists = lists

    def of(self, frame: Frame) -> list[Slot]:
        """All places of a frame, by position."""
        sentence = frame.sentence
        drinking = DRINKING & {word.lower() for word in sentence.words}
        heads = nouns(sentence, self.lists)
        out = [self.noun(at, noun) for at, noun in heads if drinking or noun.group != "drink"]
        for at in range(len(sentence.words)):
            out += [*self.colour(sentence, at), *self.named(sentence, at), *self.number(sentence, at)]
            out += self.adjective(sentence, at)
        if frame.parts is not None:
            out += self.verb(sentence, frame.parts.verb)
        out += self.preposition(sentence)
        return sorted(
            (slot for slot in out if slot.at in positions(frame.whole)), key=lambda slot: (slot.at, slot.kind)
        )

    def noun(self, at: int, noun: Noun) -> Slot:
        """The place of a noun."""
        pool = [] if noun.group == "people" else self.lists.groups[noun.group]
        return Slot(
            "cohyponym",
            at,
            noun.base,
            pool,
            lambda word: self.lists.partners(Noun(word, noun.group, noun.number)),
            lambda word: self.lists.words_above(word, noun.group),
            lambda word: self.lists.form(word, noun.number),
        )

    def colour(self, sentence: Sentence, at: int) -> list[Slot]:
        """A colour, but for people's and hair's."""
        word, after = sentence.words[at], sentence.lower(at + 1)
        groups = {noun.group for noun in self.lists.forms.get(after, [])}
        if word not in self.lists["colours"] or not _before_noun(sentence, at) or groups & PERSONS:
            return []
        if after in ("people", "male", "female", "hair", "males", "females", "belt", "persons", "american", "guys"):
            return []
        animal = any(group.endswith("animal") for group in groups)
        words = COAT_COLOURS if animal else tuple(self.lists["colours"])
        return [one_of("colour", at, word, words)] if word in words else []

    def named(self, sentence: Sentence, at: int) -> list[Slot]:
        """A nationality, or the material of a thing."""
        word, after, named = sentence.words[at], sentence.lower(at + 1), self.lists
        if not _before_noun(sentence, at):
            return []
        if word in named["nationalities"]:
            return [one_of("name", at, word, named["nationalities"])]
        materials: list[str] = named["materials"]
        if word not in materials or after not in self.lists.forms or self.person(sentence, at + 1):
            return []

        def others(material: str) -> list[str]:
            return [other for other in materials if other != material and self.lists.exclude(material, other)]

        return [Slot("cohyponym", at, word, materials, others)]

    def number(self, sentence: Sentence, at: int) -> list[Slot]:
        """A number before a plural, where it is the sentence's only one."""
        words: list[str] = self.lists["numbers"]
        if sentence.lower(at) not in words or sum(word.lower() in {*words, "one"} for word in sentence.words) > 1:
            return []
        head = at + 1
        while sentence.lower(head) in self.lists.adjectives:
            head += 1
        noun = sentence.lower(head)
        if "both" in [word.lower() for word in sentence.words]:
            return []
        many = noun in ("people", "kids") or any(n.number == PLURAL for n in self.lists.forms.get(noun, []))
        before = sentence.lower(at - 1)
        if not many or (at > 0 and before in ARTICLES):
            return []
        # "Two" and "three" are "some", and perhaps not "several".
        above = {word: ("some", "several") if words.index(word) > 2 else ("some",) for word in words}
        return [one_of("number", at, sentence.lower(at), words, lambda word: above.get(word, ()))]

    def adjective(self, sentence: Sentence, at: int) -> list[Slot]:
        """An adjective with each of its antonyms that can be said of its noun: a child is not old, nobody is new."""
        word, after = sentence.words[at], sentence.lower(at + 1)
        nouns = self.lists.forms.get(after, [])
        person = self.person(sentence, at + 1)
        child = bool({noun.base for noun in nouns} & YOUNG)
        if (
            not _before_noun(sentence, at)
            or sentence.lower(at - 1) not in ARTICLES | NUMBERS
            or after in self.lists.adjectives
        ):
            return []
        return [
            one_of("antonym", at, word, (word, other))
            for other in self.lists.others_of("adjective antonyms", word)
            if said_of({word, other}, person, child)
        ]

    def person(self, sentence: Sentence, at: int) -> bool:
        """Whether the noun at a position is a word for people."""
        nouns = self.lists.forms.get(sentence.lower(at), [])
        return sentence.lower(at) in PERSONAL or any(noun.group in PERSONS for noun in nouns)

    def opposite(self, name: str, at: int, word: str, width: int = 1) -> Slot:
        """A place for a word and its antonyms."""
        pool = [word, *self.lists.others_of(name, word)]
        return Slot("antonym", at, word, pool, lambda w: self.lists.others_of(name, w), width=width)

    def verb(self, sentence: Sentence, at: int) -> list[Slot]:
        """The main verb, where it has an antonym that takes the same rest."""
        word, after = sentence.lower(at), sentence.lower(at + 1)
        if after in NO_OPPOSITE:
            return []
        has_object = after in ARTICLES | NUMBERS or after not in CLOSED | {"", ","}
        free = set(self.lists["intransitive"])
        others = [w for w in self.lists.others_of("verb antonyms", word) if not has_object or not {w, word} & free]
        return [Slot("antonym", at, word, [word], lambda w: others if w == word else [word])] if others else []

    def preposition(self, sentence: Sentence) -> list[Slot]:
        """Prepositions and adverbs of place with their opposites."""
        out = []
        for at in range(2, len(sentence.words)):
            for one in self._openings.get(sentence.lower(at), ()):
                width = one.count(" ") + 1
                if " ".join(sentence.words[at : at + width]).lower() != one:
                    continue
                goes = one in STILL or {sentence.lower(i) for i in range(at - 3, at)} & MOVING
                after = {"", ","} if one in ADVERBS else ARTICLES
                if (goes or one in ADVERBS) and sentence.lower(at + width) in after:
                    out.append(self.opposite("preposition antonyms", at, one, width))
        return out

    @functools.cached_property
    def _openings(self) -> dict[str, list[str]]:
        """The prepositions that have an opposite, by their first words."""
        out: dict[str, list[str]] = {}
        for one in self.lists.others("preposition antonyms"):
            out.setdefault(one.split(" ")[0], []).append(one)
        return out


def _before_noun(sentence: Sentence, at: int) -> bool:
    """Whether the word at a position belongs to the word after it alone."""
    after = sentence.lower(at + 1)
    return (
        after not in CLOSED - PREPOSITIONS
        and after not in PREPOSITIONS | {"", ","}
        and sentence.lower(at - 1) not in ("and", "african", "native")
    )
