"""Tags of the whole file: agreement, disagreements to settle, the taxonomy, and the annotators."""

from __future__ import annotations

import streamlit as st

from app import page_style
from app.desk import annotator, drawing
from app.desk.open_run import OpenRun, attempt, lines, notice_next, show, switch
from app.desk.row_tags import MOST_SETTLED, history, settling, to_settle
from core.desk import charts
from core.desk.agreement import agreement, disagreements
from core.desk.annotations import MOST_DEALT
from core.desk.event_log import NO, YES
from core.desk.filters import literal
from core.desk.schema import clean
from core.wording import counted

HIDES = "Hide others’ tags and labels until a row is done"


def view(opened: OpenRun) -> None:
    """Draws the view."""
    names = [tag.name for tag in opened.annotations.taxonomy()]
    rows = opened.state.rows
    left, right = st.container(key="side by side, tags").columns([1.2, 1], gap="large")
    with left:
        blind_switch(opened)
        measured = agreement(names, rows)
        if measured:
            drawn = [charts.tagged(names, rows.values()), charts.agreements(measured, "tag")]
            drawing.figures(drawn, "desk agreement")
        elif not opened.state.reviewed and not opened.state.blind(annotator.name()):
            page_style.hint("No row is tagged yet: open one under Rows, and type your name in the sidebar.")
        _to_settle(opened, names)
    with right:
        _taxonomy(opened, names)
        deal(opened)
        _annotators(opened)


def blind_switch(opened: OpenRun) -> None:
    """The switch that hides the others' tags and labels."""
    by, blind = annotator.name(), opened.state.blind(annotator.name())
    switch(
        HIDES,
        blind,
        f"desk blind {blind} {opened.annotations.version()}",
        lambda value: opened.annotations.blind(by, opened.file, value),
        help="For all annotators of this file, in tables, filters, agreement, histories and exports. On by default as "
        "soon as there are two annotators.",
        disabled=not by,
    )
    if blind:
        page_style.note("You see others’ tags and labels on rows that you have labelled or marked as done.")


def _to_settle(opened: OpenRun, names: list[str]) -> None:
    """Rows on which annotators disagree, each with buttons to settle it."""
    apart, unsettled = disagreements(names, opened.state.rows), to_settle(opened, names)
    if apart:
        page_style.heading(f"Disagreements to settle: {len(unsettled)} of {len(apart)}")
        page_style.note("Your decision is stored alongside each annotator’s tags.")

    def settle(row: str, tag: str, given: bool) -> None:
        attempt(lambda: opened.annotations.settle(annotator.name(), opened.file, row, tag, given))

    shown = unsettled[:MOST_SETTLED]
    places = opened.run.places(case.row for case in shown)
    for case in shown:
        text, yes, no, link = st.columns([5, 1, 1, 1], vertical_alignment="center", gap="small")
        with text:
            row = opened.run.dataset.rows[places[case.row]] if case.row in places else None
            texts = [] if row is None else [row.first, row.second]
            said = f"{', '.join(case.gave)} gave it, {', '.join(case.left_out)} did not"
            lines([f"{case.row}: “{case.tag}” – {said}", *(f"“{text}”" for text in texts if text)])
        for column, label, answer in ((yes, "Yes", YES), (no, "No", NO)):
            args, off = (case.row, case.tag, answer == YES), not annotator.name()
            column.button(label, key=settling(case, answer), on_click=settle, args=args, disabled=off)
        values = {"row": case.row, "view": "rows", "filter": ""}
        link.button("Open", key=settling(case, "open"), type="tertiary", on_click=show, kwargs=values)
    if len(unsettled) > MOST_SETTLED:
        page_style.note(f"{len(unsettled) - MOST_SETTLED} more will appear as these are settled.")


def _taxonomy(opened: OpenRun, names: list[str]) -> None:
    """The tags, with forms to add, rename and merge them."""
    annotations, by = opened.annotations, annotator.name()
    page_style.heading("Taxonomy")
    tags = [f"{tag.name} (also: {', '.join(tag.merged)})" if tag.merged else tag.name for tag in annotations.taxonomy()]
    lines([", ".join(tags), *(f"{tag.name}: {tag.definition}" for tag in annotations.taxonomy() if tag.definition)])
    if not by:
        page_style.note("Type your name in the sidebar to change the tags.")
        return
    with st.form("desk add tag", clear_on_submit=True, border=False):
        left, right = st.columns([3, 1], vertical_alignment="bottom")
        name = left.text_input("New tag", max_chars=80)
        if right.form_submit_button("Add") and name:
            attempt(lambda: annotations.add_tag(by, name))
            st.rerun()
    with st.expander("Define, rename or merge"):
        tag = st.selectbox("Tag", names, key="desk tag to change")
        known = next(one.definition for one in annotations.taxonomy() if one.name == tag)
        text = st.text_area("Definition", known, key=f"desk definition {tag} {known}", help="Shown with the tag.")
        st.button("Define", on_click=lambda: attempt(lambda: annotations.define_tag(by, tag, text)))
        new = st.text_input("New name", key="desk new name", max_chars=80)
        st.button("Rename", on_click=lambda: attempt(lambda: annotations.rename_tag(by, tag, new)), disabled=not new)
        into = st.selectbox("Merge into", [name for name in names if name != tag], key="desk merge into")
        st.button("Merge", on_click=lambda: attempt(lambda: annotations.merge_tags(by, tag, into)))
    events = [event for event in annotations.history("") if event.tag is not None]
    if events:
        with st.expander("Changes to the taxonomy"):
            history(opened, events)


def deal(opened: OpenRun) -> None:
    """The form for assigning the filtered rows to people."""
    annotations, by, rows = opened.annotations, annotator.name(), opened.rows
    count = counted(int(rows.sum()), "row")

    def assign() -> None:
        people = names_in(text)
        annotations.deal(by, opened.file, people, each, rows)
        notice_next(
            f"{count} dealt to {', '.join(people)}, each row to {each}: the filter dealt = {literal(people[0])} shows "
            f"the rows of {people[0]}."
        )

    with st.expander("Deal out the rows"), st.form("desk deal", border=False):
        known = ", ".join(opened.labellers)
        text = st.text_input("People, separated by commas", key="desk dealt", placeholder=known or "Ann, Bob")
        each = int(st.number_input("People for each row", 1, MOST_DEALT, 2))
        if st.form_submit_button(f"Deal {count}", disabled=not by or not rows.any()):
            attempt(assign)
            st.rerun()
        own = f"dealt = {literal(by)}" if by else "dealt = …"
        chosen = "The filter’s rows are" if opened.filter else "All rows are"
        page_style.note(f"{chosen} dealt. A hash of each row’s id decides; the filter {own} shows your rows.")
        if hands := opened.state.hands:
            now = counted(int(opened.state.dealt_rows(len(rows)).sum()), "row")
            names = ", ".join(dict.fromkeys(name for hand in hands for name in hand))
            page_style.note(f"Dealt now: {now} to {names}, each row to {len(hands[0])}. A new deal replaces this one.")


def names_in(text: str) -> list[str]:
    """Names separated by commas; or by semicolons if the text has any, because a name may contain a comma."""
    parts = text.split(";" if ";" in text else ",")
    return list(dict.fromkeys(name for part in parts if (name := clean(part))))


def _annotators(opened: OpenRun) -> None:
    """The annotators, and a button that removes a name everywhere."""
    names = opened.annotations.annotators()
    if not names:
        return
    with st.expander(f"Annotators ({len(names)})"):
        looked = opened.state.reviewed
        page_style.terms((name, f"{counted(looked.get(name, 0), 'row')} of this file reviewed") for name in names)
        name = st.selectbox("Remove a name everywhere", names, None, key="desk remove", placeholder="Choose a name")
        st.button(
            "Remove it",
            disabled=not name,
            on_click=lambda: attempt(lambda: opened.annotations.remove_name(name or "", annotator.name())),
            help="Their tags and notes stay, under “annotator” and a number. This cannot be undone.",
        )
