"""Beside the score of an adapted model: simpler models on the same held-out rows, and its learning curve."""

from __future__ import annotations

import altair as alt

from core.adaptation.baselines import said
from core.desk.adapted_run import Beside, beside
from core.desk.charts import CONTEXT, SOFT, Chart, Figure
from core.desk.run import LETTERS, Run
from core.wording import counted, score_percent


def notes(run: Run) -> list[str]:
    """Two sentences on each adapted model of the run: simpler models' scores, and whether more labels would help."""
    found = [(letter, beside(run.folder, model.sha256)) for letter, model in zip(LETTERS, run.models, strict=False)]
    return [f"{letter}: {said(one.baselines)} {one.curve.outlook()}" for letter, one in found if one is not None]


def figures(run: Run, model: int) -> list[Figure]:
    """The learning curve of an adapted model of the run between the simpler models; none for another model."""
    known = beside(run.folder, run.models[model].sha256)
    return [] if known is None else [_figure(run.models[model].title, known)]


def _figure(title: str, known: Beside) -> Figure:
    how = (
        "Accuracy on the held-out rows by the number of labelled rows that the model learned from (line), with its "
        f"95 % interval (band); dashed: simpler models trained on all {known.trained_on:,}. {known.curve.outlook()}"
    )
    rows = [(counted(one.pairs, "row"), one.score, one.low, one.high) for one in known.curve.points]
    rows += [(one.name, one.score, one.low, one.high) for one in known.baselines]
    lines = [
        (name, score_percent(score), f"{score_percent(low)} – {score_percent(high)}") for name, score, low, high in rows
    ]
    head = ("trained on, or simpler model", "right", "95 % interval")
    return Figure(f"Learning curve of {title}", how, "", head, lines, (), _chart(title, known))


def _chart(title: str, known: Beside) -> Chart:
    points = [vars(point) for point in known.curve.points]
    low = min([*(point["low"] for point in points), *(one.score for one in known.baselines)])
    share = alt.Scale(domain=[max(0, low - 0.05), 1], nice=False)
    x = alt.X("pairs:Q", title="labelled rows").scale(type="log", nice=False)
    x = x.axis(values=[point["pairs"] for point in points], format=",d", grid=False)
    y = alt.Y("score:Q", title="right", scale=share, axis=alt.Axis(format="%", tickCount=6))
    tips = [alt.Tooltip("pairs:Q", title="rows", format=",")]
    tips += [alt.Tooltip(f"{name}:Q", format=".1%") for name in ("score", "low", "high")]
    curve = alt.Chart({"values": points}).encode(x=x, tooltip=tips)
    last = known.trained_on
    simple = alt.Chart({"values": [{"name": one.name, "score": one.score, "pairs": last} for one in known.baselines]})
    return alt.layer(
        curve.mark_area(color=CONTEXT, opacity=0.2).encode(y=alt.Y("low:Q", scale=share), y2="high:Q"),
        curve.mark_line(color=CONTEXT, point=alt.OverlayMarkDef(color=CONTEXT, size=50)).encode(y=y),
        simple.mark_rule(color=SOFT, strokeDash=[5, 4]).encode(
            y=y, tooltip=["name:N", alt.Tooltip("score:Q", format=".1%")]
        ),
        simple.mark_text(color=SOFT, align="right", baseline="bottom", dy=-2).encode(x=x, y=y, text="name:N"),
    ).properties(height=300, description=f"Learning curve of {title}: {known.curve.outlook()}")
