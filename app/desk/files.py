"""Export of rows, tags (CSV and JSON) and the report, and import of tags by row id. Conflicts are listed and only
overwritten on request."""

from __future__ import annotations

import functools
import re

import streamlit as st

from app import page_style
from app.desk import annotator, measures, strongest_words
from app.desk.open_run import PAGE, OpenRun, attempt, checkpoint_named, show
from app.pair_form import once
from app.palette import css_variables
from core.checkpoint import CheckpointError, load_named
from core.data.lines import text_of
from core.desk import charts
from core.desk.agreement import agreement
from core.desk.exchange import Import, plan, read_tags, tags_to_csv, to_csv, to_json
from core.desk.report import MOST_EXAMPLES, ReportedRow, report
from core.errors import DeskError
from core.explain import explain
from core.reading.reader import PairError
from core.wording import counted

_SHOWN = 50
_REPORTED = 25
"""The most slices and words in the report."""


def view(opened: OpenRun) -> None:
    """Downloads, then the import."""
    left, right = st.container(key="side by side, files").columns(2, gap="large")
    with left:
        _export(opened)
    with right:
        _import(opened)


def _export(opened: OpenRun) -> None:
    run, state, rows = opened.run, opened.state, opened.rows
    stem = re.sub(r"[^\w.-]+", "-", run.dataset.name.split(".")[0])
    page_style.heading("Export")
    what = f"the {counted(int(rows.sum()), 'row')} that the filter leaves" if PAGE.state.filter else "all rows"
    page_style.note(f"With predictions, tags and notes: {what}.")
    with st.container(horizontal=True, gap="small"):
        page_style.download("Rows (CSV)", lambda: to_csv(run, state, rows), f"pairlens-{stem}-rows.csv")
        page_style.download("Rows (JSON)", lambda: to_json(run, state, rows), f"pairlens-{stem}-rows.json")
        page_style.download("Tags (CSV)", lambda: tags_to_csv(run, state), f"pairlens-{stem}-tags.csv")
    examples = [key for key in state.reported if key in run.places]
    chosen = f"{counted(len(examples), 'row')} with {'its' if len(examples) == 1 else 'their'} attention"
    page_style.note(
        f"The report: tables, figures, and {chosen} (“In the report” on an open row adds one, up to {MOST_EXAMPLES}). "
        "One file that needs no network."
    )
    # The report is made on request, outside the page's session, so it gets everything it needs of the page here.
    shown = f"rows where {PAGE.state.filter}" if PAGE.state.filter and opened.error is None else "all rows"
    make = functools.partial(_report, opened, examples[:MOST_EXAMPLES], shown, PAGE.state.way)
    page_style.download("Report (HTML)", make, f"pairlens-{stem}.html")


def _report(opened: OpenRun, examples: list[str], shown: str, way: str) -> str:
    run = opened.run
    numbers = range(len(run.models))
    drawn: list[tuple[str, list[charts.Figure]]] = []
    if run.labelled:
        figures_of = functools.partial(measures.score_figures, run, rows=opened.rows)
        drawn.append((f"Scores ({shown})", [figure for i in numbers for figure in figures_of(i)]))
        whole = " (all rows)" if opened.rows.sum() < len(run.dataset.rows) else ""
        drawn.append((f"Slices{whole}", [measures.slice_figure(opened, i, _REPORTED) for i in numbers]))
        known = [i for i in numbers if opened.strongest[i]]
        strongest = [strongest_words.figure(opened, i, way, _REPORTED) for i in known]
        drawn.append(("Words with the largest effect", strongest))
        drawn.append((f"Models compared{whole}", measures.against_figures(run)))
    rated = agreement([tag.name for tag in opened.annotations.taxonomy()], opened.state.rows)
    drawn.append(("Tags", [charts.agreements(rated)] if rated else []))
    return report(run, css_variables(), drawn, [_example(opened, key) for key in examples], shown)


def _example(opened: OpenRun, key: str) -> ReportedRow:
    place = opened.run.places[key]
    row = opened.run.dataset.rows[place]
    explanations = []
    for model in opened.run.models:
        name = checkpoint_named(model.sha256)
        try:
            if name is not None:
                explanations.append(explain(load_named(name), row.first, row.second))
        except (CheckpointError, PairError):
            continue
    people = opened.state.row(key)
    return ReportedRow(key, place, explanations, sorted(people.tags_that_hold()), list(people.notes.items()))


def _import(opened: OpenRun) -> None:
    name = annotator.name()
    page_style.heading("Import")
    page_style.note(
        "Tags by row id, as “Tags (CSV)” writes them; or a table with the columns id and tags; separate tags with |."
    )
    uploaded = st.file_uploader("Tags from CSV", "csv", key="desk tags in", max_upload_size=5)
    if uploaded is None:
        return
    if not name:
        page_style.notice(["Type your name in the sidebar first: the import is logged under it."])
        return
    try:
        shown_as: dict[str, str] = {}
        for tag in opened.annotations.taxonomy():
            shown_as |= {name.casefold(): tag.name for name in (tag.name, *tag.merged)}

        def read() -> Import:
            lines = read_tags(text_of(uploaded.getvalue()), name)
            return plan(opened.run, opened.state, shown_as, lines)

        planned = once("desk import", (uploaded.file_id, name, opened.version), read)
    except DeskError as error:
        page_style.notice([f"{error}."])
        return
    _planned(opened, planned, name)


def _planned(opened: OpenRun, planned: Import, name: str) -> None:
    """The effect of an import, and the button that performs it."""
    sentences = [
        f"{counted(len(planned.new), 'line')} to import, {planned.same:,} already here, "
        f"{counted(len(planned.conflicts), 'conflict')}, {len(planned.strange):,} of unknown rows."
    ]
    if planned.new_tags:
        sentences.append(f"New tags: {', '.join(planned.new_tags[:20])}.")
    page_style.notice(sentences)
    for conflict in planned.conflicts[:_SHOWN]:
        marked = conflict.marked
        here = f"{', '.join(sorted(conflict.tags)) or 'no tag'}{' and another note' if conflict.note else ''}"
        there = ", ".join(sorted(marked.tags)) or "no tag"
        page_style.note(f"Row {marked.row}, {marked.annotator}: here {here}; in the file {there}")
    if len(planned.conflicts) > _SHOWN:
        page_style.note(f"and {len(planned.conflicts) - _SHOWN:,} more")
    overwrite = bool(planned.conflicts) and st.checkbox(
        "Resolve the conflicts in favour of the file", key="desk overwrite"
    )
    lines = [*planned.new, *((conflict.marked for conflict in planned.conflicts) if overwrite else ())]

    def take() -> None:
        attempt(lambda: opened.annotations.take(name, opened.file, planned.new_tags, lines))
        show()

    st.button(
        f"Import {counted(len(lines), 'line')}", key="desk take", on_click=take, disabled=not lines, type="primary"
    )
