"""Tables and figures of a run as HTML, for the page and for the report.

What can be clicked on the page carries ``data-filter``, the filter that shows its rows; the report has them too, as
text, so both are one drawing. Colours are the custom properties ``--ink``, ``--soft``, ``--line``, ``--context`` and
``--accent`` of whoever embeds them; ``--type``, where it is set, is how many times as large the type is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from core.desk.agreement import TagAgreement
from core.desk.filters import literal
from core.desk.run import Run, column_of
from core.desk.slices import Slice, SliceScore
from core.desk.strongest_words import WordScores
from core.evaluation.reliability import McNemar, Reliability
from core.evaluation.scores import Ranking, classification
from core.templates import render
from core.wording import counted, score_percent, with_label

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


def confusion(run: Run, model: int, rows: np.ndarray, names: Mapping[str, str]) -> Markup:
    """Counts by gold label and by the model's answer, of ``rows`` (bool ``[N]``); its cells filter. ``names``: answers
    as people read them."""
    predictions, rows = run.models[model], rows & run.judged
    answers = predictions.scale.names
    counts = Counter(zip(run.gold_answers[model][rows].tolist(), predictions.answered[rows].tolist(), strict=True))
    column = column_of("predicted_label" if predictions.scale.several else "predicted", model)
    lines = []
    for gold, name in enumerate(answers):
        total = sum(counts[gold, answer] for answer in range(len(answers)))
        labels = [literal(label) for label in run.labels_of(model, gold)] or [literal(name)]
        of_gold = f"gold in ({', '.join(labels)})" if len(labels) > 1 else f"gold = {labels[0]}"
        cells = []
        for answer, label in enumerate(answers):
            count = counts[gold, answer]
            expression = f"{of_gold} and {column} = {literal(label)}"
            cells.append((label, count, count / total if total else None, expression))
        lines.append((name, cells))
    how = "Rows: gold label; columns: prediction; percentages are per row. A cell shows its rows."
    if predictions.scale.several:
        how += " A prediction is the label whose classes have the largest sum of probabilities."
    return render("desk/confusion.html", title=predictions.title, how=how, labels=answers, names=names, rows=lines)


def classes(run: Run, model: int, rows: np.ndarray, names: Mapping[str, str]) -> Markup:
    """Precision, recall and F1 of each answer, with accuracy and macro-F1; ``names`` as in :func:`confusion`."""
    predictions, judged = run.models[model], rows & run.judged
    gold, answered, scale = run.gold_answers[model][judged], predictions.answered[judged], predictions.scale
    title = f"Classes of {predictions.title}"
    if not len(gold):
        return render("desk/table.html", title=title, how="No row is left to score.", lines=())
    scores = classification(gold, answered, scale.names)
    predicted = np.bincount(answered, minlength=len(scale.names))
    lines = []
    for (label, own), times in zip(scores["classes"].items(), predicted.tolist(), strict=True):
        # What would be divided by no rows is no number.
        bases = {"precision": times, "recall": own["items"], "f1": times + own["items"]}
        parts = [score_percent(own[key]) if base else "–" for key, base in bases.items()]
        lines.append((names[label], *parts, f"{own['items']:,}"))
    accuracy, f1 = (score_percent(scores[key]) for key in ("accuracy", "macro_f1"))
    how = f"Accuracy {accuracy}, macro-F1 {f1}; {with_label(len(gold), int(rows.sum()))}."
    if scale.several:
        first = classification(gold, scale.of_classes(predictions.best[judged]), scale.names)
        accuracy, f1 = (score_percent(first[key]) for key in ("accuracy", "macro_f1"))
        how += f" Taking the likeliest class first: accuracy {accuracy}, macro-F1 {f1}."
    head = ("class", "precision", "recall", "F1", "rows")
    return render("desk/table.html", title=title, how=how, head=head, lines=lines)


def ranked(title: str, score: Ranking) -> Markup:
    """MAP and MRR of a ranking set."""
    how = f"MAP {score.map:.4f}, MRR {score.mrr:.4f} of {counted(score.questions, 'question')}; {score.skipped:,} "
    how += "without a right answer left out."
    return render("desk/table.html", title=f"Ranking by {title}", how=how, lines=())


CHOSEN = (
    "Only of the rows that the filter leaves: rows chosen for what a model says, or for being wrong, do not show how "
    "far its confidence can be believed."
)


def calibration(title: str, measured: Reliability, chosen: bool = False) -> Markup:
    """The share that is right by confidence, as a figure; the diagonal is where a calibrated model's points lie.
    ``chosen``: whether a filter chose the rows, which is said."""
    how = "Height: the share that is right; a larger point stands for more rows. "
    how += f"ECE {score_percent(measured.ece)} (15 bins).{' ' + CHOSEN if chosen else ''}"
    return render("desk/calibration.html", title=title, how=how, bins=measured.bins)


def slices(title: str, scores: Sequence[SliceScore], measure: str, unit: str = "rows") -> Markup:
    """Each slice's score with its interval and the others', the most telling first."""
    return render("desk/slices.html", title=title, scores=scores, measure=measure, unit=unit)


def strongest_words(title: str, known: WordScores, rows: int, most: int, way: str) -> Markup:
    """How often each word is the strongest of its row, and how often a model is wrong there, the ``most`` first.
    ``rows``: rows of the file with a label; ``way``: how words were taken away, in words."""
    of = f"all {known.rows:,}" if known.rows == rows else f"a random sample of {known.rows:,} of {rows:,}"
    how = (
        f"Of {of} rows {score_percent(known.share)} are wrong (thin line). A row counts for the word whose loss costs "
        f"what the model says most (log p before minus after the word is {way}); the share wrong of these rows is the "
        "thick mark, with its 95 % interval. Those of the most wrong rows come first; a word shows its rows. Among so "
        "many words some lie off the line by chance."
    )
    if known.without:
        how += f" In {counted(known.without, 'row')} no word supports what the model says."
    if len(known.words) > most:
        how += f" Shown are {most} of {len(known.words):,} words."
    return render("desk/strongest_words.html", title=title, known=known, how=how, most=most)


def against(run: Run, first: int, second: int, test: McNemar) -> Markup:
    """Who is right where, with McNemar's test."""
    a, b = (run.models[i].title for i in (first, second))
    columns = [column_of("right", i) for i in (first, second)]
    return render("desk/against.html", first=a, second=b, columns=columns, test=test)


def differing(run: Run, first: int, second: int) -> Markup:
    """A link to the rows for which two models say different things."""
    a, b = (run.models[i] for i in (first, second))
    expression = f"{column_of('predicted', first)} != {column_of('predicted', second)}"
    count = int((a.predicted != b.predicted).sum())
    return render("desk/differing.html", first=a.title, second=b.title, count=count, expression=expression)


def agreements(rows: Sequence[TagAgreement]) -> Markup:
    """Agreement of annotators on each tag."""

    def value(number: float | None) -> str:
        return "–" if number is None else f"{number:.2f}".replace("-", "−")

    lines = [(r.tag, f"{r.rows:,}", f"{r.given:,}", f"{r.agreed:,}", value(r.kappa), value(r.alpha)) for r in rows]
    how = "Over rows that two annotators or more looked at. κ: Cohen’s, of two annotators; α: Krippendorff’s, of more."
    head = ("tag", "rows", "given by any", "all agree", "κ", "α")
    return render("desk/table.html", title="Agreement by tag", how=how, head=head, lines=lines)


def tags_by_slice(parts: Sequence[Slice], counts: Sequence[Mapping[str, int]]) -> Markup:
    """How many rows of each slice have each tag."""
    rows = []
    for part, by_tag in zip(parts, counts, strict=True):
        rows.append((part, [(count, f"{part.expression} and tag = {literal(tag)}") for tag, count in by_tag.items()]))
    return render("desk/tags_by_slice.html", tags=list(counts[0]), rows=rows)
