"""Figures of a run, for the page and the report: Altair charts whose marks have filters, and tables.

Clicking a mark selects its ``filter`` under the name :data:`PICKED`. Every chart's numbers are also available as a
table with a filter per line, so that nothing requires a pointer or sight.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import altair as alt
import numpy as np
from markupsafe import Markup

from core.desk.agreement import MarkAgreement
from core.desk.file_state import RowState
from core.desk.filters import literal
from core.desk.perturbations import SAME, TOLERANCE
from core.desk.run import Run, column_of
from core.desk.slices import Items, Share, SliceScore
from core.desk.strongest_words import LEAST_ROWS, WordScores
from core.evaluation.reliability import Reliability
from core.evaluation.scores import classification, correlations, in_words, ranking
from core.wording import capital, counted, score_percent, with_label

Chart = alt.LayerChart | alt.FacetChart
PICKED = "picked"
"""The selection made by clicking a mark."""
CONTEXT, SOFT = "#3570b8", "#7c8b9a"
"""Colours of marks and of their reference values; visible in both themes."""
MOST_CLASSES, MOST_CONFUSED = 20, 100
"""The classes up to which a matrix can be read, and the number of confusions listed for more."""
_CLICK_A_BAR = "Click a bar to see its rows."
CHOSEN = (
    "Computed on the filtered rows only: rows selected by prediction or by error do not show how reliable the model’s "
    "confidence is."
)


@dataclass(frozen=True)
class Figure:
    """A title, a caption, a chart, and table lines with the filter for the rows of each; ``chart``, ``lines`` and
    ``filters`` are optional."""

    title: str
    how: str
    click: str = ""
    """The effect of a click, shown only on the page."""
    head: tuple[str, ...] = ()
    lines: Sequence[tuple[str, ...]] = ()
    filters: Sequence[str] = ()
    chart: Chart | None = None

    def svg(self) -> Markup:
        """The chart as an image on a white background; empty if there is none."""
        if self.chart is None:
            return Markup()
        picture = io.StringIO()
        self.chart.configure(background="#ffffff").save(picture, format="svg")
        return Markup(re.sub(r' xmlns(:\w+)?="[^"]*"', "", picture.getvalue()))


def confusion(run: Run, model: int, rows: np.ndarray, names: Mapping[str, str]) -> Figure:
    """Counts by gold label and prediction over ``rows`` (bool ``[N]``). ``names``: display names of the classes."""
    predictions, rows = run.models[model], rows & run.judged
    answers = predictions.scale.names
    pairs = run.gold_answers[model][rows] * len(answers) + predictions.answered[rows]
    counts = np.bincount(pairs, minlength=len(answers) ** 2).reshape(len(answers), -1).tolist()
    column = column_of("predicted_label" if predictions.scale.several else "predicted", model)
    cells, sizes, few = list[_Cell](), list[int](), len(answers) <= MOST_CLASSES
    for gold, name in enumerate(answers):
        total = sum(counts[gold])
        labels = [literal(label) for label in run.labels_of(model, gold)] or [literal(name)]
        of_gold = f"gold in ({', '.join(labels)})" if len(labels) > 1 else f"gold = {labels[0]}"
        for answer, label in enumerate(answers):
            if not few and (gold == answer or not counts[gold][answer]):
                continue
            count, share = counts[gold][answer], counts[gold][answer] / total if total else None
            expression = f"{of_gold} and {column} = {literal(label)}"
            shown = (f"{count:,}", "–" if share is None else f"{100 * share:.0f} %")
            cells.append(_Cell(names[name], names[label], share or 0, shown, expression))
            sizes.append(count)
    how = "Rows: gold label; columns: prediction; percentages are per row."
    if predictions.scale.several:
        how += " A prediction is the label whose classes have the largest sum of probabilities."
    axes, head = ("gold label", "prediction"), ("gold", "prediction", "rows", "share")
    if few:
        return _matrix(f"Confusion of {predictions.title}", how, axes, head, cells)
    largest = [cells[at] for at in sorted(range(len(cells)), key=lambda at: -sizes[at])[:MOST_CONFUSED]]
    lines, filters = [(cell.row, cell.column, *cell.shown) for cell in largest], [cell.filter for cell in largest]
    how = f"The most frequent errors among {len(answers)} classes; percentages are of the gold label’s rows."
    return Figure(f"Confusion of {predictions.title}", how, "Select a line to see its rows.", head, lines, filters)


def classes(run: Run, model: int, rows: np.ndarray, names: Mapping[str, str]) -> Figure:
    """Precision, recall and F1 of each class, with all measures; ``names`` as in :func:`confusion`."""
    predictions, judged = run.models[model], rows & run.judged
    gold, answered, scale = run.gold_answers[model][judged], predictions.answered[judged], predictions.scale
    title = f"Classes of {predictions.title}"
    if not len(gold):
        return Figure(title, "No row is left to score.")
    scores = classification(gold, answered, scale.names)
    predicted = np.bincount(answered, minlength=len(scale.names))
    lines = []
    for (label, score), times in zip(scores["classes"].items(), predicted.tolist(), strict=True):
        # A share of zero rows has no value.
        bases = {"precision": times, "recall": score["items"], "f1": times + score["items"]}
        parts = [score_percent(score[key]) if base else "–" for key, base in bases.items()]
        lines.append((names[label], *parts, f"{score['items']:,}"))
    how = f"{capital(in_words(scores))}; {with_label(len(gold), int(rows.sum()))}."
    if scale.several:
        first = classification(gold, scale.of_classes(predictions.best[judged]), scale.names)
        how += f" Taking the likeliest class first: {in_words(first)}."
    return Figure(title, how, "", ("class", "precision", "recall", "F1", "rows"), lines)


def headline(run: Run, model: int) -> str:
    """A model's score with its 95 % interval; empty if the rows have no labels."""
    if grades := run.grades(model):
        lines = correlation("", *grades).lines
        return ", ".join(f"{name} {value} ({low} – {high})" for name, value, low, high in lines) or "no correlation"
    if not run.labelled:
        return ""
    score, low, high = Items.of(run, model).mean
    if run.ranks(model):
        return f"MAP {score:.4f} ({low:.4f} – {high:.4f})"
    predictions, first = run.models[model], ""
    if predictions.scale.several:
        by_class = predictions.scale.of_classes(predictions.best) == run.gold_answers[model]
        first = f", {score_percent(float(by_class[run.judged].mean()))} by the likeliest class first"
    return f"{score_percent(score)} right ({100 * low:.1f} – {100 * high:.1f}){first}"


def ranked(run: Run, model: int) -> Figure:
    """MAP, with its 95 % interval, and MRR of a ranking set."""
    score = ranking(*run.answers(model))
    how = (
        f"{headline(run, model)} with its 95 % interval, MRR {score.mrr:.4f} of "
        f"{counted(score.questions, 'question')}; "
        f"{score.skipped:,} without a right answer left out."
    )
    return Figure(f"Ranking by {run.models[model].title}", how)


def correlation(title: str, grades: np.ndarray, scores: np.ndarray) -> Figure:
    """Pearson's and Spearman's correlations between grades and scores ``[G]``, with their 95 % intervals."""
    measured, title = correlations(grades, scores), f"Correlation of {title}"
    if measured["pearson"] is None:
        return Figure(title, "There is none: all grades, or all scores, are the same.")
    lines = []
    for name, shown in (("pearson", "Pearson r"), ("spearman", "Spearman ρ")):
        numbers = (measured[name], *measured[f"{name}_interval_95"])
        lines.append((shown, *(f"{number:.3f}".replace("-", "−") for number in numbers)))
    how = f"Between the file's grades and the model's scores in {counted(len(grades), 'row')}."
    return Figure(title, how, "", ("measure", "value", "from (95 %)", "to (95 %)"), lines)


def calibration(title: str, measured: Reliability, confidence: str, chosen: bool = False) -> Figure:
    """Accuracy by confidence; a calibrated model's points lie on the diagonal. ``confidence``: the column with the
    probability of the prediction, empty if there is none; ``chosen``: whether a filter selected the rows."""
    how = "Height: accuracy in the bin; a larger point stands for more rows. "
    how += f"{measured.in_words}.{' ' + CHOSEN if chosen else ''}"
    filters = [
        f"{confidence} > {b.low:.9g} and {confidence} <= {b.high:.9g}" if confidence else "" for b in measured.bins
    ]
    marks = [
        {"confidence": b.confidence, "accuracy": b.accuracy, "rows": b.items, "filter": expression}
        for b, expression in zip(measured.bins, filters, strict=True)
    ]
    x = alt.X("confidence:Q").scale(domain=[0, 1]).axis(format="%", tickCount=5)
    y = alt.Y("accuracy:Q").scale(domain=[0, 1]).axis(format="%", tickCount=5)
    tips = [alt.Tooltip(f"{name}:Q", format=".1%") for name in ("confidence", "accuracy")]
    ends = alt.Chart({"values": [{"confidence": 0, "accuracy": 0}, {"confidence": 1, "accuracy": 1}]})
    bins = alt.Chart({"values": marks}).encode(x=x, y=y, tooltip=[*tips, alt.Tooltip("rows:Q", format=",")])
    chart = alt.layer(
        ends.mark_line(color=SOFT, strokeDash=[4, 4]).encode(x=x, y=y),
        bins.mark_line(color=CONTEXT),
        bins.mark_circle(color=CONTEXT, opacity=1)
        .encode(size=alt.Size("rows:Q", legend=None, scale=alt.Scale(range=[30, 220], zero=True)))
        .add_params(_picking()),
    ).properties(width=260, height=260, description=f"Calibration of {title}")
    lines = [(score_percent(b.confidence), score_percent(b.accuracy), f"{b.items:,}") for b in measured.bins]
    click, head = "Click a point to see its rows." if confidence else "", ("confidence", "accuracy", "rows")
    return Figure(f"Calibration of {title}", how, click, head, lines, filters if confidence else (), chart)


def slices(title: str, scores: Sequence[SliceScore], measure: str, unit: str = "rows") -> Figure:
    """The score on each slice with its interval, and the score on the other rows; largest differences first."""
    how = (
        f"{measure if measure.isupper() else measure.capitalize()} in each slice (thick mark) with its 95 % interval, "
        "and outside of it (thin mark); sorted by |error in the slice − error outside| × √n."
    )
    names = [f"{score.slice.dimension}: {score.slice.value}" for score in scores]
    head = ("slice", unit, measure, "95 % interval", "outside", "weight")
    lines = [
        (name, f"{s.items:,}", score_percent(s.score), _interval(s), score_percent(s.outside), f"{s.weight:.2f}")
        for name, s in zip(names, scores, strict=True)
    ]
    figure = Figure(f"Slices of {title}", how, _CLICK_A_BAR, head, lines)
    return _with_intervals(figure, names, scores, [score.outside for score in scores])


def strongest_words(title: str, known: WordScores, rows: int, most: int) -> Figure:
    """How often each word is its row's strongest, and how often the model is wrong there; at most ``most`` words, each
    strongest in at least :data:`LEAST_ROWS` rows. ``rows``: number of labelled rows in the file."""
    often = [word for word in known.words if word.rows >= LEAST_ROWS]
    of = f"all {known.rows:,}" if known.rows == rows else f"a random sample of {known.rows:,} of {rows:,}"
    how = (
        f"Of {of} rows {score_percent(known.share)} are wrong (thin mark). Each row counts for the word whose removal "
        "lowers the predicted class’s probability most (log p before minus after the word is "
        "dropped); the thick mark is the share of wrong rows among them, with its 95 % interval. Words with the most "
        "wrong rows come first. Of this many words, some differ by chance."
    )
    if known.told:
        how += (
            f" Agreement with people, whose reasons the file has: they name the row’s word, too, in "
            f"{score_percent(known.agreed)} of {counted(known.told, 'row')}; of its text’s content words they name "
            f"{score_percent(known.chance)}."
        )
    if known.without:
        how += f" In {counted(known.without, 'row')} no word supports the prediction."
    if left_out := len(known.words) - len(often):
        how += f" {counted(left_out, 'word')} with fewer than {LEAST_ROWS} rows can be found only in the file (CSV)."
    if len(often) > most:
        how += f" Shown are {most} of {len(often):,} words."
    words = often[:most]
    head = ("word", "in the", "rows", "wrong", "share wrong", "95 % interval")
    lines = [
        (*word.names, f"{word.rows:,}", f"{word.hits:,}", score_percent(word.score), _interval(word)) for word in words
    ]
    figure = Figure(f"Words with the largest effect on {title}", how, _CLICK_A_BAR, head, lines)
    return _with_intervals(figure, ["{} ({})".format(*word.names) for word in words], words, [known.share] * len(words))


def failures(title: str, rates: Sequence[Share], part: bool) -> Figure:
    """A model's failure rate under each perturbation; ``part``: whether a filter selected the rows."""
    how = (
        "Failure rate: the share of the changed rows whose prediction is not as expected (mark), with its 95 % "
        "interval (bar). Expected is the prediction for the original row, right or wrong, or what the line says: "
        f"“becomes” names the new label, and “may not fall” allows {100 * TOLERANCE:.0f} percentage points."
        f"{' Only the filtered rows are counted.' if part else ''}"
    )
    head = ("perturbation", "expected", "rows", "failures", "failure rate", "95 % interval")
    lines = [
        (*rate.names, f"{rate.rows:,}", f"{rate.hits:,}", score_percent(rate.score), _interval(rate)) for rate in rates
    ]
    names = [": ".join(rate.names).removesuffix(f": {SAME}") for rate in rates]
    figure = Figure(f"Failures of {title}", how, "Click a bar to see the failures.", head, lines)
    return _with_intervals(figure, names, rates, [rate.score for rate in rates])


def tagged(tags: Sequence[str], rows: Collection[RowState]) -> Figure:
    """How many rows each of these tags holds for, and how many any."""
    counts = Counter(tag for row in rows for tag in row.tags_that_hold())
    held = sum(1 for row in rows if row.tags_that_hold())
    named = {"any tag": (held, 'tags != ""'), **{tag: (counts[tag], f"tags = {literal(tag)}") for tag in tags}}
    present = {name: known for name, known in named.items() if known[0]}
    lines = [(name, f"{count:,}") for name, (count, _) in present.items()]
    filters = [expression for _, expression in present.values()]
    return Figure("Tagged rows", "", "Select a line to see its rows.", ("tag", "rows"), lines, filters)


def agreements(rows: Sequence[MarkAgreement], what: str) -> Figure:
    """Inter-annotator agreement on each of ``what``: tag or class. A coefficient that none has gets no column: this one
    is narrow on the page."""

    def value(number: float | None) -> str:
        return "–" if number is None else f"{number:.2f}".replace("-", "−")

    coefficients = {
        "κ": ("Cohen’s, of two annotators", [row.kappa for row in rows]),
        "α": ("Krippendorff’s, of more than two", [row.alpha for row in rows]),
    }
    known = {name: one for name, one in coefficients.items() if any(number is not None for number in one[1])}
    lines = [
        (row.name, f"{row.given:,}", f"{row.agreed:,}", *(value(numbers[at]) for _, numbers in known.values()))
        for at, row in enumerate(rows)
    ]
    done = {"tag": "reviewed", "class": "labelled"}[what]
    how = f"Of {counted(rows[0].rows, 'row')} that at least two annotators {done}. "
    how += " ".join(f"{name}: {about}." for name, (about, _) in known.items()) or "κ is not defined."
    return Figure(f"Agreement by {what}", how, "", (what, "given by any", "all agree", *known), lines)


def _interval(score: SliceScore | Share) -> str:
    return f"{score_percent(score.low)} – {score_percent(score.high)}"


def _picking() -> alt.Parameter:
    return alt.selection_point(name=PICKED, fields=["filter"])


class _Cell(NamedTuple):
    """A cell of a matrix with the numbers shown in it, and the filter for its rows."""

    row: str
    column: str
    share: float
    """From 0 to 1, its shade."""
    shown: tuple[str, ...]
    filter: str


def _matrix(title: str, how: str, axes: tuple[str, str], head: tuple[str, ...], cells: Sequence[_Cell]) -> Figure:
    """Labelled cells by row and column, darker for larger shares."""
    rows, columns = axes
    names = alt.Axis(orient="top", labelAngle=0, labelOverlap=False, labelFlush=False)
    base = alt.Chart({"values": [cell._asdict() | {"shown": "\n".join(cell.shown)} for cell in cells]}).encode(
        x=alt.X("column:N", title=columns, sort=None, axis=names),
        y=alt.Y("row:N", title=rows, sort=None, axis=alt.Axis(labelLimit=180)),
        tooltip=[
            alt.Tooltip("row:N", title=rows),
            alt.Tooltip("column:N", title=columns),
            alt.Tooltip("shown:N", title="rows"),
        ],
    )
    # Opaque and light, so that dark numbers are legible in both themes.
    shade = alt.Color("share:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=["#e9f0f8", "#8fb4dc"]))
    chart = (
        alt.layer(
            base.mark_rect(cursor="pointer").encode(color=shade).add_params(_picking()),
            base.mark_text(lineBreak="\n", dy=-6, color="#1d2733").encode(text="shown:N"),
        )
        .properties(width=alt.Step(96), height=alt.Step(46), description=title)
        .configure_text(fontSize=13)
    )
    lines, filters = [(cell.row, cell.column, *cell.shown) for cell in cells], [cell.filter for cell in cells]
    return Figure(title, how, "Click a cell to see its rows.", head, lines, filters, chart)


def _with_intervals(
    figure: Figure, names: Sequence[str], scores: Sequence[SliceScore | Share], compared: Sequence[float]
) -> Figure:
    """The figure with a chart: one bar per name from ``low`` to ``high``, with its score and the reference value."""
    if not names:
        return figure
    filters = [score.expression for score in scores]
    marks = [
        {
            "name": name,
            "low": one.low,
            "high": one.high,
            "score": one.score,
            "compared": other,
            "filter": one.expression,
        }
        for name, one, other in zip(names, scores, compared, strict=True)
    ]
    share = alt.Axis(format="%", title=None, tickCount=5)
    tips = [alt.Tooltip(f"{field}:Q", format=".1%") for field in ("score", "low", "high", "compared")]
    base = alt.Chart({"values": marks}).encode(
        y=alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)), tooltip=["name:N", *tips]
    )
    chart = alt.layer(
        base.mark_bar(color=CONTEXT, opacity=0.35, height=12, cursor="pointer")
        .encode(x=alt.X("low:Q", scale=alt.Scale(domain=[0, 1]), axis=share), x2="high:Q")
        .add_params(_picking()),
        base.mark_tick(color=SOFT, thickness=1.5, size=16).encode(x="compared:Q"),
        base.mark_tick(color=CONTEXT, thickness=4, size=12).encode(x="score:Q"),
    ).properties(height=alt.Step(20), padding={"right": 8}, description=f"Intervals: {figure.title}")
    return replace(figure, filters=filters, chart=chart)
