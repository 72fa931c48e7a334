"""Examples to start from, each with a short name for links: pairs for Explore and Phrases, texts for the map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.pairs import Pair
from core.card import Card
from core.tasks import ANSWERS, ENTAILMENT, FACTS, PARAPHRASE, TASKS


@dataclass(frozen=True)
class ExampleTexts:
    """One or more pairs in the data set's order (premise, hypothesis). ``slug`` names it in links, ``kind`` the models
    it suits (see :func:`kind_of`), which open with the first example of their kind. ``model``: the checkpoint its title
    refers to, if any; ``gold``: its label in the data set ``source``, if known."""

    slug: str
    title: str
    kind: str
    texts: tuple[Pair, ...]
    model: str = ""
    gold: str = ""
    source: str = ""


@dataclass(frozen=True)
class Gold:
    """The gold label in the data set ``source``; if that is empty, our own label."""

    label: str
    source: str


FAILS = "where the model fails"
"""Part of the title of an example that its model gets wrong."""


def _pair(slug: str, title: str, pair: Pair, *, kind: str = ENTAILMENT, **known: str) -> ExampleTexts:
    return ExampleTexts(slug, title, kind, (pair,), **known)


_SICK: dict[str, str] = {"source": "SICK"}
_OUTDOORS = Pair(
    "The young boys are playing outdoors and the man is smiling nearby",
    "The kids are playing outdoors near a man with a smile",
)
_FIREFIGHTERS = Pair(
    "Three firefighters come out of subway station",
    "Three firefighters putting out a fire inside of a subway station",
)
_FRISBEE = Pair(
    "An animal is outside in the cold weather, playing with a plastic toy", "A dog jumping for a Frisbee in the snow"
)
_NEGATION = Pair("A man is playing a guitar on a stage", "A man is not playing a guitar")
_VIOLIN = Pair("A man is playing a guitar on a stage", "A man is playing a violin on a stage")
_THREE = Pair("Two children are playing in a red car", "Three children are playing in a red car")
_SWAPPED = Pair("A boy is chasing a girl in the park", "A girl is chasing a boy in the park")
_PASSIVE = Pair("A dog is chasing a cat", "A cat is being chased by a dog")
_THANKED = Pair("The plumber thanked the neighbour", "The neighbour thanked the plumber")
_RAIN = Pair("If it rains, the boys stay at home", "The boys stay at home")
_EVERY = Pair("Every child who plays is happy", "Every child is happy")
_OWNER = Pair(
    "A man in a red shirt is talking with a woman in a blue dress", "A man in a blue shirt is talking with a woman"
)
_BIG = "how big is Auburndale Florida"
_ANSWER = Pair(_BIG, "The city had a population of 12,381 at the 2010 census and covers 13 square miles")
_NO_ANSWER = Pair(_BIG, "Auburndale is a city in Polk County, Florida")
_FILM = (
    "Blade Runner is a 1982 American science fiction film directed by Ridley Scott.\n"
    "It stars Harrison Ford, Rutger Hauer and Sean Young."
)
_BUILT = Pair("when was the Eiffel Tower built", "The Eiffel Tower was built from 1887 to 1889")
_SCOTT = Pair("Blade Runner was directed by Ridley Scott", _FILM)
_SPIELBERG = Pair("Blade Runner was directed by Steven Spielberg", _FILM)
_AWARD = Pair("Blade Runner won an Academy Award", _FILM)
_PRAISE = Pair("A wonderful film, funny and moving from beginning to end")
_BOTH = Pair("The actors are wonderful but the plot is dull")
_NOT_WONDERFUL = Pair("This film is not wonderful")
_CLAIMS = {"kind": FACTS}
_REVIEWS = {"kind": "reviews"}
_ANSWERS = {"kind": ANSWERS, "model": "wikiqa-phrases-kmax"}
_PARAPHRASE = Pair("How can I lose weight fast?", "What is the best way to lose weight quickly?")

EXAMPLES: tuple[ExampleTexts, ...] = (
    _pair("playing-outdoors", "Said in other words", _OUTDOORS, gold="entailment", **_SICK),
    _pair("firefighters", f"Another story (AttConv, table 2): {FAILS}", _FIREFIGHTERS, gold="neutral"),
    _pair("figure-6", "Dog and Frisbee (AttConv, figure 6)", _FRISBEE, gold="neutral"),
    _pair("negation", "One word of negation", _NEGATION, gold="contradiction"),
    _pair("one-word", "One word changes", _VIOLIN, gold="contradiction"),
    _pair("number", "Two are not three", _THREE, gold="contradiction"),
    _pair("swap", "Same words, roles swapped", _SWAPPED, gold="contradiction"),
    _pair("passive", "Same roles, in the passive", _PASSIVE, gold="entailment"),
    _pair("thanked", "Roles swapped, and both may hold", _THANKED, gold="neutral"),
    _pair("if", "Under “if” nothing is claimed", _RAIN, gold="neutral"),
    _pair("every", "Every child, or every child who plays", _EVERY, gold="neutral"),
    _pair("owner", "A colour with another owner", _OWNER, gold="contradiction"),
    _pair("built", "A question and its answer", _BUILT, kind=ANSWERS, gold="answer"),
    _pair("answer", "An answer with few of the question’s words", _ANSWER, kind=ANSWERS, gold="answer"),
    _pair("no-answer", "The question’s words, and no answer", _NO_ANSWER, kind=ANSWERS, gold="not an answer"),
    _pair("paraphrase", "Two questions that ask the same", _PARAPHRASE, kind=PARAPHRASE, gold="paraphrase"),
    _pair("claim", "A claim and its evidence", _SCOTT, gold="supports", **_CLAIMS),
    _pair("other-name", "A claim with another name", _SPIELBERG, gold="refutes", **_CLAIMS),
    _pair("not-said", "A claim that the evidence does not mention", _AWARD, gold="not enough info", **_CLAIMS),
    _pair("praise", "Praise", _PRAISE, gold="very positive", **_REVIEWS),
    _pair("praise-and-blame", "Praise, then blame", _BOTH, gold="negative", **_REVIEWS),
    _pair("not-wonderful", f"One word of negation: {FAILS}", _NOT_WONDERFUL, gold="negative", **_REVIEWS),
)
"""Examples on the Explore page. Gold labels without a source are ours."""

PHRASE_EXAMPLES: tuple[ExampleTexts, ...] = (
    _pair("entailed", "Entailed (Yin 2017, figure 1)", _OUTDOORS, model="te-phrases-kmin", gold="entailment", **_SICK),
    _pair(
        "not-entailed",
        "Not entailed (Yin 2017, figure 1)",
        Pair(_OUTDOORS.first, "A group of kids is playing in a yard and an old man is standing in the background"),
        model="te-phrases-kmin",
        gold="neutral",
        **_SICK,
    ),
    _pair("no-answer", "No answer (Yin 2017, figure 1)", _NO_ANSWER, gold="not an answer", **_ANSWERS),
    _pair("answer", f"An answer (Yin 2017, figure 1): {FAILS}", _ANSWER, gold="answer", **_ANSWERS),
    _pair("negated", "One word of negation", _NEGATION, model="snli-phrases-kmin", gold="contradiction"),
    _pair("same-words", f"Same words, roles swapped: {FAILS}", _SWAPPED, model="te-phrases-kmin", gold="contradiction"),
    _pair("one-word", f"One word a side: {FAILS}", Pair("dog", "puppy"), model="te-phrases-kmin", gold="neutral"),
    _pair(
        "long",
        "A long answer",
        Pair(
            "what is the largest lake in the state of Florida and how deep is it",
            "Lake Okeechobee, also known as Florida's Inland Sea, is the largest freshwater lake in the state of "
            "Florida and the eighth largest in the United States; it covers about half the area of the state of Rhode "
            "Island, and is exceptionally shallow for a lake of its size, with an average depth of only nine feet",
        ),
        gold="answer",
        **_ANSWERS,
    ),
)
"""Examples on the Phrases page: figure 1 of Yin & Schütze 2017, and other pairs on which the two poolings differ."""


def _texts(slug: str, title: str, kind: str, *texts: Pair | str) -> ExampleTexts:
    return ExampleTexts(slug, title, kind, tuple(Pair(text) if isinstance(text, str) else text for text in texts))


def _edited(now: str, *earlier: str) -> Pair:
    return Pair(now, earlier=tuple((text, "") for text in earlier))


MAP_EXAMPLES: tuple[ExampleTexts, ...] = (  # the first of a kind is what the page opens with: as typed, without edits
    _texts(
        "four-topics",
        "Four topics",
        "topics",
        "Acme Software is a company in Berlin that makes tools for architects and builders",
        "John Miller (born 12 May 1980) is a retired Scottish footballer who played as a midfielder",
        "Kowalewo is a village in the administrative district of Gmina Sokoły in north-eastern Poland",
        "The Last Harbour is a 1956 British drama film directed by Peter Hall",
    ),
    _texts(
        "album-film-river",
        "An album, a film, a river: one text, edited",
        "topics",
        _edited(
            "Blue River is a river in the west of Colorado",
            "Blue River is a 1998 album by the singer Ann Lee",
            "Blue River is a 1998 film directed by Ann Lee",
        ),
        "Ann Lee (born 1975) is a retired footballer who played for the national team",
    ),
    _texts(
        "beetles",
        "Two meanings of a word",
        "topics",
        "The Beetle is a small car that was built by Volkswagen from 1938 until 2003",
        "The beetle is a small insect that is found in the forests of Brazil",
    ),
    _texts(
        "three-reviews",
        "Praise, blame and both",
        "reviews",
        "The actors are wonderful and I laughed from beginning to end",
        "The plot is dull and I wanted to leave after ten minutes",
        "The actors are wonderful but the plot is dull",
    ),
    _texts(
        "masterpiece",
        "One word changes",
        "reviews",
        _edited(
            "This film is a mess from the first scene to the last",
            "This film is a masterpiece from the first scene to the last",
        ),
    ),
    _texts(
        "not-wonderful",
        f"One word of negation: {FAILS}",
        "reviews",
        _edited(
            "This film is not wonderful from the first scene to the last",
            "This film is wonderful from the first scene to the last",
        ),
    ),
    _texts("one-question", "One question, two candidates", ANSWERS, _ANSWER, _NO_ANSWER),
    _texts(
        "where-when",
        "Where becomes when",
        ANSWERS,
        replace(_BUILT, earlier=(("where was the Eiffel Tower built", _BUILT.second),)),
    ),
    _texts("same-question", "Two questions that ask the same", PARAPHRASE, _PARAPHRASE),
    _texts(
        "weight",
        f"The same question, and another: {FAILS}",
        PARAPHRASE,
        _PARAPHRASE,
        Pair(_PARAPHRASE.first, "Why do people want to lose weight?"),
    ),
)


SINGLE_KINDS = ("topics", "reviews")
"""The kinds of models that read single texts."""
_SST5 = set("01234")
"""SST-5's labels, from very negative to very positive."""


def kind_of(card: Card) -> str:
    """The kind of examples that suit a model, from its card (see :func:`core.checkpoint.read_card`): its task, or
    entailment if there are none of its task."""
    if card["roles"]["second"]:
        return card["task"] if card["task"] in TASKS and suiting(card["task"], EXAMPLES) else ENTAILMENT
    labels = set(card["labels"])
    return "reviews" if labels & {"pos", "positive", "very positive"} or labels == _SST5 else "topics"


def suiting(kind: str | None, examples: Sequence[ExampleTexts]) -> list[ExampleTexts]:
    """The examples for one kind of model; none for None."""
    return [example for example in examples if example.kind == kind]


def shown_with(example: ExampleTexts, models: Mapping[str, str], present: str | None = None) -> str | None:
    """The model for an example: the one it names, else ``present`` if it has the example's kind, else the first model
    of that kind, else None. ``models``: the example kind of each available model."""
    suited = [name for name, kind in models.items() if kind == example.kind]
    return next((name for name in (example.model, present, *suited[:1]) if name in suited), None)


def example_of(texts: Sequence[Pair], examples: Sequence[ExampleTexts]) -> ExampleTexts | None:
    """The example with exactly these texts, or None."""
    return next((example for example in examples if example.texts == tuple(texts)), None)
