"""Sentence pairs to start from, each with a short name for links."""

from __future__ import annotations

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
)

DEFAULT = EXAMPLES[0]


def by_slug(slug: str) -> Example | None:
    """The example of this name, or None."""
    return next((example for example in EXAMPLES if example.slug == slug), None)


def matching(first: str, second: str) -> Example | None:
    """The example that holds exactly these sentences, or None."""
    return next((example for example in EXAMPLES if (example.first, example.second) == (first, second)), None)
