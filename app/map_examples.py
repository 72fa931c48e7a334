"""Texts to place on a filter map, each set with a short name for links, by the kind of model that they are for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.reading.tokens import tokenize

LONGEST_TRAIL = 8
"""Earlier versions of a text that are kept; the oldest gives way."""
SAME_TEXT = 1 / 3
"""Share of its words that an edited text has kept at least; one with fewer is another text."""
LONG, SEVERAL = 4, 3
"""Letters of a long word, and how many such words make a text known by them: "is a … in the" is kept by chance."""

Version = tuple[str, str]
"""A text, or both texts of a pair; of a single text the second is empty."""


@dataclass(frozen=True)
class MapText:
    """A person's text, or pair, and what it was before it was edited, oldest first."""

    first: str = ""
    second: str = ""
    earlier: tuple[Version, ...] = ()

    @property
    def versions(self) -> tuple[Version, ...]:
        """Oldest first, the present one last."""
        return (*self.earlier, (self.first, self.second))

    @property
    def empty(self) -> bool:
        """Whether nothing is typed."""
        return not self.first.strip() and not self.second.strip()

    def typed(self, side: str, text: str) -> MapText:
        """The same after its ``side`` (first or second) became ``text``. A text that keeps too few of the words that
        this side had last is another one, and begins a new trail."""
        if text == getattr(self, side):
            return self
        had = (version[side == "second"] for version in reversed(self.versions))
        last = next((words for words in had if _words(words)), "")
        earlier = self.earlier if self.empty else self.versions[-LONGEST_TRAIL:]
        return replace(self, earlier=earlier if is_edit(last, text) else (), **{side: text})


def is_edit(before: str, after: str) -> bool:
    """Whether a text is another one's edit: it has kept enough of its words, and not short ones alone."""
    old, new = ({word for word in _words(text) if len(word) >= LONG} for text in (before, after))
    strangers = min(len(old), len(new)) >= SEVERAL and not old & new
    return kept_words(before, after) >= SAME_TEXT and not strangers


def kept_words(before: str, after: str) -> float:
    """Words that both texts have, each as often as both have it, as a share of the longer one's; 1 where a text has no
    word, and so nothing that could have been kept. Case does not matter."""
    old, new = _words(before), _words(after)
    return (old & new).total() / max(old.total(), new.total()) if old and new else 1.0


def _words(text: str) -> Counter[str]:
    return Counter(token.norm for token in tokenize(text) if token.is_word)


@dataclass(frozen=True)
class MapExample:
    """A set of texts. ``slug`` names it in a link, ``kind`` the models that it is for (see :func:`kind_of`)."""

    slug: str
    title: str
    kind: str
    texts: tuple[MapText, ...]


def _singles(*texts: str) -> tuple[MapText, ...]:
    return tuple(map(MapText, texts))


MAP_EXAMPLES: tuple[MapExample, ...] = (
    MapExample(
        "album-film-river",
        "An album, a film, a river",
        "topics",
        (
            MapText(
                "Blue River is a river in the west of Colorado",
                earlier=(
                    ("Blue River is a 1998 album by the singer Ann Lee", ""),
                    ("Blue River is a 1998 film directed by Ann Lee", ""),
                ),
            ),
            MapText("Ann Lee (born 1975) is a retired footballer who played for the national team"),
        ),
    ),
    MapExample(
        "four-topics",
        "Four topics",
        "topics",
        _singles(
            "Acme Software is a company in Berlin that makes tools for architects and builders",
            "John Miller (born 12 May 1980) is a retired Scottish footballer who played as a midfielder",
            "Kowalewo is a village in the administrative district of Gmina Sokoły in north-eastern Poland",
            "The Last Harbour is a 1956 British drama film directed by Peter Hall",
        ),
    ),
    MapExample(
        "beetles",
        "Two meanings of a word",
        "topics",
        _singles(
            "The Beetle is a small car that was built by Volkswagen from 1938 until 2003",
            "The beetle is a small insect that is found in the forests of Brazil",
        ),
    ),
    MapExample(
        "masterpiece",
        "One word changes",
        "reviews",
        (
            MapText(
                "This film is a disaster from the first scene to the last",
                earlier=(("This film is a masterpiece from the first scene to the last", ""),),
            ),
            MapText("This film is not a disaster from the first scene to the last"),
        ),
    ),
    MapExample(
        "three-reviews",
        "Praise, blame and both",
        "reviews",
        _singles(
            "The actors are wonderful and I laughed from beginning to end",
            "The plot is dull and I wanted to leave after ten minutes",
            "The actors are wonderful but the plot is dull",
        ),
    ),
    MapExample(
        "who-when",
        "Who becomes when",
        "answers",
        (
            MapText(
                "when was the novel Dracula written",
                "Dracula is an 1897 Gothic horror novel by the Irish author Bram Stoker",
                ((
                    "who wrote the novel Dracula",
                    "Dracula is an 1897 Gothic horror novel by the Irish author Bram Stoker",
                ),),
            ),
        ),
    ),
    MapExample(
        "one-question",
        "One question, two answers",
        "answers",
        (
            MapText("how big is Auburndale Florida", "The city had a population of 12,381"),
            MapText("how big is Auburndale Florida", "Auburndale is a city in Polk County, Florida"),
        ),
    ),
    MapExample(
        "guitar",
        "The same question, and another",
        "paraphrases",
        (
            MapText(
                "How can I learn to play the guitar by myself?", "What is the best way to teach yourself the guitar?"
            ),
            MapText("How can I learn to play the guitar by myself?", "How can I learn to repair the guitar by myself?"),
        ),
    ),
)  # fmt: skip


def kind_of(card: Mapping[str, Any]) -> str:
    """The kind of examples that suit a model, by its card (as :func:`core.checkpoint.read_card` gives it)."""
    roles = card["roles"]
    if roles["second"]:
        return "answers" if roles["judged"] == "answer" else "paraphrases"
    return "reviews" if set(card["labels"]) & {"pos", "positive", "very positive"} else "topics"


def examples_of(kind: str) -> list[MapExample]:
    """Those for one kind of model; every kind has one."""
    return [example for example in MAP_EXAMPLES if example.kind == kind]


def example_of(texts: Sequence[MapText]) -> MapExample | None:
    """The example that holds exactly these texts, or None."""
    return next((example for example in MAP_EXAMPLES if example.texts == tuple(texts)), None)
