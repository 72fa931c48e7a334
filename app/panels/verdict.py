"""The verdict: classes with their probabilities, and the verdict on the judged sentence alone beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.palette import FIVE_SENTIMENTS, class_colours
from core.evidence import Explanation


def class_names(explanation: Explanation) -> tuple[str, ...]:
    """The labels as people read them; where both sides are judged, by the second one's role."""
    sides = (explanation.first.role, explanation.second.role)
    return readable(explanation.labels, explanation.judged if explanation.judged in sides else sides[1])


def readable(labels: tuple[str, ...], judged: str) -> tuple[str, ...]:
    """Labels as people read them: data files of answer selection and of paraphrases have "0" and "1", those of reviews
    "neg" and "pos", SST-5 "0" to "4"."""
    if labels == ("0", "1", "2", "3", "4"):
        return tuple(FIVE_SENTIMENTS)
    if labels != ("0", "1"):
        return tuple({"neg": "negative", "pos": "positive"}.get(label, label) for label in labels)
    name = "paraphrase" if judged in ("first", "second") or judged[-1:].isdigit() else judged
    return (f"not {'an' if name[:1] in 'aeiou' else 'a'} {name}", name)


def classes(names: Sequence[str], probabilities: Sequence[float]) -> list[dict[str, Any]]:
    """Each class with its probability and its colour in the light and in the dark theme."""
    return [
        {"label": name, "p": p, "light": light, "dark": dark}
        for name, p, (light, dark) in zip(names, probabilities, class_colours(names), strict=True)
    ]


def summary(explanation: Explanation) -> str:
    """The likeliest class with the others that have a share worth naming: film 83 %, album 9 %, artist 3.1 %."""
    shares = sorted(zip(explanation.probabilities, class_names(explanation), strict=True), reverse=True)
    return ", ".join(f"{name} {percent(p)}" for i, (p, name) in enumerate(shares[:3]) if p >= 0.01 or not i)


def percent(share: float) -> str:
    """As many digits as a share deserves, as the components' own ``percent``: 46 %, 4.6 %, 99.6 %, > 99.9 %."""
    value = 100 * share
    if 0 < value < 0.1 or 99.9 < value < 100:
        return "< 0.1\u00a0%" if value < 1 else "> 99.9\u00a0%"
    return f"{value:.{1 if 0 < value < 9.95 or 99.5 <= value < 100 else 0}f}\u00a0%"


def payload(
    explanation: Explanation, alone: Explanation | None = None, trained: Explanation | None = None
) -> dict[str, Any]:
    """What the verdict's row draws. ``alone``: what a model says that read the judged sentence only; ``trained``: what
    the model says itself, where the explanation is one of what if."""
    names = class_names(explanation)

    def beside(other: Explanation | None) -> dict[str, Any] | None:
        if other is None:
            return None
        return {"label": class_names(other)[other.labels.index(other.verdict)], "p": max(other.probabilities),
                "model": other.title, "judged": other.judged}  # fmt: skip

    return {
        "label": names[explanation.labels.index(explanation.verdict)],
        "classes": classes(names, explanation.probabilities),
        "model": explanation.title,
        "alone": beside(alone),
        "trained": beside(trained),
    }
