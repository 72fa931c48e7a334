"""The open row's tags and notes (only your own are editable), whether it is in the report, and its history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st

from app import page_style
from app.browser import unseen
from app.desk import annotator, unsaved
from app.desk.open_run import PAGE, OpenRun, attempt, lines
from core.desk.annotations import FileState
from core.desk.event_log import NO, YES, Event
from core.desk.filters import rows_of
from core.desk.schema import check_row
from core.errors import DeskError
from core.json_types import JsonObject
from core.wording import counted

MOST_TAGGED = 10_000
"""Maximum number of filtered rows that can be tagged at once."""
_PLACES = 20
"""Number of rows whose widgets have different keys: a late browser message is never older than that."""
_DONE, _REPORT, _NOTE = "“Done”", "“In the report”", "Your note"


def _place(*shown: object) -> str:
    """Part of the widgets' keys for ``shown``: different from recent keys and from other sessions', so that no old
    value persists, not even one whose server died before saving it; old keys are reused, because Streamlit keeps a
    record of each widget for the whole session."""
    name = f"desk place of {len(shown)}"
    before: tuple[tuple[object, ...], int] = st.session_state.get(name, ((), 0))
    if before[0] != shown:
        before = st.session_state[name] = shown, (before[1] + 1) % _PLACES
    return f"{unsaved.session()} {before[1]}"


def tag_all(opened: OpenRun) -> None:
    """A button that opens the form for tagging all filtered rows."""
    if not _may_tag_all(opened):
        return
    places, name = np.flatnonzero(opened.rows), annotator.name()

    def give(given: bool) -> None:
        rows, tag = [opened.run.keys[i] for i in places], st.session_state["desk tag of all"]
        attempt(lambda: opened.annotations.give_all(name, opened.file, rows, tag, given))

    with st.popover("Tag these rows", type="tertiary", icon=":material/label:"):
        st.selectbox("Tag for all rows", [tag.name for tag in opened.annotations.taxonomy()], key="desk tag of all")
        label = f"Give it to {counted(len(places), 'row')}"
        st.button(label, key="desk give", on_click=give, args=(True,), disabled=not name)
        st.button("Take yours back", key="desk take", on_click=give, args=(False,), disabled=not name)
        if not name:
            page_style.note("Type your name in the sidebar to tag rows.")


def _may_tag_all(opened: OpenRun) -> bool:
    return bool(PAGE.state.filter) and opened.error is None and 0 < opened.rows.sum() <= MOST_TAGGED


def draw(opened: OpenRun, row: str) -> None:
    """The annotations of the open row; or the reason it cannot have any."""
    try:
        check_row(row)
    except DeskError as error:
        page_style.notice([f"This row can have neither tags nor a note: {error}."])
        return
    name, people, file = annotator.name(), opened.state.row(row), opened.file
    if not name:
        page_style.note("Type your name in the sidebar to tag this row, write a note or put it into the report.")
    tags = opened.annotations.taxonomy()
    taxonomy = [tag.name for tag in tags]
    given = [tag for tag in taxonomy if name in people.tags.get(tag, ())]
    place = _place(file, row, name, opened.annotations.version())

    def writing(kind: str, write: Callable[[str, str, str, Any], None]) -> JsonObject:
        """Key and callback of a widget whose value is stored under the annotator's name."""
        key = f"desk {kind} {place}"

        def changed() -> None:
            attempt(lambda: write(name, file, row, st.session_state[key]))

        return {"key": key, "on_change": changed, "disabled": not name}

    def give(name: str, file: str, row: str, tags: list[str] | None) -> None:
        for tag in {*given} ^ {*(tags or ())}:
            opened.annotations.give(name, file, row, tag, tag not in given)

    def press(tag: str) -> None:
        attempt(lambda: opened.annotations.give(name, file, row, tag, tag not in given))

    keys = {tag: str(number) for number, tag in enumerate(taxonomy[:9], start=1)}
    st.pills(
        "Tags",
        taxonomy,
        selection_mode="multi",
        default=given,
        wrap=True,
        format_func=lambda tag: f"{keys[tag]} {tag}" if tag in keys else tag,
        help="Keys 1 to 9 give the first nine tags and take them back.",
        **writing("tags", give),
    )
    with unseen("tag keys"):
        for tag, digit in keys.items():
            key = f"desk key {digit} {place}"
            st.button(tag, key=key, shortcut=digit, on_click=press, args=(tag,), disabled=not name)
    lines(f"{tag.name}: {tag.definition}" for tag in tags if tag.definition)
    left, right = st.columns(2)
    blind = opened.state.blind(name)
    if blind or not given:
        left.checkbox(
            "Done" if given else "No tag applies",
            name in (people.done if blind else people.looked),
            help="You reviewed the row: it counts for agreement"
            + (", and you see the others’ tags." if blind else "."),
            **writing("seen", opened.annotations.look),
        )
    right.checkbox(
        "In the report",
        row in opened.state.reported,
        help="The file’s report shows the row with its attention, whoever makes the report.",
        **writing("report", opened.annotations.report),
    )
    st.text_area("Note", people.notes.get(name, ""), height=70, **writing("note", opened.annotations.note))
    others = [f"{tag}: {', '.join(sorted(by))}" for tag, by in people.tags.items() if by - {name}]
    settled = [f"Settled: {tag} {YES if holds else NO}" for tag, holds in people.settled.items()]
    notes = [f"Note of {by}: {text}" for by, text in people.notes.items() if by != name]
    lines([*others, *settled, *notes])
    events = opened.annotations.history(file, row)
    if blind and name not in people.done:
        page_style.note("You see what others said of this row after you have marked it as done.")
        events = [event for event in events if event.author == name]
    if events:
        lines([counted(len(events), "change")])
        # A label with the count would create a new, closed expander.
        with st.expander("History", key="desk history"):
            history(opened, events)


def keep_unsaved(opened: OpenRun) -> None:
    """Keep in the browser what the annotator sets on the open row, or on all rows of the filter."""
    name, file, state = annotator.name(), opened.file, PAGE.state
    if not name:
        return
    tags = [tag.name for tag in opened.annotations.taxonomy()]
    places = []
    if state.view == "rows" and state.row in opened.run.places:
        place = _place(file, state.row, name, opened.annotations.version())
        marks = _marks(opened.state, state.row, name, tags)
        places.append(unsaved.Place(f"row {state.row}", marks, _controls(place, tags)))
    if _may_tag_all(opened) and (tag := st.session_state.get("desk tag of all")):
        marks = _marks_of_all(opened, opened.rows, name, tags)
        both = [unsaved.Control(f".st-key-desk-{key} button", _mark(tag), key == "give") for key in ("give", "take")]
        places.append(unsaved.Place(f"filter {state.filter}", marks, both))

    def saved(place: str) -> unsaved.Marks:
        kind, _, which = place.partition(" ")
        if kind == "row":
            return _marks(opened.annotations.state(file), which, name, tags)
        return _marks_of_all(opened, rows_of(which, opened.table), name, tags)

    unsaved.keep(file, places, saved)


def _controls(place: str, tags: Sequence[str]) -> list[unsaved.Control]:
    """The widgets of a row's marks."""
    at = {kind: f".st-key-desk-{kind}-{place.replace(' ', '-')}" for kind in ("tags", "seen", "report", "note")}
    pills = [
        unsaved.Control(f"{at['tags']} button:nth-of-type({number})", _mark(tag), key=str(number))
        for number, tag in enumerate(tags, start=1)
    ]
    boxes = ("seen", "label", _DONE), ("report", "label", _REPORT), ("note", "textarea", _NOTE)
    return [*pills, *(unsaved.Control(f"{at[kind]} {box}", mark) for kind, box, mark in boxes)]


def _mark(tag: str) -> str:
    return f"The tag “{tag}”"


def _marks(state: FileState, row: str, name: str, tags: Sequence[str]) -> unsaved.Marks:
    """What an annotator set on a row."""
    people = state.row(row)
    given = {_mark(tag): name in people.tags.get(tag, ()) for tag in tags}
    done = name in (people.done if state.blind(name) else people.looked)
    return given | {_DONE: done, _REPORT: row in state.reported, _NOTE: people.notes.get(name, "")}


def _marks_of_all(opened: OpenRun, rows: np.ndarray, name: str, tags: Sequence[str]) -> unsaved.Marks:
    """The tags that an annotator gave to each of these rows (true), to none (false) or to some (None)."""
    keys = [opened.run.keys[place] for place in np.flatnonzero(rows)]
    given = [opened.state.rows[key].tags_of(name) for key in keys if key in opened.state.rows]
    counts = Counter(tag for own in given for tag in own)
    known = {0: False, len(keys): True}
    return {_mark(tag): known.get(counts[tag]) for tag in tags} if keys else {}


def history(opened: OpenRun, events: list[Event], limit: int = 30) -> None:
    """The latest changes, each with an undo button."""

    def undo(number: int) -> None:
        attempt(lambda: opened.annotations.undo(annotator.name(), number))

    for event in events[:limit]:
        left, right = st.columns([4, 1], vertical_alignment="center", gap="small")
        with left:
            lines([sentence(event)])
        right.button(
            "Undo",
            key=f"desk undo {event.id}",
            on_click=undo,
            args=(event.id,),
            type="tertiary",
            disabled=event.undone or not annotator.name(),
        )


def sentence(event: Event) -> str:
    """A change in words."""
    before, after, tag = event.before, event.value, f"“{event.tag}”"
    match event.subject.kind:
        case "looked":
            done = "marked it as done" if after else "marked it as not done"
        case "tag":
            done = f"{'gave' if after else 'took away'} {tag}"
        case "note":
            done = f"wrote “{after}”" if after else "deleted the note"
        case "settled":
            done = f"settled {tag}: {after or 'open again'}"
        case "reported":
            done = "put it into the report" if after else "took it out of the report"
        case "slice":
            done = f"saved as {after}" if after else "deleted"
        case "tag name" if before and after:
            done = f"renamed “{before}” to “{after}”"
        case "tag name":
            done = f"added “{after}”" if after else f"removed “{before}” from the tags"
        case "dealt" | "blind":
            done = f"set {event.subject.kind}: {after}"
        case "tag definition":
            done = f"defined {tag}: {after}" if after else f"deleted the definition of {tag}"
        case "tag merged":
            done = f"merged {tag} into another" if after else f"split {tag} off again"
        case _:
            done = f"removed the name of {after}"
    undoing = " (undoing)" if event.undoes else ""
    about = "slice" if event.subject.kind == "slice" else "row"
    row = f"{about} {event.subject.row}: " if event.subject.row else ""
    return f"{event.at:%Y-%m-%d %H:%M} {event.author}: {row}{done}{undoing}{', undone' if event.undone else ''}"
