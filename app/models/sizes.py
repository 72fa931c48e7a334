"""Chart of accuracy against size, for all models evaluated on one dev set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import altair as alt
import pandas as pd

from app.model_choice import Card, for_lessons
from app.models import guest
from core.card import details, is_external
from core.desk.charts import SOFT, Chart
from core.models import REGISTRY

DEV = "SNLI dev"
"""The set on which most models were evaluated."""
OURS, PAPERS, PRETRAINED = "extends a paper’s model", "a paper’s model", "pretrained elsewhere"
_COLOURS = {OURS: "#3570b8", PAPERS: "#7c8b9a", PRETRAINED: "#c2500f"}
_SHAPES = {OURS: "circle", PAPERS: "triangle-up", PRETRAINED: "square"}


@dataclass(frozen=True)
class Size:
    """A point: ``parameters`` include the projection of word vectors, ``accuracy`` is in per cent."""

    model: str
    kind: str
    parameters: int
    accuracy: float


def sizes(cards: Mapping[str, Card], folders: Mapping[str, Path]) -> list[Size]:
    """The models with an accuracy on :data:`DEV` and a known size, smallest first; without models for lessons, whose
    accuracy does not matter."""
    found = []
    for name, card in cards.items():
        accuracy = ((card.get("results") or {}).get(DEV) or {}).get("accuracy")
        if is_external(card):
            kind, parameters = PRETRAINED, guest.parameters(folders[name]) or 0
        else:
            weights = details(card).parameters
            kind = OURS if REGISTRY[card["architecture"]].paper.startswith("Extends") else PAPERS
            parameters = weights.model + weights.projection if weights else 0
        if accuracy is not None and parameters and not for_lessons(card):
            found.append(Size(str(card["title"]), kind, parameters, 100 * accuracy))
    return sorted(found, key=lambda size: size.parameters)


def chart(points: list[Size]) -> Chart:
    """The points, with names where accuracy rises by at least one percentage point: others would overlap. Tooltips show
    all."""
    best, named = 0.0, []
    for point in points:
        if point.accuracy >= best + 1:
            best = point.accuracy
            named.append(point)
    x = alt.X("parameters:Q", scale=alt.Scale(type="log", nice=False, padding=45), title="parameters (log scale)")
    x = x.axis(format="~s", tickCount=6)
    y = alt.Y("accuracy:Q", scale=alt.Scale(zero=False, padding=16), title=f"accuracy on {DEV} (%)")
    below = alt.Legend(title=None, orient="bottom", columns=1)
    marks = alt.Chart(pd.DataFrame(points)).mark_point(filled=True, size=90, opacity=0.9)
    marks = marks.encode(
        x, y,
        color=alt.Color("kind:N", scale=alt.Scale(domain=[*_COLOURS], range=[*_COLOURS.values()]), legend=below),
        shape=alt.Shape("kind:N", scale=alt.Scale(domain=[*_SHAPES], range=[*_SHAPES.values()]), legend=below),
        tooltip=["model", "kind", alt.Tooltip("parameters", format=","), alt.Tooltip("accuracy", format=".1f")],
    )  # fmt: skip
    names = alt.Chart(pd.DataFrame(named)).mark_text(dy=-13, color=SOFT).encode(x, y, text="model")
    return alt.layer(marks, names).properties(
        height=420, description="Accuracy of the models against their number of parameters"
    )
