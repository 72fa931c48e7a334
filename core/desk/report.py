"""A run's report as one HTML file, which works without network or scripts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from markupsafe import Markup

from core.desk.charts import Figure, headline
from core.desk.file_state import RowState
from core.desk.filters import short
from core.desk.findings import Finding
from core.desk.run import LETTERS, Run
from core.evidence import Explanation
from core.templates import render
from core.wording import shown as shown_share
from core.wording import with_label

MOST_EXAMPLES = 30
LONGEST_TEXT = 300
"""Characters of a text in an example row."""


def report(
    run: Run,
    palette: str,
    findings: Sequence[tuple[Finding, str]],
    figures: Sequence[tuple[str, Sequence[Figure]]],
    examples: Sequence[tuple[int, RowState, Sequence[Explanation]]],
    shown: str,
    notes: Sequence[str] = (),
) -> str:
    """The whole file. ``findings``: each with the URL of its rows, possibly empty; ``figures``: headings,
    each with its figures; ``palette``: the colours they use, as CSS custom properties; ``examples``: the indices of
    chosen rows with people's annotations and the models' predictions; ``shown``: a description of the rows covered;
    ``notes``: sentences about the models."""
    return render(
        "desk/report.html",
        data=run.dataset,
        keys=run.keys,
        models=[(LETTERS[i], model, headline(run, i)) for i, model in enumerate(run.models)],
        palette=Markup(palette),
        findings=[(one.sentence, address, [_row(run, place) for place in one.examples]) for one, address in findings],
        figures=figures,
        labelled=with_label(int(run.judged.sum()), len(run.dataset.rows)),
        examples=examples,
        shown=shown,
        notes=notes,
        now=f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
    )


def _row(run: Run, place: int) -> tuple[str, list[str], str]:
    """An example: its key, its texts, and its label with each model's prediction."""
    row = run.dataset.rows[place]
    said = [f"label {run.gold[place]}"] if run.gold[place] else []
    for letter, model in zip(LETTERS, run.models, strict=False):
        chance = shown_share(float(model.probabilities[place].max()), len(model.labels))
        said.append(f"{letter} {model.predicted[place]} {chance}")
    return (
        str(run.keys[place]),
        [short(text, LONGEST_TEXT) for text in (row.first, row.second) if text],
        ", ".join(said),
    )
