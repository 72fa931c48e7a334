"""A run's report as one HTML file, which works without network or scripts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from markupsafe import Markup

from core.desk.annotations import RowState
from core.desk.charts import Figure, headline
from core.desk.run import Run
from core.evidence import Explanation
from core.templates import render
from core.wording import with_label

MOST_EXAMPLES = 30


def report(
    run: Run,
    palette: str,
    findings: Sequence[tuple[str, str]],
    figures: Sequence[tuple[str, Sequence[Figure]]],
    examples: Sequence[tuple[int, RowState, Sequence[Explanation]]],
    shown: str,
) -> str:
    """The whole file. ``findings``: sentences, each with the URL of its rows, possibly empty; ``figures``: headings,
    each with its figures; ``palette``: the colours they use, as CSS custom properties; ``examples``: the indices of
    chosen rows with people's annotations and the models' predictions; ``shown``: a description of the rows covered."""
    return render(
        "desk/report.html",
        data=run.dataset,
        keys=run.keys,
        models=[(model, headline(run, i)) for i, model in enumerate(run.models)],
        palette=Markup(palette),
        findings=findings,
        figures=figures,
        labelled=with_label(int(run.judged.sum()), len(run.dataset.rows)),
        examples=examples,
        shown=shown,
        now=f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
    )
