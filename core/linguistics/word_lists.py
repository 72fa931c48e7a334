"""Short word lists: groups of mutually exclusive nouns, checked and extended with WordNet, colours, numbers, names and
opposites."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.files import read_yaml
from core.json_types import JsonObject

if TYPE_CHECKING:
    from nltk.corpus.reader.wordnet import Synset

    from core.linguistics.wordnet import Lexicon

LISTS = Path(__file__).with_name("word_lists.yaml")
SINGULAR, PLURAL, MASS = "singular", "plural", "mass"
IRREGULAR = {
    "child": "children", "person": "people", "foot": "feet", "mouse": "mice", "goose": "geese", "wolf": "wolves",
    "knife": "knives", "leaf": "leaves", "ox": "oxen", "deer": "deer", "sheep": "sheep", "salmon": "salmon",
    "moose": "moose", "fish": "fish", "bookshelf": "bookshelves", "reindeer": "reindeer", "human": "humans",
    "scarf": "scarves", "wife": "wives", "buffalo": "buffalo", "yo-yo": "yo-yos", "kangaroo": "kangaroos",
    "somebody": "", "shrimp": "shrimp", "thief": "thieves",
}  # fmt: skip
ABOVE = {
    "small animal": ("bird.n.01", "reptile.n.01"),
    "sea animal": ("fish.n.01",),
    "vehicle": ("boat.n.01", "aircraft.n.01"),
    "held thing": ("tool.n.01", "weapon.n.01"),
    "headwear": ("hat.n.01",),
}
"""WordNet synsets whose words may serve as hypernyms for a group: words people use themselves."""


@dataclass(frozen=True)
class Noun:
    """A noun in a sentence: base form, its group in the lists, and its grammatical number."""

    base: str
    group: str
    number: str


def plural(noun: str) -> str:
    """The plural of a count noun; a compound inflects its last word. Empty for nouns without one."""
    if " of " in noun:
        first, _, rest = noun.partition(" of ")
        return f"{plural(first)} of {rest}"
    *before, last = noun.split(" ")
    if last in IRREGULAR:
        ending = IRREGULAR[last]
    elif last.endswith("man") and last != "human":
        ending = f"{last[:-3]}men"
    elif last.endswith("y") and last[-2] not in "aeiou":
        ending = f"{last[:-1]}ies"
    elif last.endswith(("s", "x", "ch", "sh", "z")) or last in ("potato", "tomato", "mango", "mosquito"):
        ending = f"{last}es"
    else:
        ending = f"{last}s"
    return " ".join([*before, ending]) if ending else ""


def article(word: str) -> str:
    """ "a" or "an", depending on the sound at the start of the next word."""
    word = word.lower()
    sounds = word.startswith(("uni", "eu", "one", "use", "uku", "u-")) and not word.startswith(("unin", "unim"))
    silent = word.startswith(("hour", "honest", "heir", "8", "11", "18"))
    return "an" if silent or (word[:1] in ("a", "e", "i", "o", "u") and not sounds) else "a"


@functools.cache
def word_groups(path: Path = LISTS) -> JsonObject:
    """The lists as in the file, without WordNet."""
    return read_yaml(path)


class WordLists:
    """The lists in word_lists.yaml, combined with WordNet."""

    def __init__(self, wordnet: Lexicon, path: Path = LISTS) -> None:
        self.wordnet = wordnet
        self._lists = word_groups(path)
        self.groups: dict[str, list[str]] = {}
        self.above: dict[str, list[str]] = {}
        self.forms: dict[str, list[Noun]] = {}
        for kind, number in (("count", SINGULAR), ("plural", PLURAL), ("mass", MASS)):
            for name, group in self[kind].items():
                self.groups[name], self.above[name] = group["words"], group["above"]
                for word in group["words"]:
                    self._add(Noun(word, name, number), both=kind == "count" and name != "body part")
        self.people: dict[str, list[str]] = {}
        for one, other in self["people"]["exclusive"]:
            self.people.setdefault(one, []).append(other)
            self.people.setdefault(other, []).append(one)
        for word in self.people:
            if word not in ("dog", "cat"):
                self._add(Noun(word, "people", SINGULAR), both=True)

    def __getitem__(self, name: str) -> Any:
        """A list by its name in the file."""
        return self._lists[name]

    def _add(self, noun: Noun, both: bool) -> None:
        self.forms.setdefault(noun.base, []).append(noun)
        if both and plural(noun.base):
            self.forms.setdefault(plural(noun.base), []).append(Noun(noun.base, noun.group, PLURAL))

    @functools.cache  # noqa: B019 (lives for one command)
    def others(self, name: str) -> dict[str, list[str]]:
        """The partners of each word in a list of pairs such as ``synonyms``, in both directions."""
        out: dict[str, list[str]] = {}
        for one, other in self[name]:
            out.setdefault(one, []).append(other)
            out.setdefault(other, []).append(one)
        return out

    def others_of(self, name: str, word: str) -> list[str]:
        """The words paired with ``word`` in a list of pairs."""
        return self.others(name).get(word, [])

    @functools.cached_property
    def adjectives(self) -> frozenset[str]:
        """Adjectives that may stand between an article and its noun."""
        named = (self[key] for key in ("colours", "adjectives"))
        pairs = (pair for key in ("adjective antonyms", "adjective synonyms") for pair in self[key])
        return frozenset(word for words in (*named, *pairs) for word in words)

    def partners(self, noun: Noun) -> list[str]:
        """Base forms that cannot hold together with ``noun`` in the same position."""
        if noun.group == "people":
            return self.people[noun.base]
        return [word for word in self.groups[noun.group] if word != noun.base and self.exclude(noun.base, word)]

    @functools.cache  # noqa: B019 (lives for one command)
    def exclude(self, one: str, other: str) -> bool:
        """Whether the words are mutually exclusive: neither is the other or a kind of it (first sense), nor do the
        lists allow both."""
        if frozenset((one, other)) in self._overlapping:
            return False
        first, second = (self.first_sense(word) for word in (one, other))
        if first is None or second is None:
            return True
        kinds = [{first, *first.closure(_up)}, {second, *second.closure(_up)}]
        return first not in kinds[1] and second not in kinds[0]

    @functools.cached_property
    def _overlapping(self) -> frozenset[frozenset[str]]:
        return frozenset(frozenset(pair) for key in ("synonyms", "overlapping") for pair in self[key])

    def first_sense(self, word: str) -> Synset:
        """WordNet's first noun sense of a base form, or None."""
        senses = self.wordnet.synsets(word.replace(" ", "_"), "n")
        return senses[0] if senses else None

    @functools.cache  # noqa: B019
    def words_above(self, base: str, group: str) -> tuple[str, ...]:
        """Words true of everything ``base`` is true of: the group's, and WordNet's hypernyms of its first sense."""
        if group == "people":
            kinds: list[str] = self["people"]["kinds"].get(base, [])
            return tuple(kinds)
        sense = self.first_sense(base)
        higher = {synset.name() for synset in sense.closure(_up)} if sense else set()
        named = [name.partition(".")[0] for name in ABOVE.get(group, ()) if name in higher]
        return tuple(dict.fromkeys([*self.above[group], *named]))

    def form(self, base: str, number: str) -> str:
        """A base form in the grammatical number its position requires; empty if it has none."""
        return plural(base) if number == PLURAL and base not in self._plural_only else base

    @functools.cached_property
    def _plural_only(self) -> frozenset[str]:
        return frozenset(word for group in self["plural"].values() for word in (*group["words"], *group["above"]))


def _up(synset: Synset) -> Iterable[Synset]:
    return synset.hypernyms() + synset.instance_hypernyms()
