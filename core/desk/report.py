"""A run's account as one HTML file: it needs no network and no script, and opens anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from core.desk.charts import Figure
from core.desk.run import Run
from core.evidence import Explanation
from core.templates import render
from core.wording import with_label

MOST_EXAMPLES = 30


@dataclass(frozen=True)
class ReportedRow:
    """A chosen row, with what the models made of it and what people said."""

    key: str
    number: int
    explanations: Sequence[Explanation]
    tags: Sequence[str]
    notes: Sequence[tuple[str, str]]


def report(
    run: Run,
    palette: str,
    findings: Sequence[tuple[str, str]],
    figures: Sequence[tuple[str, Sequence[Figure]]],
    examples: Sequence[ReportedRow],
    shown: str,
) -> str:
    """The whole file. ``findings``: sentences, each with the address of its rows, perhaps empty; ``figures``: headings,
    each with its figures; ``palette``: the colours that they use, as CSS custom properties; ``shown``: which rows they
    are about, in words."""
    shares = [float(run.right(i)[run.judged].mean()) if run.labelled else None for i in range(len(run.models))]
    return render(
        "desk/report.html",
        data=run.dataset,
        models=list(zip(run.models, shares, strict=True)),
        palette=Markup(palette),
        findings=findings,
        figures=figures,
        labelled=with_label(int(run.judged.sum()), len(run.dataset.rows)),
        examples=examples,
        shown=shown,
        now=f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
    )
