"""The open row's tags and notes (only your own are editable), whether it is in the report, and its history."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
import streamlit as st

from app import page_style
from app.browser import unseen
from app.desk import annotator, unsaved
from app.desk.open_run import PAGE, OpenRun, attempt, lines
from core.desk.agreement import TagDisagreement, disagreements
from core.desk.event_log import NO, YES, Event
from core.desk.file_state import FileState
from core.desk.filters import rows_of
from core.desk.schema import LONGEST_NOTE, check_row
from core.errors import DeskError
from core.json_types import JsonObject
from core.wording import counted

MOST_TAGGED = 10_000
"""Maximum number of filtered rows that can be tagged at once."""
MOST_SETTLED = 12
"""Maximum number of disagreements listed at once."""
_PLACES = 20
"""Number of rows whose widgets have different keys: a late browser message is never older than that."""
_DONE, _REPORT, _NOTE = "“Done”", "“In the report”", "Your note"


def widget_key(kind: str, of: object, stored: object = None) -> str:
    """The key of a widget for a mark ``of`` a row, whose ``stored`` value it shows.

    It changes with the row, and if the log changes to a value that the widget does not show. After the user's own
    changes it stays, so that no click or half-typed note is lost. A new key differs from recent ones and from other
    sessions', so that no old value persists, not even one whose server died before saving it; older keys are reused,
    because Streamlit keeps a record of each widget for the whole session."""
    known: dict[str, tuple[object, object, int]] = st.session_state.setdefault("desk widgets", {})
    before, was, number = known.get(kind, (of, stored, 0))
    shown = st.session_state.get(f"desk {kind} {unsaved.session()} {number}", stored)
    shown = sorted(shown) if isinstance(shown, list) else shown  # tags come in the order of the clicks
    if before != of or (was != stored and shown != stored):
        number = (number + 1) % _PLACES
    known[kind] = of, stored, number
    return f"desk {kind} {unsaved.session()} {number}"


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
        page_style.note("Type your name in the sidebar to tag this row, write a note or add it to the report.")
    tags = opened.annotations.taxonomy()
    taxonomy = [tag.name for tag in tags]
    own = _own(opened.state, row, name, taxonomy)
    # Updated by each change, because the next one may come before the page is drawn again.
    given, picked = {*own["tags"]}, {*own["tags"]}

    def writing(kind: str, write: Callable[[Any], None]) -> JsonObject:
        """Key and callback of a widget whose value is stored under the annotator's name."""
        key = widget_key(kind, (file, row, name), own[kind])
        return {"key": key, "on_change": lambda: attempt(lambda: write(st.session_state[key])), "disabled": not name}

    def give(tag: str, value: bool) -> None:
        opened.annotations.give(name, file, row, tag, value)
        (given.add if value else given.discard)(tag)

    def pick(tags: list[str] | None) -> None:
        for tag in picked ^ {*(tags or ())}:
            give(tag, tag not in picked)
            picked.symmetric_difference_update({tag})

    def press(tag: str) -> None:
        attempt(lambda: give(tag, tag not in given))

    keys = {tag: str(number) for number, tag in enumerate(taxonomy[:9], start=1)}
    st.pills(
        "Tags",
        taxonomy,
        selection_mode="multi",
        default=own["tags"],
        wrap=True,
        format_func=lambda tag: page_style.plain(f"{keys[tag]} {tag}" if tag in keys else tag),
        help="Keys 1 to 9 give the first nine tags and take them back.",
        **writing("tags", pick),
    )
    with unseen("tag keys"):
        for tag, digit in keys.items():
            key = widget_key(f"key {digit}", (file, row, name))
            st.button(page_style.plain(tag), key=key, shortcut=digit, on_click=press, args=(tag,), disabled=not name)
    lines(f"{tag.name}: {tag.definition}" for tag in tags if tag.definition)
    left, right = st.columns(2)
    blind, annotations = opened.state.blind(name), opened.annotations
    if blind or not given:
        left.checkbox(
            "Done" if given else "No tag applies",
            own["seen"],
            help="You reviewed the row: it counts for agreement"
            + (", and you see the others’ tags." if blind else "."),
            **writing("seen", partial(annotations.look, name, file, row)),
        )
    right.checkbox(
        "In the report",
        own["report"],
        help="The file’s report shows the row with its attention, whoever makes the report.",
        **writing("report", partial(annotations.report, name, file, row)),
    )
    st.text_area(
        "Note",
        own["note"],
        height=70,
        max_chars=LONGEST_NOTE,
        **writing("note", partial(annotations.note, name, file, row)),
    )
    others = [f"{tag}: {', '.join(sorted(by))}" for tag, by in people.tags.items() if by - {name}]
    settled = [f"Settled: {decision}" for decision in people.decisions()]
    notes = [f"Note of {by}: {text}" for by, text in people.notes.items() if by != name]
    lines([*others, *settled, *notes])
    events = annotations.history(file, row)
    if blind and name not in people.done:
        page_style.note("You see others’ tags and notes once you have marked this row as done.")
        events = [event for event in events if event.author == name]
    if events:
        lines([counted(len(events), "change")])
        # A label with the count would create a new, closed expander.
        with st.expander("History", key="desk history"):
            history(opened, events)


def keep_unsaved(opened: OpenRun) -> None:
    """Keep the annotator's marks in the browser: on the open row, on all rows of the filter, and to settle a tag."""
    name, file, state = annotator.name(), opened.file, PAGE.state
    if not name:
        return
    tags = [tag.name for tag in opened.annotations.taxonomy()]
    places = []
    if state.view == "rows" and opened.run.place(state.row) is not None:
        own = _own(opened.state, state.row, name, tags)
        keys = {kind: widget_key(kind, (file, state.row, name), value) for kind, value in own.items()}
        marks = _marks(opened.state, state.row, name, tags)
        places.append(unsaved.MarkedPlace(f"row {state.row}", marks, _controls(keys, tags)))
    if state.view == "tags":
        answers = defaultdict[str, list[unsaved.Control]](list)
        for case in to_settle(opened, tags)[:MOST_SETTLED]:
            for answer in (YES, NO):
                at = f".{unsaved.css_class(settling(case, answer))} button"
                answers[case.row].append(unsaved.Control(at, _decision(case.tag), answer))
        for row, controls in answers.items():
            places.append(unsaved.MarkedPlace(f"row {row}", _marks(opened.state, row, name, tags), controls))
    if _may_tag_all(opened) and (tag := st.session_state.get("desk tag of all")):
        marks = _marks_of_all(opened, opened.rows, name, tags)
        both = [unsaved.Control(f".st-key-desk-{key} button", _mark(tag), key == "give") for key in ("give", "take")]
        places.append(unsaved.MarkedPlace(f"filter {state.filter}", marks, both))

    def saved(place: str) -> unsaved.Marks:
        kind, _, which = place.partition(" ")
        if kind == "row":
            return _marks(opened.annotations.state(file), which, name, tags)
        return _marks_of_all(opened, rows_of(which, opened.table), name, tags)

    unsaved.keep(file, places, saved)


def _controls(keys: Mapping[str, str], tags: Sequence[str]) -> list[unsaved.Control]:
    """The widgets of a row's marks, by their keys."""
    at = {kind: f".{unsaved.css_class(key)}" for kind, key in keys.items()}
    pills = [
        unsaved.Control(f"{at['tags']} [role=toolbar] button:nth-of-type({number})", _mark(tag), key=str(number))
        for number, tag in enumerate(tags, start=1)
    ]
    boxes = ("seen", "label", _DONE), ("report", "label", _REPORT), ("note", "textarea", _NOTE)
    return [*pills, *(unsaved.Control(f"{at[kind]} {box}", mark) for kind, box, mark in boxes)]


def _mark(tag: str) -> str:
    return f"The tag “{tag}”"


def _decision(tag: str) -> str:
    return f"Your decision about “{tag}”"


def _own(state: FileState, row: str, name: str, tags: Sequence[str]) -> dict[str, Any]:
    """An annotator's marks on a row, by kind of widget."""
    people = state.row(row)
    given = [tag for tag in tags if name in people.tags.get(tag, ())]
    done = name in (people.done if state.blind(name) else people.looked)
    return {"tags": sorted(given), "seen": done, "report": row in state.reported, "note": people.notes.get(name, "")}


def _marks(state: FileState, row: str, name: str, tags: Sequence[str]) -> unsaved.Marks:
    """An annotator's marks on a row, and its settled tags."""
    own, settled = _own(state, row, name, tags), state.row(row).settled
    marks: dict[str, bool | str | None] = {_mark(tag): tag in own["tags"] for tag in tags}
    answers = {tag: YES if holds else NO for tag, holds in settled.items()}
    marks |= {_decision(tag): answers.get(tag) for tag in tags}
    return marks | {_DONE: own["seen"], _REPORT: own["report"], _NOTE: own["note"]}


def to_settle(opened: OpenRun, tags: Sequence[str]) -> list[TagDisagreement]:
    """The disagreements without a decision."""
    rows = opened.state.rows
    return [case for case in disagreements(tags, rows) if case.tag not in rows[case.row].settled]


def settling(case: TagDisagreement, answer: str) -> str:
    """The key of a button that settles a disagreement."""
    return f"desk settle {blake2b(f'{case.row} {case.tag}'.encode(), digest_size=8).hexdigest()} {answer}"


def _marks_of_all(opened: OpenRun, rows: np.ndarray, name: str, tags: Sequence[str]) -> unsaved.Marks:
    """By tag, whether an annotator gave it to all of these rows (true), to none (false) or to some (None)."""
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


_CHANGES = {
    "looked": ("marked it as done", "marked it as not done"),
    "tag": ("gave {tag}", "removed {tag}"),
    "note": ("wrote “{after}”", "deleted the note"),
    "settled": ("settled {tag}: {after}", "settled {tag}: open again"),
    "label": ("labelled it {after}", "withdrew the label {before}"),
    "guess": ("labelled it after a model", ""),
    "decided": ("decided: {after}", "withdrew the decision: {before}"),
    "decides": ("decides on the labels of others", "labels rows again"),
    "class": ("added the class “{after}”", "removed the class “{before}”"),
    "reported": ("added it to the report", "removed it from the report"),
    "slice": ("saved as {after}", "deleted"),
    "tag name": ("added “{after}”", "removed “{before}” from the tags"),
    "renamed": ("renamed “{before}” to “{after}”", ""),
    "tag definition": ("defined {tag}: {after}", "deleted the definition of {tag}"),
    "tag merged": ("merged {tag} into another", "split {tag} off again"),
    "name removed": ("removed the name of {after}", ""),
    "dealt": ("dealt the rows: {after}", "withdrew the deal"),
    "made": ("made the run", "made the run without a name"),
    "blind": ("set blind: {after}", "set blind: automatic"),
}
"""By kind of change, the words for a value that is set, and for one that is deleted."""


def sentence(event: Event) -> str:
    """A change in words."""
    kind, before, after = event.subject.kind, event.before, event.value
    renamed = kind in ("tag name", "class") and before and after
    done = _CHANGES["renamed" if renamed else kind][not after].format(tag=f"“{event.tag}”", before=before, after=after)
    undoing = " (undoing)" if event.undoes else ""
    named = event.subject.row and kind != "class"
    row = f"{'slice' if kind == 'slice' else 'row'} {event.subject.row}: " if named else ""
    return f"{event.at:%Y-%m-%d %H:%M} {event.author}: {row}{done}{undoing}{', undone' if event.undone else ''}"
