"""Sentence pairs to start from, each with a short name for links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """A pair in the data set's order (premise, hypothesis). ``slug`` names it in a link."""

    slug: str
    title: str
    first: str
    second: str


EXAMPLES: tuple[Example, ...] = (
    Example(
        "figure-6",
        "Dog and Frisbee (figure 6)",
        "An animal is outside in the cold weather, playing with a plastic toy",
        "A dog jumping for a Frisbee in the snow",
    ),
    Example(
        "firefighters",
        "Firefighters: another story",
        "Three firefighters come out of subway station",
        "Three firefighters putting out a fire inside of a subway station",
    ),
    Example(
        "playing-outdoors",
        "Playing outdoors",
        "The young boys are playing outdoors and the man is smiling nearby",
        "The kids are playing outdoors near a man with a smile",
    ),
    Example(
        "negation",
        "One word of negation",
        "A man is playing a guitar on a stage",
        "A man is not playing a guitar",
    ),
    Example(
        "swap",
        "Same words, roles swapped",
        "A woman is photographing a tall man in the park",
        "A tall man is photographing a woman in the park",
    ),
    Example(
        "answer",
        "A question and its answer",
        "how big is Auburndale Florida",
        "The city had a population of 12,381",
    ),
    Example(
        "paraphrase",
        "Two questions",
        "How can I learn to play the guitar by myself?",
        "What is the best way to teach yourself the guitar?",
    ),
)

DEFAULT = EXAMPLES[0]

PHRASE_EXAMPLES: tuple[Example, ...] = (
    Example(
        "entailed",
        "Entailed (figure 1)",
        "The young boys are playing outdoors and the man is smiling nearby",
        "The kids are playing outdoors near a man with a smile",
    ),
    Example(
        "not-entailed",
        "Not entailed (figure 1)",
        "The young boys are playing outdoors and the man is smiling nearby",
        "A group of kids is playing in a yard and an old man is standing in the background",
    ),
    Example(
        "answer",
        "An answer (figure 1)",
        "how big is Auburndale Florida",
        "The city had a population of 12,381",
    ),
    Example(
        "no-answer",
        "No answer (figure 1)",
        "how big is Auburndale Florida",
        "Auburndale is a city in Polk County, Florida",
    ),
    Example(
        "negated",
        "One word of negation",
        "A man is playing a guitar on a stage",
        "A man is not playing a guitar",
    ),
    Example(
        "same-words",
        "Same words, roles swapped",
        "A woman is photographing a tall man in the park",
        "A tall man is photographing a woman in the park",
    ),
    Example("one-word", "One word a side", "dog", "puppy"),
    Example(
        "long",
        "A long answer",
        "what is the largest lake in the state of Florida and how deep is it",
        "Lake Okeechobee, also known as Florida's Inland Sea, is the largest freshwater lake in the state of Florida "
        "and the eighth largest in the United States; it covers about half the area of the state of Rhode Island, and "
        "is exceptionally shallow for a lake of its size, with an average depth of only nine feet",
    ),
)
"""For the page Phrases: the pairs of figure 1 of Yin & Schütze 2017, and others where the two choices part."""


def by_slug(slug: str, examples: Sequence[Example] = EXAMPLES) -> Example | None:
    """The example of this name, or None."""
    return next((example for example in examples if example.slug == slug), None)


def matching(first: str, second: str, examples: Sequence[Example] = EXAMPLES) -> Example | None:
    """The example that holds exactly these sentences, or None."""
    return next((example for example in examples if (example.first, example.second) == (first, second)), None)
