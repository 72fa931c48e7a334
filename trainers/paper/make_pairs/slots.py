"""Slots in a sentence whose word can be exchanged for one that excludes it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.linguistics.word_lists import PLURAL, Noun, WordLists
from trainers.paper.make_pairs.premises import ARTICLES, CLOSED, NUMBERS, OLD, PREPOSITIONS, YOUNG, Premise, nouns

PERSONS = {"people", "occupation", "performer", "athlete"}
PERSONAL = {"people", "couple", "male", "female", "worker", "workers", "asian", "african", "american"}
"""Words for people that are in no group of the lists."""
MOVING = {
    "walking", "running", "climbing", "going", "riding", "skiing", "sliding", "driving", "hiking", "biking", "jogging",
    "traveling", "moving", "skating", "snowboarding", "sledding", "crawling", "racing", "jumping", "stepping",
}  # fmt: skip
"""Activities of moving up, down, into or over something."""
STILL = {"in front of", "behind", "inside", "outside", "near", "far from", "on top of"}
ADVERBS = {"indoors", "outdoors", "uphill", "downhill", "upstairs", "downstairs"}


def _nothing(word: str) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class Slot:
    """A slot ``width`` words long from position ``at``, and the words that may fill it."""

    kind: str
    """The kind of pairs in which it is exchanged: "synonym" if its partners are synonyms."""
    at: int
    word: str
    pool: Sequence[str]
    """Words that may replace ``word`` on both sides; empty if there are none."""
    partners: Callable[[str], Sequence[str]]
    """Words that exclude a given word in this slot, or are its synonyms."""
    above: Callable[[str], Sequence[str]] = _nothing
    form: Callable[[str], str] = str
    width: int = 1

    def change(self, word: str) -> dict[int, str]:
        """The changes that put ``word`` into the slot."""
        return {self.at: self.form(word), **{self.at + i: "" for i in range(1, self.width)}}


def one_of(
    kind: str, at: int, word: str, words: Sequence[str], above: Callable[[str], Sequence[str]] = _nothing
) -> Slot:
    """A slot for words that all exclude each other."""
    return Slot(kind, at, word, words, lambda w: [other for other in words if other != w], above)


def said_of(pair: set[str], person: bool, child: bool) -> bool:
    """Whether two antonyms can describe a noun for people (``child``: for children) or, otherwise, for things."""
    of_people = bool(pair & {"young", "elderly"}) or pair in ({"thin", "fat"}, {"skinny", "fat"})
    of_things = bool(pair & {"new", "large", "huge", "big"})
    return not ((of_people and not person) or (of_things and person) or (child and pair & OLD))


class Slots:
    """Finds slots in sentences with words from the lists."""

    def __init__(self, lists: WordLists) -> None:
        self.lists = lists

    def of(self, sentence: Premise, verb: int) -> list[Slot]:
        """All slots in a sentence, by position; ``verb``: the position of its main verb, -1 if unknown."""
        heads = [(at, noun) for at, noun in nouns(sentence, self.lists) if noun.group != "drink"]  # "in the water"
        out = [self.noun(at, noun) for at, noun in heads]
        for at in range(len(sentence.words)):
            out += [*self.colour(sentence, at), *self.number(sentence, at), *self.adjective(sentence, at)]
        out += [*self.preposition(sentence), *self.synonyms(sentence, heads, verb)]
        return sorted(out, key=lambda slot: (slot.at, slot.kind))

    def synonyms(self, sentence: Premise, heads: Sequence[tuple[int, Noun]], verb: int) -> list[Slot]:
        """Nouns, adjectives and the verb that have a synonym; for nouns, one in the same grammatical number."""
        out = [
            Slot("synonym", at, noun.base, (), lambda w: self.lists.others_of("synonyms", w),
                 form=lambda w, noun=noun: self.lists.form(w, noun.number))  # type: ignore[misc]
            for at, noun in heads
        ]  # fmt: skip
        places = [at for at in range(1, len(sentence.words)) if sentence.lower(at - 1) in ARTICLES | NUMBERS]
        named = [*((at, "adjective synonyms") for at in places), (verb, "verb synonyms")]
        for at, name in named:
            others = self.lists.others_of(name, sentence.lower(at))
            out += [Slot("synonym", at, sentence.lower(at), (), lambda w, others=others: others)] if others else []  # type: ignore[misc]
        return out

    def noun(self, at: int, noun: Noun) -> Slot:
        """The slot of a noun."""
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

    def colour(self, sentence: Premise, at: int) -> list[Slot]:
        """A colour, except of people, animals and hair."""
        word, after = sentence.words[at], sentence.lower(at + 1)
        groups = {noun.group for noun in self.lists.forms.get(after, [])}
        if word not in self.lists["colours"] or not _before_noun(sentence, at) or groups & PERSONS:
            return []
        if after in ("people", "male", "female", "hair", "males", "females", "belt", "persons", "american", "guys"):
            return []
        return (
            []
            if any(group.endswith("animal") for group in groups)
            else [one_of("colour", at, word, self.lists["colours"])]
        )

    def number(self, sentence: Premise, at: int) -> list[Slot]:
        """A number before a plural, if it is the only one in the sentence."""
        words: list[str] = self.lists["numbers"]
        if sentence.lower(at) not in words or sum(word.lower() in {*words, "one"} for word in sentence.words) > 1:
            return []
        head = at + 1
        while sentence.lower(head) in self.lists.adjectives:
            head += 1
        noun = sentence.lower(head)
        many = noun in ("people", "kids") or any(n.number == PLURAL for n in self.lists.forms.get(noun, []))
        before = sentence.lower(at - 1)
        if not many or (at > 0 and before in ARTICLES):
            return []
        # "Two" and "three" are "some", but perhaps not "several".
        above = {word: ("some", "several") if words.index(word) > 2 else ("some",) for word in words}
        return [one_of("number", at, sentence.lower(at), words, lambda word: above.get(word, ()))]

    def adjective(self, sentence: Premise, at: int) -> list[Slot]:
        """An adjective with each antonym that can describe its noun: children are not old, people are not new."""
        word, after = sentence.words[at], sentence.lower(at + 1)
        nouns = self.lists.forms.get(after, [])
        person = after in PERSONAL or any(noun.group in PERSONS for noun in nouns)
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

    def preposition(self, sentence: Premise) -> list[Slot]:
        """Prepositions and adverbs of place with their opposites."""
        out, lower = [], [word.lower() for word in sentence.words]
        for at, one in itertools.product(range(2, len(lower)), self.lists.others("preposition antonyms")):
            width = one.count(" ") + 1
            goes = one in STILL or one in ADVERBS or {*lower[max(0, at - 3) : at]} & MOVING
            after = {"", ","} if one in ADVERBS else ARTICLES
            if goes and lower[at : at + width] == one.split(" ") and sentence.lower(at + width) in after:
                others = self.lists.others_of("preposition antonyms", one)
                out += [replace(one_of("antonym", at, one, (one, other)), width=width) for other in others]
        return out


def _before_noun(sentence: Premise, at: int) -> bool:
    """Whether the word at a position belongs only to the word after it."""
    after = sentence.lower(at + 1)
    return (
        after not in CLOSED - PREPOSITIONS
        and after not in PREPOSITIONS | {"", ","}
        and sentence.lower(at - 1) not in ("and", "african", "native")
    )
