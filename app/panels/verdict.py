"""The verdict: classes with their probabilities, and the verdict on the judged sentence alone beside it."""

from __future__ import annotations

from typing import Any

from app.palette import class_colours
from core.evidence import Explanation


def payload(explanation: Explanation, alone: Explanation | None = None) -> dict[str, Any]:
    """What the verdict's row draws. ``alone``: what a model says that read the judged sentence only."""
    colours = class_colours(explanation.labels)
    beside = None if alone is None else {"label": alone.verdict, "p": max(alone.probabilities), "model": alone.title}
    return {
        "label": explanation.verdict,
        "classes": [
            {"label": label, "p": p, "light": light, "dark": dark}
            for label, p, (light, dark) in zip(explanation.labels, explanation.probabilities, colours, strict=True)
        ],
        "judged": explanation.judged,
        "alone": beside,
    }
