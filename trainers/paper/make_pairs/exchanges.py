"""Sentences in which one word is exchanged: for one that excludes it, a synonym, a wider or a narrower word.

The sentences are the frames of exchanges.yaml, and people's: SNLI's premises that contain a word of a list. A word is
sampled by its sort first, so that rare words are exchanged as often as frequent ones.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from core.json_types import JsonObject
from core.linguistics.word_lists import article, plural

SLOT = re.compile(r"\{(a )?x( s)?\}")
PIECES = re.compile(r"[\w'-]+|[^\w\s]|\s+")
LONGEST = 3
"""Words of the longest entry that is looked for in a premise."""


@dataclass
class Sort:
    """Words of which one excludes another, wider words for all of them, and frames."""

    words: list[str]
    frames: list[str] = field(default_factory=list)
    above: dict[str, list[str]] = field(default_factory=dict)
    """Wider words of a word."""


@dataclass(frozen=True)
class Found:
    """A listed word in a premise: its pieces ``[start, end)``, and whether it is in the plural."""

    pieces: tuple[str, ...]
    start: int
    end: int
    many: bool

    def with_word(self, word: str) -> str | None:
        """The premise with another word, in the same number and with a fitting article; None for a word without
        plural."""
        put = plural(word) if self.many else word
        if not put:
            return None
        before = list(self.pieces[: self.start])
        if self.pieces[self.start][0].isupper():
            put = put[0].upper() + put[1:]
        if len(before) > 1 and before[-2].lower() in ("a", "an"):
            fitting = article(put)
            before[-2] = fitting.capitalize() if before[-2][0].isupper() else fitting
        return "".join([*before, put, *self.pieces[self.end :]])


class Exchanges:
    """Samples sentences with exchanged words. ``scenes`` are SNLI's premises; ``overlapping``: pairs that do not
    exclude each other."""

    def __init__(
        self,
        chance: random.Random,
        data: JsonObject,
        lists: JsonObject,
        scenes: list[str],
        overlapping: set[frozenset[str]],
    ) -> None:
        self.random, self.data, self.overlapping = chance, data, overlapping
        groups = {name: group for kind in ("count", "plural", "mass") for name, group in lists[kind].items()}
        self.sorts = {name: _sort(sort, groups, lists) for name, sort in data["sorts"].items()}
        exclusive = {
            name: sort.words for name, sort in self.sorts.items() if not data["sorts"][name].get("only framed")
        }
        self.alike = [pair for name in ("synonyms", "adjective synonyms", "verb synonyms") for pair in lists[name]]
        self.alike += [row[:2] for row in data["synonymous"]]
        against = [*lists["adjective antonyms"], *lists["verb antonyms"], *lists["preposition antonyms"]]
        against += lists["people"]["exclusive"]
        self.in_scenes = {
            "sister": _occurrences(scenes, {word: name for name, words in exclusive.items() for word in words}),
            "opposite": _occurrences(scenes, {word: word for pair in against for word in pair}),
            "alike": _occurrences(scenes, {word: word for pair in self.alike for word in pair}),
        }
        self.partners = {
            "opposite": _partners(against),
            "alike": _partners(self.alike),
        }

    def framed(self) -> JsonObject:
        """A frame with x, its sister y, and wider words (up) if there are any."""
        sort = self.random.choice([*self.sorts.values()])
        x, y = self._two(sort.words)
        frame = self.random.choice(sort.frames)
        texts = {"x": _filled(frame, x), "y": _filled(frame, y)}
        if sort.above.get(x):
            texts["up"] = _filled(frame, self.random.choice(sort.above[x]))
        return texts

    def replaced(self) -> JsonObject:
        """A premise with its own word x, with a sister y, and with a wider word (up) if there is one."""
        name = self.random.choice([*self.in_scenes["sister"]])
        word = self.random.choice([*self.in_scenes["sister"][name]])
        found = self.random.choice(self.in_scenes["sister"][name][word])
        sort = self.sorts[name]
        other = self.random.choice(sort.words)
        if other == word or frozenset((word, other)) in self.overlapping:
            return {}
        return {
            "x": "".join(found.pieces),
            "y": found.with_word(other),
            "up": found.with_word(self.random.choice(sort.above[word])) if sort.above.get(word) else None,
        }

    def turned_round(self) -> JsonObject:
        """Two sentences of which one excludes the other by an opposite: a premise, or a frame."""
        way = self.random.random()
        if way < 0.25:
            frame, words = self.random.choice(self.data["changes"])
            x, y = self.random.sample(words, 2)
            return {"x": frame.format(x), "y": frame.format(y)}
        if way < 0.5:
            a, b, nouns = self.random.choice(self.data["contraries"])
            a, b = self.random.sample((a, b), 2)
            frame = self.random.choice(("The {n} is {x}.", "The {n} was {x}.", "His {n} is {x}.", "The {n} looks {x}."))
            noun = self.random.choice(nouns)
            return {"x": frame.format(n=noun, x=a), "y": frame.format(n=noun, x=b)}
        return self._in_scene("opposite")

    def alike_words(self) -> JsonObject:
        """Two sentences that mean the same."""
        if self.random.random() < 0.4:
            x, y, frame = self.random.choice(self.data["synonymous"])
            return {"x": _filled(frame, x), "y": _filled(frame, y)}
        return self._in_scene("alike")

    def _in_scene(self, kind: str) -> JsonObject:
        word = self.random.choice([*self.in_scenes[kind]])
        found = self.random.choice(self.in_scenes[kind][word][word])
        return {"x": "".join(found.pieces), "y": found.with_word(self.random.choice(self.partners[kind][word]))}

    def _two(self, words: list[str]) -> list[str]:
        drawn = self.random.sample(words, 2)
        while frozenset(drawn) in self.overlapping:
            drawn = self.random.sample(words, 2)
        return drawn


def _sort(sort: JsonObject, groups: JsonObject, lists: JsonObject) -> Sort:
    words, above = [*sort.get("words", [])], dict[str, list[str]]()
    for name in sort.get("groups", []):
        group = groups.get(name) or {"words": lists[name], "above": []}
        words += group["words"]
        above |= {word: group["above"] for word in group["words"] if group["above"]}
    return Sort(list(dict.fromkeys(words)), sort["frames"], above)


def _partners(pairs: Iterable[list[str]]) -> dict[str, list[str]]:
    partners = defaultdict[str, list[str]](list)
    for a, b in pairs:
        partners[a].append(b)
        partners[b].append(a)
    return partners


def _occurrences(scenes: list[str], listed: dict[str, str]) -> dict[str, dict[str, list[Found]]]:
    """Where a listed word occurs in the scenes, in the singular or plural: by its sort, and by word. Of overlapping
    entries the longest counts ("orange juice", not "orange")."""
    forms = {word.lower(): (word, False) for word in listed}
    forms |= {form.lower(): (word, True) for word in listed if (form := plural(word)) and form != word}
    found = defaultdict[str, dict[str, list[Found]]](dict)
    for scene in scenes:
        pieces = tuple(PIECES.findall(scene))
        at = 0
        while at < len(pieces):
            for end in range(min(at + 2 * LONGEST - 1, len(pieces)), at, -1):
                match = forms.get("".join(pieces[at:end]).lower())
                if match:
                    word, many = match
                    found[listed[word]].setdefault(word, []).append(Found(pieces, at, end, many))
                    at = end
                    break
            else:
                at += 1
    return found


def _filled(frame: str, word: str) -> str:
    def put(match: re.Match[str]) -> str:
        form = plural(word) if match[2] else word
        return f"{article(form)} {form}" if match[1] else form

    return SLOT.sub(put, frame)
