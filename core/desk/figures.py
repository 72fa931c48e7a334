"""Tables and figures of a run as HTML, for the page and for the report: every text is escaped.

What can be clicked on the page carries ``data-filter``, the filter that shows its rows; the report has them too, as
text, so both are one drawing. Colours are the custom properties ``--ink``, ``--soft``, ``--line``, ``--context`` and
``--accent`` of whoever embeds them; ``--type``, where it is set, is how many times as large the type is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from core.desk.agreement import TagAgreement
from core.desk.filters import literal
from core.desk.run import Run
from core.desk.slices import Slice, SliceScore
from core.evaluation.reliability import McNemar, Reliability
from core.evaluation.scores import Ranking, classification
from core.wording import counted, percent, score_percent

STYLE = """
.desk { color: var(--ink); font-size: calc(14px * var(--type, 1)); line-height: 1.35; }
.desk * { box-sizing: border-box; }
.desk h3 { font-size: calc(15px * var(--type, 1)); font-weight: 600; margin: 0; }
.desk p.how { margin: 1px 0 6px; font-size: calc(13px * var(--type, 1)); color: var(--soft); max-width: 80ch; }
.desk table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.desk th, .desk td { border: 0; border-bottom: 1px solid var(--line); padding: 3px 12px 3px 0; text-align: left;
  font-weight: 400; vertical-align: middle; overflow-wrap: anywhere; }
.desk thead th { color: var(--soft); font-size: calc(12.5px * var(--type, 1)); vertical-align: bottom; }
.desk .number { text-align: right; white-space: nowrap; }
.desk .wide { width: 100%; }
.desk button { font: inherit; color: inherit; background: none; border: 0; padding: 0; margin: 0; cursor: pointer;
  text-align: inherit; width: 100%; }
.desk .link { margin: 8px 0 0; } .desk .link button { width: auto; text-decoration: underline; }
.desk button:hover { text-decoration: underline; }
.desk button:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.desk .matrix td.cell { border: 2px solid var(--paper); padding: 0; text-align: center;
  min-width: calc(66px * var(--type, 1)); height: calc(46px * var(--type, 1));
  background: color-mix(in srgb, var(--context) calc(var(--share) * 45%), var(--wash)); }
.desk .matrix td.cell > * { display: block; width: 100%; height: 100%; padding: 4px 6px; text-align: center; }
.desk .matrix td.right { box-shadow: inset 0 0 0 1.5px var(--soft); }
.desk .matrix th { border: 0; font-size: calc(13px * var(--type, 1)); overflow-wrap: break-word; }
.desk .matrix small { display: block; font-size: calc(12px * var(--type, 1)); }
.desk .soft { color: var(--soft); }
.desk .bar { position: relative; display: block; height: 14px; min-width: 90px; background: var(--wash); }
.desk .bar i { position: absolute; top: 6px; height: 2px; background: var(--context); }
.desk .bar b { position: absolute; top: 2px; width: 3px; height: 10px; margin-left: -1px; background: var(--ink); }
.desk .bar u { position: absolute; top: 0; width: 1px; height: 14px; background: var(--soft); }
.desk figure { margin: 0; }
.desk svg { display: block; max-width: 100%; height: auto; }
.desk svg text { fill: var(--soft); font-size: 12px; font-family: inherit; }
.desk .scroll { overflow-x: auto; }
@media (max-width: 640px) { .desk .narrow-off { display: none; } .desk .matrix td.cell { min-width: 52px; } }
"""


def _filtering(text: str, expression: str, label: str = "") -> str:
    """What shows the rows of a filter when it is clicked."""
    name = f' aria-label="{escape(label)}"' if label else ""
    return f'<button type="button" data-filter="{escape(expression)}"{name}>{text}</button>'


def heading(title: str, how: str) -> str:
    """A figure's title and the line that says how to read it."""
    return f'<h3>{escape(title)}</h3><p class="how">{escape(how)}</p>'


def confusion(run: Run, model: int, rows: np.ndarray, names: Mapping[str, str]) -> str:
    """Counts by gold label and by what the model says, of ``rows`` (bool ``[N]``); its cells filter. ``names``: labels
    as people read them."""
    predictions, number = run.models[model], "" if model == 0 else str(model + 1)
    labels = list(predictions.labels)
    gold, said = run.gold[rows], predictions.predicted[rows]
    head = "".join(f'<th scope="col" class="number">{escape(names[label])}</th>' for label in labels)
    body = ""
    for label in labels:
        own = gold == label
        total, cells = int(own.sum()), ""
        for other in labels:
            count = int((own & (said == other)).sum())
            share = count / total if total else 0.0
            expression = f"gold = {literal(label)} and predicted{number} = {literal(other)}"
            text = f"{count:,}<small>{f'{100 * share:.0f} %' if total else '–'}</small>"
            spoken = f"{counted(count, 'row')} of gold {label} for which it says {other}"
            kind = "cell right" if other == label else "cell"
            cells += f'<td class="{kind}" style="--share:{share:.3f}">{_filtering(text, expression, spoken)}</td>'
        body += f'<tr><th scope="row">{escape(names[label])}</th>{cells}</tr>'
    how = "Rows: the file’s label; columns: what the model says; shares are of a row. A cell shows its rows."
    table = f'<table class="matrix"><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>'
    return heading(f"Confusion of {predictions.title}", how) + f'<div class="scroll">{table}</div>'


def classes(run: Run, model: int, rows: np.ndarray, names: Mapping[str, str]) -> str:
    """Precision, recall and F1 of each class, with accuracy and macro-F1; ``names`` as in :func:`confusion`."""
    predictions = run.models[model]
    index, rows = {label: i for i, label in enumerate(predictions.labels)}, rows & run.judged
    gold = np.array([index[label] for label in run.gold[rows]])
    if not len(gold):
        return heading(f"Classes of {predictions.title}", "No row is left to score.")
    scores = classification(gold, predictions.best[rows], predictions.labels)
    said = np.bincount(predictions.best[rows], minlength=len(predictions.labels))
    lines = []
    for (label, own), times in zip(scores["classes"].items(), said.tolist(), strict=True):
        # What would be divided by no rows is no number.
        bases = {"precision": times, "recall": own["items"], "f1": times + own["items"]}
        parts = [score_percent(own[key]) if base else "–" for key, base in bases.items()]
        lines.append((names[label], *parts, f"{own['items']:,}"))
    accuracy, f1 = (score_percent(scores[key]) for key in ("accuracy", "macro_f1"))
    how = f"Accuracy {accuracy}, macro-F1 {f1} of {counted(len(gold), 'row')}."
    return heading(f"Classes of {predictions.title}", how) + _table(
        ("class", "precision", "recall", "F1", "rows"), lines
    )


def ranked(title: str, score: Ranking) -> str:
    """MAP and MRR of a ranking set."""
    how = f"MAP {score.map:.4f}, MRR {score.mrr:.4f} of {counted(score.questions, 'question')}; {score.skipped:,} "
    return heading(f"Ranking by {title}", how + "without a right answer left out.")


CHOSEN = (
    "Only of the rows that the filter leaves: rows chosen for what a model says, or for being wrong, do not show how "
    "far its confidence can be believed."
)


def calibration(title: str, measured: Reliability, chosen: bool = False) -> str:
    """The share that is right by confidence, as a figure; the diagonal is where a calibrated model's points lie.
    ``chosen``: whether a filter chose the rows, which is said."""
    size, left, top = 220, 40, 10

    def at(confidence: float, accuracy: float) -> tuple[float, float]:
        return left + confidence * size, top + (1 - accuracy) * size

    parts = []
    for tick in (0, 0.25, 0.5, 0.75, 1):
        (x, _), (_, y) = at(tick, 0), at(0, tick)
        parts.append(f'<line x1="{left}" x2="{left + size}" y1="{y}" y2="{y}" stroke="var(--line)"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{tick * 100:.0f}</text>')
        parts.append(f'<text x="{x}" y="{top + size + 16}" text-anchor="middle">{tick * 100:.0f}</text>')
    (x1, y1), (x2, y2) = at(0, 0), at(1, 1)
    parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="var(--soft)" stroke-dasharray="4 4"/>')
    points = [at(b.confidence, b.accuracy) for b in measured.bins]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts.append(f'<polyline points="{path}" fill="none" stroke="var(--context)" stroke-width="2"/>')
    most = max((b.items for b in measured.bins), default=1)
    for (x, y), b in zip(points, measured.bins, strict=True):
        radius = 2.5 + 5 * (b.items / most) ** 0.5
        confidence = escape(percent(b.confidence))
        said = f"{counted(b.items, 'row')}, mean confidence {confidence}, right {score_percent(b.accuracy)}"
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="var(--context)"><title>{said}</title></circle>'
        )
    parts.append(f'<text x="{left + size / 2}" y="{top + size + 34}" text-anchor="middle">confidence, %</text>')
    drawn = f'<svg viewBox="0 0 {left + size + 16} {top + size + 42}" role="img" '
    drawn += f'style="width:calc({left + size + 16}px * var(--type, 1))" '
    drawn += f'aria-label="Calibration of {escape(title)}">{"".join(parts)}</svg>'
    how = "Height: the share that is right; a larger point stands for more rows. "
    how += f"ECE {score_percent(measured.ece)} (15 bins).{' ' + CHOSEN if chosen else ''}"
    return heading(f"Calibration of {title}", how) + f"<figure>{drawn}</figure>"


def slices(title: str, scores: Sequence[SliceScore], measure: str, unit: str = "rows") -> str:
    """Each slice's score with its interval and the others', the most telling first."""
    body = ""
    for score in scores:
        own = score.slice
        bar = (
            f'<i style="left:{100 * score.low:.1f}%;width:{100 * (score.high - score.low):.1f}%"></i>'
            f'<u style="left:{100 * score.outside:.1f}%"></u><b style="left:{100 * score.score:.1f}%"></b>'
        )
        body += (
            f'<tr><th scope="row">{_filtering(f"{escape(own.dimension)}: <b>{escape(own.value)}</b>", own.expression)}'
            f'</th><td class="number">{score.items:,}</td><td class="number">{score_percent(score.score)}</td>'
            f'<td class="narrow-off number soft">{score_percent(score.low)} – {score_percent(score.high)}</td>'
            f'<td class="narrow-off"><span class="bar">{bar}</span></td>'
            f'<td class="number">{score_percent(score.outside)}</td>'
            f'<td class="number narrow-off">{score.weight:.2f}</td></tr>'
        )
    head = (
        f'<th scope="col">slice</th><th scope="col" class="number">{unit}</th>'
        f'<th scope="col" class="number">{measure}</th>'
        '<th scope="col" class="narrow-off number">95 % interval</th><th scope="col" class="narrow-off">0 to 100 %</th>'
        '<th scope="col" class="number">outside</th><th scope="col" class="number narrow-off">weight</th>'
    )
    how = (
        f"{measure.capitalize()} in each slice (thick mark) with its 95 % interval, and outside of it (thin line); "
        "sorted by |error in the slice − error outside| × √n. A slice’s name shows its rows."
    )
    return heading(f"Slices of {title}", how) + _whole(head, body)


def against(run: Run, first: int, second: int, test: McNemar) -> str:
    """Who is right where, with McNemar's test."""
    a, b = (run.models[i] for i in (first, second))
    names = ["right" + ("" if i == 0 else str(i + 1)) for i in (first, second)]
    cells = [
        ("Both right", test.both, f"{names[0]} and {names[1]}"),
        (f"Only {a.title}", test.only_first, f"{names[0]} and not {names[1]}"),
        (f"Only {b.title}", test.only_second, f"{names[1]} and not {names[0]}"),
        ("Neither", test.neither, f"not {names[0]} and not {names[1]}"),
    ]
    body = "".join(
        f'<tr><th scope="row">{_filtering(escape(what), expression)}</th><td class="number">{count:,}</td></tr>'
        for what, count, expression in cells
    )
    p = "p < .0001" if test.p < 1e-4 else f"p = {test.p:.4f}"
    how = f"McNemar’s exact test of whether both err equally often: {p}. Click a line to see its rows."
    return heading(f"{a.title} against {b.title}", how) + f"<table><tbody>{body}</tbody></table>"


def differing(run: Run, first: int, second: int) -> str:
    """A link to the rows for which two models say different things."""
    a, b = (run.models[i] for i in (first, second))
    names = ["predicted" + ("" if i == 0 else str(i + 1)) for i in (first, second)]
    count = counted(int((a.predicted != b.predicted).sum()), "row")
    link = _filtering(escape(f"{count} for which {a.title} and {b.title} say different things"), " != ".join(names))
    return f'<p class="link">{link}</p>'


def agreements(rows: Sequence[TagAgreement]) -> str:
    """Agreement of annotators on each tag."""

    def value(number: float | None) -> str:
        return "–" if number is None else f"{number:.2f}".replace("-", "−")

    lines = [(r.tag, f"{r.rows:,}", f"{r.given:,}", f"{r.agreed:,}", value(r.kappa), value(r.alpha)) for r in rows]
    how = "Over rows that two annotators or more looked at. κ: Cohen’s, of two annotators; α: Krippendorff’s, of more."
    head = ("tag", "rows", "given by any", "all agree", "κ", "α")
    return heading("Agreement by tag", how) + (_table(head, lines) if lines else "")


def tags_by_slice(parts: Sequence[Slice], tags: Mapping[str, np.ndarray]) -> str:
    """How many rows of each slice have each tag (``tags``: bool ``[N]`` by name)."""
    head = '<th scope="col">slice</th>' + "".join(f'<th scope="col" class="number">{escape(tag)}</th>' for tag in tags)
    body = ""
    for part in parts:
        cells = ""
        for tag, rows in tags.items():
            count = int((part.rows & rows).sum())
            shown = _filtering(f"{count:,}", f"{part.expression} and tag = {literal(tag)}") if count else "0"
            cells += f'<td class="number{"" if count else " soft"}">{shown}</td>'
        body += f'<tr><th scope="row">{escape(part.dimension)}: <b>{escape(part.value)}</b></th>{cells}</tr>'
    how = "Rows of a slice with each tag; a number shows them."
    return heading("Tags by slice", how) + _whole(head, body)


def _whole(head: str, body: str) -> str:
    table = f'<table class="wide"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="scroll">{table}</div>'


def _table(head: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    """A table whose first column is text and all others are numbers."""
    top = "".join(f'<th scope="col"{" class=number" if i else ""}>{escape(n)}</th>' for i, n in enumerate(head))
    body = "".join(
        f'<tr><th scope="row">{escape(str(name))}</th>'
        + "".join(f'<td class="number">{escape(str(cell))}</td>' for cell in cells)
        + "</tr>"
        for name, *cells in lines
    )
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
