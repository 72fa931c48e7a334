"""The verdict: classes with their probabilities, next to the verdict on the judged sentence alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.examples import Gold
from app.palette import class_colours
from core.evidence import Explanation
from core.evidence.explanation import LABELS, UNFITTED
from core.wording import percent, shown

RANKED = ("not an answer", "answer")
"""A ranker's classes. Few of a question's candidates are answers, so most are more likely not to be: the probability of
the last class is a score for ranking candidates, not a verdict."""


@dataclass(frozen=True)
class ClassShare:
    """A class with its probability and its colour in the light and dark theme; ``score``: see RANKED. ``said``: for a
    model with one output, its score in words, which is not a probability; ``apart``: whether other labels may hold as
    well."""

    label: str
    p: float
    light: str
    dark: str
    score: bool
    said: str = ""
    apart: bool = False


def classes(names: Sequence[str], probabilities: Sequence[float], answer: str = "") -> tuple[ClassShare, ...]:
    """Each class with its share; ``answer``: the kind of verdict (:attr:`core.evidence.Explanation.answer`)."""
    ranked = tuple(names) == RANKED
    said = "" if len(names) > 1 else _score(probabilities[0], answer)
    return tuple(
        ClassShare(name, p, *colours, ranked and name == RANKED[1], said, answer == LABELS)
        for name, p, colours in zip(names, probabilities, class_colours(names), strict=True)
    )


def shares(explanation: Explanation) -> tuple[ClassShare, ...]:
    """The classes of an explanation."""
    return classes(explanation.class_names, explanation.probabilities, explanation.answer)


def _score(value: float, answer: str) -> str:
    return f"{shown(value, 1)}{f'; {UNFITTED}' if answer == UNFITTED else ''}"


def said(explanation: Explanation) -> str:
    """The class named first, with its probability, or the score."""
    name, p = headline(explanation)
    return f"{name} {_score(p, explanation.answer) if len(explanation.labels) == 1 else percent(p)}"


def headline(explanation: Explanation) -> tuple[str, float]:
    """The class named first, with its probability: the most probable one, or for RANKED always the last."""
    names, probabilities = explanation.class_names, explanation.probabilities
    place = len(names) - 1 if names == RANKED else explanation.labels.index(explanation.verdict)
    return names[place], probabilities[place]


def summary(explanation: Explanation) -> str:
    """The most probable class, followed by others with a notable share: film 83 %, album 9 %, artist 3.1 %."""
    shares = sorted(zip(explanation.probabilities, explanation.class_names, strict=True), reverse=True)
    several = len(shares)
    return ", ".join(f"{name} {shown(p, several)}" for i, (p, name) in enumerate(shares[:3]) if p >= 0.01 or not i)


@dataclass(frozen=True)
class TextAlone:
    """A model's prediction, for a line next to the verdict; ``said``: for one output, its score in words."""

    label: str
    p: float
    model: str
    judged: str
    said: str = ""


def text_alone(explanation: Explanation | None) -> TextAlone | None:
    """The line next to the verdict; None without an explanation."""
    if explanation is None:
        return None
    first = shares(explanation)[0].said
    return TextAlone(*headline(explanation), explanation.title, explanation.judged, first)


@dataclass(frozen=True)
class Correct:
    """The classes of a model by their names on screen, and the one that the user said is right, if any."""

    names: Mapping[str, str]
    label: str = ""


@dataclass(frozen=True)
class Verdict:
    """The data for the verdict's row. ``alone``: the prediction of a model that read only the judged sentence;
    ``what_if``: the changes made, in which case ``trained`` has the model's original class probabilities; ``meaning``:
    explains a score that is not a verdict; ``gold``: the label in a data set; ``correct``: the classes that the user
    can say are right, None where the verdict cannot be corrected."""

    label: str
    classes: tuple[ClassShare, ...]
    model: str
    alone: TextAlone | None = None
    trained: tuple[ClassShare, ...] | None = None
    what_if: str = ""
    meaning: str = ""
    gold: Gold | None = None
    correct: Correct | None = None

    @classmethod
    def of(cls, explanation: Explanation) -> Verdict:
        """The explanation's own verdict, with nothing next to it."""
        return cls(headline(explanation)[0], shares(explanation), explanation.title)
