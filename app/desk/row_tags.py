"""Tags and notes of the open row, and whether the report shows it: one's own to change, the others' to read, what was
settled, every change to undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from app import page_style
from app.desk import annotator
from app.desk.open_run import OpenRun, attempt, lines
from core.desk.annotations import Change
from core.desk.changes import NO, YES, check_row
from core.errors import DeskError
from core.json_types import JsonObject

_PLACES = 20
"""Rows whose widgets are told apart: a browser's late answer is not that late."""


def _place(*shown: object) -> int:
    """A number for the widgets of what is ``shown``: other widgets than those before, and so without their values, but
    some that were used long ago, since Streamlit holds for a whole session what it knows of a widget."""
    name = f"desk place of {len(shown)}"
    before: tuple[tuple[object, ...], int] = st.session_state.get(name, ((), 0))
    if before[0] != shown:
        before = st.session_state[name] = shown, (before[1] + 1) % _PLACES
    return before[1]


def draw(opened: OpenRun, row: str) -> None:
    """The open row's; for a row that cannot be written, why."""
    try:
        check_row(row)
    except DeskError as error:
        page_style.notice([f"This row can have neither tags nor a note: {error}."])
        return
    name, people, file = annotator.name(), opened.state.row(row), opened.file
    if not name:
        page_style.note("Type your name in the sidebar to tag this row, write a note or put it into the report.")
    taxonomy = [tag.name for tag in opened.annotations.taxonomy()]
    own = [tag for tag in taxonomy if name in people.tags.get(tag, ())]
    place = _place(file, row, name, opened.annotations.version())

    def writing(what: str, write: Callable[[str, str, str, Any], None]) -> JsonObject:
        """Key and callback of a widget whose value is written under one's name."""
        key = f"desk {what} {place}"

        def changed() -> None:
            attempt(lambda: write(name, file, row, st.session_state[key]))

        return {"key": key, "on_change": changed, "disabled": not name}

    def give(name: str, file: str, row: str, tags: list[str] | None) -> None:
        for tag in {*own} ^ {*(tags or ())}:
            opened.annotations.give(name, file, row, tag, tag not in own)

    st.pills("Tags", taxonomy, selection_mode="multi", default=own, wrap=True, **writing("tags", give))
    left, right = st.columns(2)
    if not own:
        left.checkbox(
            "No tag applies",
            name in people.looked,
            help="You looked at the row: agreement counts it.",
            **writing("seen", opened.annotations.look),
        )
    right.checkbox(
        "In the report",
        row in opened.state.reported,
        help="The file’s report, whoever makes it, shows the row with its attention.",
        **writing("report", opened.annotations.report),
    )
    st.text_area("Note", people.notes.get(name, ""), height=70, **writing("note", opened.annotations.note))
    given = [f"{tag}: {', '.join(sorted(by))}" for tag, by in people.tags.items() if by - {name}]
    settled = [f"Settled: {tag} {YES if holds else NO}" for tag, holds in people.settled.items()]
    notes = [f"Note of {by}: {text}" for by, text in people.notes.items() if by != name]
    lines([*given, *settled, *notes])
    changes = opened.annotations.history(file, row)
    if changes:
        with st.expander(f"History ({len(changes)})"):
            history(opened, changes)


def history(opened: OpenRun, changes: list[Change], limit: int = 30) -> None:
    """The last changes, each with a button that undoes it."""

    def undo(number: int) -> None:
        attempt(lambda: opened.annotations.undo(annotator.name(), number))

    for change in changes[:limit]:
        left, right = st.columns([4, 1], vertical_alignment="center", gap="small")
        with left:
            lines([sentence(change)])
        right.button(
            "Undo",
            key=f"desk undo {change.id}",
            on_click=undo,
            args=(change.id,),
            type="tertiary",
            disabled=change.undone or not annotator.name(),
        )


def sentence(change: Change) -> str:
    """A change in words."""
    after, tag = change.after, f"“{change.tag}”"
    if change.what == "looked":
        what = "looked at it" if after else "marked it as not looked at"
    elif change.what == "tag":
        what = f"{'gave' if after else 'took away'} {tag}"
    elif change.what == "note":
        what = f"wrote “{after}”" if after else "took the note away"
    elif change.what == "settled":
        what = f"settled {tag}: {after or 'open again'}"
    elif change.what == "reported":
        what = "put it into the report" if after else "took it out of the report"
    elif change.what == "tag added":
        what = f"added “{after}”" if after else f"took “{change.before}” out of the tags"
    elif change.what == "tag renamed":
        what = f"renamed “{change.before}” to “{after}”"
    elif change.what == "tag merged":
        what = f"merged {tag} into another" if after else f"split {tag} off again"
    else:
        what = f"removed the name of {after}"
    undoing = " (undoing)" if change.undoes else ""
    row = f"row {change.row}: " if change.row else ""
    return f"{change.at:%Y-%m-%d %H:%M} {change.annotator}: {row}{what}{undoing}{', undone' if change.undone else ''}"
