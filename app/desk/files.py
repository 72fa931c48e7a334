"""Export of rows, tags (CSV and JSON) and the report."""

from __future__ import annotations

import functools
import re
from urllib.parse import urlencode

import streamlit as st

from app import page_style
from app.desk import all_tags, annotator, file_choice, measures, strongest_words, transfer
from app.desk.open_run import PAGE, OpenRun, attempt, checkpoint_named, notice_next, show, training_notes
from app.page_state.error_desk import DeskState
from app.palette import css_variables
from core.checkpoint import CheckpointError, load_named
from core.data.corrected import CorrectedFile
from core.desk import charts, store
from core.desk.adapted_run import HELD_OUT
from core.desk.against import against
from core.desk.agreement import agreement, label_agreement
from core.desk.exchange import EXPORTS, Export
from core.desk.findings import Finding, findings
from core.desk.report import MOST_EXAMPLES, report
from core.desk.run import Run
from core.desk.source import corrected_file, corrections
from core.desk.table import with_tags
from core.effects.reason import with_reason
from core.evidence import Explanation
from core.explain import explain
from core.reading.reader import PairError
from core.wording import counted

_REPORTED = 25
"""Maximum number of slices and words in the report."""


def view(opened: OpenRun) -> None:
    """Draws the downloads."""
    run, state, rows = opened.run, opened.state, opened.rows
    page_style.heading("Export")
    what = f"the {counted(int(rows.sum()), 'row')} that the filter leaves" if PAGE.state.filter else "all rows"
    page_style.note(f"With predictions, tags and notes: {what}.")
    _withheld(opened)
    with st.container(horizontal=True, gap="small"):
        for export in EXPORTS:
            make = functools.partial(_export, export, opened)
            page_style.download(export.title, make, f"{opened.stem}{export.ending}")
        transfer.export(opened)
    transfer.bring_in(opened)
    _corrected(opened)
    places = run.places(state.reported)
    examples = [places[key] for key in state.reported if key in places]
    chosen = f"{counted(len(examples), 'row')} with {'its' if len(examples) == 1 else 'their'} attention"
    page_style.note(
        f"The report: findings as sentences, tables, figures, and {chosen} (“In the report” on an open row adds one, "
        f"up to {MOST_EXAMPLES}). One file that needs no network; the findings link to their rows here."
    )
    # Both are built on request, outside the page's session, so everything they need from the page is captured here.
    shown = f"rows where {PAGE.state.filter}" if PAGE.state.filter and opened.error is None else "all rows"
    page = st.context.url, PAGE.state
    with st.container(horizontal=True, gap="small"):
        make = functools.partial(_report, opened, examples[:MOST_EXAMPLES], shown, page)
        page_style.download("Report (HTML)", make, f"{opened.stem}.html")
        one_page = functools.partial(_findings_alone, opened, page)
        page_style.download("Findings on one page (HTML)", one_page, f"{opened.stem}-findings.html")

    _made_by(opened)


def _withheld(opened: OpenRun) -> None:
    """What the exports lack because others' tags are hidden, and how to end that."""
    if count := opened.state.withheld:
        named = "" if annotator.name() else "type your name in the sidebar, and "
        page_style.notice(
            [
                f"Without {counted(count, 'review')} by others (their tags and notes) of rows that you have not marked "
                f"as done. To export everything, {named}switch off “{all_tags.HIDES}” under Tags."
            ]
        )


def _corrected(opened: OpenRun) -> None:
    """The data file with the labels that people decided on."""
    labels = opened.exported
    decided = sum(row.decided is not None for row in labels.rows.values())
    if not decided:
        return
    held: tuple[object, CorrectedFile] | None = st.session_state.get("desk corrected")
    made = held[1] if held and held[0] == opened.version else None

    def make() -> None:
        new = corrected_file(opened.run, corrections(opened.run, labels))
        st.session_state["desk corrected"] = opened.version, new

    page_style.note(
        f"The file with {counted(decided, 'label')} that people agreed on or decided, and with the columns "
        "label_before and label_by. It can be opened here, trained on and evaluated without changes."
    )
    if made is None:
        st.button("Write the corrected file", key="desk correct", on_click=lambda: attempt(make))
        return
    name = re.sub(r"(\.\w+)+$", "", opened.run.dataset.name.removesuffix(HELD_OUT))
    name = f"{name}-corrected{made.suffix}"
    page_style.download("Corrected file", made.content, name, framed=True)

    def open_it() -> None:
        file_choice.hand_over(name, made.content)
        show(file=None, models=())

    st.button("Adapt a model to it, under New run", key="desk open corrected", on_click=open_it)
    if opened.run.dataset.name.endswith(HELD_OUT):
        page_style.note(
            "The rows of this run are held out: their labels change its score. A model learns from the labels of the "
            "other rows, which you can correct once you have predicted the whole file."
        )
    if made.left_out:
        page_style.note(f"Without {counted(made.left_out, 'broken row')} of the file.")


def _export(export: Export, opened: OpenRun) -> str:
    run, state = opened.run, opened.exported
    return export.text(run, state, with_tags(opened.table, run, state), opened.rows)


def _made_by(opened: OpenRun) -> None:
    """Who made the run; that visitor can delete it."""
    maker, name = opened.state.maker, annotator.name()

    def delete() -> None:
        store.delete(opened.file)
        show(file=None, models=())
        notice_next(f"The run of {opened.run.dataset.name} is deleted.")

    page_style.heading("Delete the run")
    if not maker:
        page_style.note("No name is stored with this run: whoever runs this server can delete its folder.")
    elif maker != name:
        page_style.note(f"{maker} made this run and can delete it.")
    else:
        page_style.note(
            "You made it. Deleting removes the predictions of all models, for all visitors; tags, notes and slices "
            "stay, and return when the file is predicted again."
        )
        with st.popover("Delete", icon=":material/delete:"):
            st.button(
                f"Delete the run of {page_style.plain(opened.run.dataset.name)}",
                key="desk delete",
                on_click=lambda: attempt(delete),
            )


def _findings(opened: OpenRun, page: tuple[str | None, DeskState]) -> list[tuple[Finding, str]]:
    """The findings of the run, each with a link to its rows on this server."""
    url, state = page
    out = []
    for finding in findings(opened.run, opened.table):
        address = urlencode(state.updated(filter=finding.expression, view="rows", row="").address())
        out.append((finding, f"{url.partition('?')[0]}?{address}" if url else ""))
    return out


def _findings_alone(opened: OpenRun, page: tuple[str | None, DeskState]) -> str:
    run = opened.run
    return report(run, css_variables(), _findings(opened, page), [], [], "all rows", training_notes(run))


def _report(opened: OpenRun, examples: list[int], shown: str, page: tuple[str | None, DeskState]) -> str:
    run = opened.run
    numbers = range(len(run.models))
    drawn: list[tuple[str, list[charts.Figure]]] = []
    figures_of = functools.partial(measures.score_figures, run, rows=opened.rows)
    scored = [i for i in numbers if run.labelled or run.grades(i)]
    drawn.append((f"Scores ({shown})", [figure for i in scored for figure in figures_of(i)]))
    if run.labelled:
        whole = " (all rows)" if opened.rows.sum() < len(run.dataset.rows) else ""
        drawn.append((f"Slices{whole}", [measures.slice_figure(opened, i, _REPORTED) for i in numbers]))
        known = [i for i in numbers if opened.strongest[i]]
        strongest = [strongest_words.figure(opened, i, _REPORTED) for i in known]
        drawn.append(("Words with the largest effect", strongest))
        compared = [against(run, other, opened.rows) for other in numbers[1:]]
        drawn.append((f"Models compared ({shown})", compared))
    rated = agreement([tag.name for tag in opened.annotations.taxonomy()], opened.state.rows)
    drawn.append(("Tags", [charts.agreements(rated, "tag")] if rated else []))
    labelled = label_agreement(opened.state.rows)
    drawn.append(("Labels", [charts.agreements(labelled, "class")] if labelled else []))
    decided = opened.exported
    chosen = [(place, decided.row(run.keys[place]), _explanations(run, place)) for place in examples]
    return report(run, css_variables(), _findings(opened, page), drawn, chosen, shown, training_notes(run))


def _explanations(run: Run, place: int) -> list[Explanation]:
    """Explanations of a row by the models that are installed and can read it."""
    row, explanations = run.dataset.rows[place], []
    for model in run.models:
        name = checkpoint_named(model)
        try:
            if name is not None:
                checkpoint = load_named(name)
                explanations.append(with_reason(checkpoint, explain(checkpoint, row.first, row.second)))
        except (CheckpointError, PairError):
            continue
    return explanations
