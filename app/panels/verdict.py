"""The verdict: classes with their probabilities, and the verdict on the judged sentence alone beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.palette import class_colours
from core.evidence import Explanation


def class_names(explanation: Explanation) -> tuple[str, ...]:
    """The labels as people read them: those of answer selection's data files are "0" and "1"."""
    if explanation.labels == ("0", "1"):
        role = explanation.judged
        return (f"not {'an' if role[:1] in 'aeiou' else 'a'} {role}", role)
    return explanation.labels


def classes(names: Sequence[str], probabilities: Sequence[float]) -> list[dict[str, Any]]:
    """Each class with its probability and its colour in the light and in the dark theme."""
    return [
        {"label": name, "p": p, "light": light, "dark": dark}
        for name, p, (light, dark) in zip(names, probabilities, class_colours(names), strict=True)
    ]


def payload(explanation: Explanation, alone: Explanation | None = None) -> dict[str, Any]:
    """What the verdict's row draws. ``alone``: what a model says that read the judged sentence only."""
    names = class_names(explanation)
    beside = None if alone is None else {"label": alone.verdict, "p": max(alone.probabilities), "model": alone.title}
    return {
        "label": names[explanation.labels.index(explanation.verdict)],
        "classes": classes(names, explanation.probabilities),
        "judged": explanation.judged,
        "alone": beside,
    }
