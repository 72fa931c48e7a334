"""The verdict: classes with their probabilities, and the verdict on the judged sentence alone beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.examples import Gold
from app.palette import class_colours
from core.evidence import Explanation
from core.evidence.explanation import LABELS, UNFITTED
from core.wording import percent, shown


def class_names(explanation: Explanation) -> tuple[str, ...]:
    """The labels as people read them."""
    return explanation.class_names


RANKED = ("not an answer", "answer")
"""A ranker's classes. Few of a question's candidates are answers, so nearly all are likelier none: the share of the
last is a score among candidates, and no verdict by itself."""


@dataclass(frozen=True)
class Share:
    """A class with its probability and its colour in the light and in the dark theme; ``score``: see RANKED.
    ``said``: of a model with one output its score in words, which is no probability; ``apart``: whether other labels
    may hold beside it."""

    label: str
    p: float
    light: str
    dark: str
    score: bool
    said: str = ""
    apart: bool = False


def classes(names: Sequence[str], probabilities: Sequence[float], answer: str = "") -> tuple[Share, ...]:
    """Each class with its share; ``answer``: what the verdict is (:attr:`core.evidence.Explanation.answer`)."""
    ranked = tuple(names) == RANKED
    said = "" if len(names) > 1 else _score(probabilities[0], answer)
    return tuple(
        Share(name, p, *colours, ranked and name == RANKED[1], said, answer == LABELS)
        for name, p, colours in zip(names, probabilities, class_colours(names), strict=True)
    )


def shares(explanation: Explanation) -> tuple[Share, ...]:
    """The classes of an explanation."""
    return classes(class_names(explanation), explanation.probabilities, explanation.answer)


def _score(value: float, answer: str) -> str:
    return f"{shown(value, 1)}{f'; {UNFITTED}' if answer == UNFITTED else ''}"


def said(explanation: Explanation) -> str:
    """The class that is named first, with its probability, or the score."""
    name, p = headline(explanation)
    return f"{name} {_score(p, explanation.answer) if len(explanation.labels) == 1 else percent(p)}"


def headline(explanation: Explanation) -> tuple[str, float]:
    """The class that is named first, with its probability: the likeliest one, of RANKED always the last."""
    names, probabilities = class_names(explanation), explanation.probabilities
    place = len(names) - 1 if names == RANKED else explanation.labels.index(explanation.verdict)
    return names[place], probabilities[place]


def summary(explanation: Explanation) -> str:
    """The likeliest class with the others that have a share worth naming: film 83 %, album 9 %, artist 3.1 %."""
    shares = sorted(zip(explanation.probabilities, class_names(explanation), strict=True), reverse=True)
    several = len(shares)
    return ", ".join(f"{name} {shown(p, several)}" for i, (p, name) in enumerate(shares[:3]) if p >= 0.01 or not i)


@dataclass(frozen=True)
class Beside:
    """What a model says, for a line beside the verdict; ``said``: of one output its score in words."""

    label: str
    p: float
    model: str
    judged: str
    said: str = ""


def beside(explanation: Explanation | None) -> Beside | None:
    """The line beside the verdict; None where there is no explanation."""
    if explanation is None:
        return None
    first = shares(explanation)[0].said
    return Beside(*headline(explanation), explanation.title, explanation.judged, first)


@dataclass(frozen=True)
class Verdict:
    """What the verdict's row draws. ``alone``: what a model says that read the judged sentence only; ``what_if``: what
    was changed to see what if, where ``trained`` has the classes as the model itself gives them; ``meaning``: of a
    score that is no verdict by itself; ``gold``: what a data set says."""

    label: str
    classes: tuple[Share, ...]
    model: str
    alone: Beside | None = None
    trained: tuple[Share, ...] | None = None
    what_if: str = ""
    meaning: str = ""
    gold: Gold | None = None

    @classmethod
    def of(cls, explanation: Explanation) -> Verdict:
        """The explanation's, with nothing beside it."""
        return cls(headline(explanation)[0], shares(explanation), explanation.title)
