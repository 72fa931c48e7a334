"""A lesson on paper: one HTML page that needs nothing else, with the numbers of the example that is on screen."""

from __future__ import annotations

from collections.abc import Mapping

from core.lessons.formula import mathml
from core.lessons.lesson import Lesson, Values, rounded, said
from core.lessons.sources import Evaluated
from core.templates import render


def handout(lesson: Lesson, evaluated: Evaluated, inputs: Values, texts: Mapping[str, str]) -> str:
    """The lesson with these inputs as an HTML page."""
    return render(
        "handout.html",
        lesson=lesson,
        evaluated=evaluated,
        inputs=inputs,
        texts={**lesson.texts, **texts},
        sides=dict(zip(("first", "second"), evaluated.words.get("sides", ()), strict=False)),
        mathml=mathml,
        rounded=rounded,
        said=said,
    )
