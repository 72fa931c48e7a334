"""Context for an adapted or trained model's score: simpler models on the same held-out rows, and its learning curve or
epochs."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from core.adaptation.baselines import MOST_ROWS, said
from core.adaptation.curve import Curve
from core.desk import suggestions
from core.desk.adapted_run import ScoreContext, score_context
from core.desk.charts import CONTEXT, SOFT, Chart, Figure
from core.desk.file_state import Guess
from core.desk.run import LETTERS, Run
from core.evaluation.intervals import wilson
from core.training_progress import Epoch
from core.wording import capital, counted, score_percent

_DASHES = [[1, 0], [8, 4], [4, 4], [1, 3]]
"""Dashes of the simpler models' lines, best model first, so that they differ without colours."""


def notes(run: Run) -> list[str]:
    """A sentence per adapted model of the run with the simpler models' scores."""
    found = [
        (letter, score_context(run.folder, model.sha256)) for letter, model in zip(LETTERS, run.models, strict=False)
    ]
    return [f"{letter} compared with {said(one.baselines, one.measure)}" for letter, one in found if one is not None]


def figures(run: Run, model: int) -> list[Figure]:
    """An adapted model's learning curve with the simpler models' scores, or a trained model's epochs; empty for other
    models."""
    known, title = score_context(run.folder, run.models[model].sha256), run.models[model].title
    if known is None:
        return []
    return [_figure(title, known, known.curve)] if known.curve else _epochs(title, known.epochs)


def _epochs(title: str, history: Sequence[Epoch]) -> list[Figure]:
    right, loss = epoch_charts(title, history)
    how = (
        "How often the model was right on the rows that choose the epoch: the best one is kept. This run does not "
        "contain them."
    )
    scores = [(str(one.epoch), score_percent(one.score)) for one in history]
    losses = [(str(one.epoch), f"{one.loss:.3f}") for one in history]
    mean = "The mean loss on the rows that it learned from, by epoch."
    return [
        Figure(f"Epochs of {title}", how, "", ("epoch", "right"), scores, (), right),
        Figure(f"Loss of {title}", mean, "", ("epoch", "loss"), losses, (), loss),
    ]


def epoch_charts(title: str, history: Sequence[Epoch]) -> tuple[Chart, Chart]:
    """The score and the loss after each epoch."""
    rows = [vars(one) for one in history]
    x = alt.X("epoch:Q").axis(tickMinStep=1, format="d", grid=False)
    tips = [
        alt.Tooltip("epoch:Q"),
        alt.Tooltip("score:Q", title="right", format=".1%"),
        alt.Tooltip("loss:Q", format=".3f"),
    ]

    def line(name: str, what: str, form: str) -> Chart:
        y = alt.Y(f"{name}:Q", title=what).scale(zero=False).axis(format=form, tickCount=4, grid=False)
        points = alt.OverlayMarkDef(color=CONTEXT, size=50)
        drawn = alt.Chart({"values": rows}).mark_line(color=CONTEXT, point=points).encode(x=x, y=y, tooltip=tips)
        return alt.layer(drawn).properties(height=170, description=f"{what} by epoch of {title}")

    return line("score", "dev accuracy", ".1~%"), line("loss", "training loss", ".2f")


def of_labels(guesses: Sequence[Guess]) -> list[Figure]:
    """The accuracy, on random rows, of a model that learns from an annotator's labels, by the number of labels; none
    while there is only one point."""
    points = []
    for labels, right, rows in suggestions.curve(guesses):
        low, high = wilson(right, rows)
        points.append({"labels": labels, "right": right / rows, "low": low, "high": high, "rows": rows})
    if len(points) < 2:
        return []
    x = alt.X("labels:Q", title="labels learned from").scale(zero=False).axis(format="d", tickMinStep=1, grid=False)
    y = alt.Y("right:Q", title="right").scale(domain=[0, 1]).axis(format="%", tickCount=4, grid=False)
    shares = [alt.Tooltip(f"{name}:Q", format=".1%") for name in ("right", "low", "high")]
    drawn = alt.Chart({"values": points}).encode(x=x, tooltip=["labels:Q", *shares, "rows:Q"])
    title = "Accuracy by number of labels"
    chart = alt.layer(
        drawn.mark_area(color=CONTEXT, opacity=0.2).encode(y=alt.Y("low:Q"), y2="high:Q"),
        drawn.mark_line(color=CONTEXT, point=alt.OverlayMarkDef(color=CONTEXT, size=50)).encode(y=y),
    ).properties(height=170, description=title)
    lines = []
    for one in points:
        share, least, most = (score_percent(one[name]) for name in ("right", "low", "high"))
        lines.append((f"{one['labels']:.0f}", share, f"{least} – {most}", f"{one['rows']:.0f}"))
    how = "On the random rows, each judged before it was labelled, with its 95 % interval (band)."
    return [Figure(title, how, "", ("labels", "right", "95 % interval", "random rows"), lines, (), chart)]


def _figure(title: str, known: ScoreContext, curve: Curve) -> Figure:
    fewer = f"{MOST_ROWS:,} of the {known.trained_on:,} rows, drawn at random"
    on = fewer if known.trained_on > MOST_ROWS else f"all {known.trained_on:,}"
    how = (
        f"{capital(known.measure)} on the held-out rows by the number of labelled rows that the model learned from "
        f"(line), with its 95 % interval (band); straight lines: simpler models trained on {on}. "
        f"{curve.outlook()}"
    )
    rows = [(counted(one.pairs, "row"), one.score, one.low, one.high) for one in curve.points]
    rows += [(one.name, one.score, one.low, one.high) for one in known.baselines]
    lines = [
        (name, score_percent(score), f"{score_percent(low)} – {score_percent(high)}") for name, score, low, high in rows
    ]
    head = ("trained on, or simpler model", known.measure, "95 % interval")
    return Figure(f"Learning curve of {title}", how, "", head, lines, (), _chart(title, known, curve))


def _chart(title: str, known: ScoreContext, curve: Curve) -> Chart:
    points = [vars(point) for point in curve.points]
    simpler = sorted(known.baselines, key=lambda one: -one.score)
    names = [f"{one.name}, {score_percent(one.score)}" for one in simpler]
    lines = [{"name": name, "score": one.score} for name, one in zip(names, simpler, strict=True)]
    low = min([point["low"] for point in points] + [one.score for one in simpler])
    high = max([point["high"] for point in points] + [one.score for one in simpler])
    share = alt.Scale(domain=[max(0, low - 0.03), min(1, high + 0.03)], nice=False)
    x = alt.X("pairs:Q", title="labelled rows").scale(type="log", nice=False)
    x = x.axis(values=[point["pairs"] for point in points], format=",d", grid=False)
    y = alt.Y("score:Q", title=known.measure, scale=share, axis=alt.Axis(format="%", tickCount=6, grid=False))
    tips = [alt.Tooltip(f"{name}:Q", format=".1%") for name in ("score", "low", "high")]
    drawn = alt.Chart({"values": points}).encode(x=x, tooltip=[alt.Tooltip("pairs:Q", format=","), *tips])
    dash = alt.StrokeDash("name:N", sort=None, scale=alt.Scale(domain=names, range=_DASHES[: len(names)]))
    dash = dash.legend(title=None, orient="bottom", columns=1, labelLimit=400, symbolSize=600, symbolStrokeColor=SOFT)
    return alt.layer(
        drawn.mark_area(color=CONTEXT, opacity=0.2).encode(y=alt.Y("low:Q", scale=share), y2="high:Q"),
        alt.Chart({"values": lines})
        .mark_rule(color=SOFT, strokeWidth=1.5)
        .encode(y=y, strokeDash=dash, tooltip="name:N"),
        drawn.mark_line(color=CONTEXT, point=alt.OverlayMarkDef(color=CONTEXT, size=50)).encode(y=y),
    ).properties(height=400, description=f"Learning curve of {title}: {curve.outlook()}")
