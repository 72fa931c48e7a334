"""Labels by people: one row at a time with the classes and their keys, agreement, and disagreements to decide."""

from __future__ import annotations

from functools import partial
from hashlib import blake2b

import numpy as np
import streamlit as st

from app import page_style
from app.desk import all_tags, annotator, drawing, label_check, label_classes, suggesting, unsaved
from app.desk.open_run import PAGE, OpenRun, attempt, lines, row_title, show, switch
from app.desk.row_tags import history, widget_key
from app.desk.rows import STYLE, ordered
from app.pair_form import once
from core.data import Example
from core.desk import charts
from core.desk.agreement import label_agreement, label_disagreements
from core.desk.classes import SKIPPED, UNSURE
from core.desk.file_state import FileState
from core.desk.schema import LONGEST_NOTE, check_row
from core.errors import DeskError
from core.templates import render
from core.wording import counted

MOST_DECIDED = 10
"""Maximum number of disagreements listed at once."""
_RECENT = 20
"""Number of previously labelled rows whose labels the browser checks against the log."""
_MARK, _NOTE, _DECISION = "Your label", "Your note", "Your decision about the label"
_WORDS = {UNSURE: "(unsure)", SKIPPED: "(left for later)"}
_STYLE = """<style>
.st-key-desk-classes button { min-height: 2.6rem; }
.st-key-desk-label-row .pl-row dd { max-height: 38vh; font-size: 1.05rem; }
@media (max-width: 760px) { .st-key-desk-label-row .pl-row dd { max-height: 24vh; } }
</style>"""


def view(opened: OpenRun) -> None:
    """Draws the view."""
    st.html(STYLE + _STYLE)
    left, right = st.container(key="side by side, labels").columns([1.6, 1], gap="large")
    with left:
        _row(opened)
    with right:
        label_classes.draw(opened)
        label_check.draw(opened)
        suggesting.draw(opened)
        all_tags.deal(opened)
        all_tags.blind_switch(opened)
        _decider(opened)
        measured = label_agreement(opened.state.rows)
        if measured:
            drawing.figures([charts.agreements(measured, "class")], "desk label agreement")
    _to_decide(opened)


def labelled(state: FileState, row: str, name: str) -> str | None:
    """The annotator's label of a row as the screen shows it; None if there is none."""
    own = state.row(row)
    if name in own.unsure | own.skipped:
        return _WORDS[UNSURE if name in own.unsure else SKIPPED]
    return own.labels.get(name)


def _queue(opened: OpenRun) -> np.ndarray:
    """The indices of the rows that the annotator may label, within the page's filter and order."""
    name = annotator.name()
    order = once("desk order", opened.order, lambda: ordered(opened))
    if not opened.state.deals_to(name):
        return order
    deal = opened.file, opened.state.hands, opened.state.packed, name
    own = once("desk deal of one", deal, lambda: opened.state.dealt_to(name, opened.run.draws))
    return order[own[order]]


def _answered(opened: OpenRun) -> tuple[np.ndarray, np.ndarray]:
    """The rows that the annotator labelled, or is unsure of, and those left for later, each bool ``[N]``."""
    name = annotator.name()
    answered, later = np.zeros(len(opened.run.keys), dtype=bool), np.zeros(len(opened.run.keys), dtype=bool)
    for key, place in opened.run.places(opened.state.rows).items():
        row = opened.state.rows[key]
        answered[place] = name in row.labels or name in row.unsure
        later[place] = name in row.skipped
    return answered, later


def _place(opened: OpenRun) -> int | None:
    """The index of the row to label: the open one, or the first without a label; None if there is none."""
    place = opened.run.place(PAGE.state.row) if PAGE.state.row else None
    return _next(opened, None) if place is None else place


def _next(opened: OpenRun, after: int | None) -> int | None:
    """The first row of the queue without the annotator's label, searching from after a row; rows left for later come
    last."""
    queue, (answered, later) = _queue(opened), _answered(opened)
    if after is not None:
        answered[after] = True
        at = np.flatnonzero(queue == after)
        queue = np.roll(queue, -int(at[0]) - 1) if len(at) else queue
    left = queue[~(answered | later)[queue]]
    suggested = suggesting.choose(opened, left)
    if suggested is not None:
        return suggested
    rest = [*left[:1], *queue[(later & ~answered)[queue]][:1]]
    return int(rest[0]) if rest else None


def _row(opened: OpenRun) -> None:
    """The row to label with its classes, or the reason why there is none."""
    name, state, place, queue = annotator.name(), opened.state, _place(opened), _queue(opened)
    done, later = (int(rows[queue].sum()) for rows in _answered(opened))
    which = f" where {PAGE.state.filter}" if opened.filter else ""
    left = f", {later:,} left for later" if later else ""
    page_style.note(f"You labelled {done:,} of {counted(len(queue), 'row')}{which}{left}.")
    if not name:
        page_style.hint("Type your name in the sidebar to label rows.")
    elif not state.classes:
        page_style.hint("Which classes can a row have? Add them here first.")
    if place is None:
        page_style.hint("No row is left to label." if done else "No row is dealt to you, or none fits the filter.")
        return
    key = opened.run.keys[place]
    try:
        check_row(key)
    except DeskError as error:
        page_style.notice([f"This row cannot be labelled: {error}."])
        return
    with st.container(key="desk-label-row"):
        _texts(opened, opened.run.dataset.rows[place], key)
        if guess := suggesting.shown_guess(opened, place):
            lines([f"The model’s guess: {guess}"])
        _buttons(opened, place, key)
        _note_and_history(opened, key)


def _texts(opened: OpenRun, row: Example, key: str) -> None:
    roles = opened.run.roles
    shown = [(roles.first, row.first), (roles.second, row.second)]
    if st.session_state.get("desk label file"):
        shown.append(("label of the file", row.shown_label or "none"))
    page_style.heading(row_title(key))
    st.html(render("desk/row.html", texts=[(role, text) for role, text in shown if text], models=()))


def _buttons(opened: OpenRun, place: int, key: str) -> None:
    """The classes, each with its key, and the other answers: unsure, later."""
    name, file, now = annotator.name(), opened.file, labelled(opened.state, key, annotator.name())
    off = not name or name in opened.state.deciders

    def give(label: int | str | None) -> None:
        guess = suggesting.guess(opened, place) if isinstance(label, int) else None
        label_classes.labelling().label(name, file, key, label, guess)
        after = place if label is None else _next(opened, place)
        _remember(key, "" if after is None else opened.run.keys[after])
        PAGE.change(row="" if after is None else opened.run.keys[after])

    def button(kind: str, text: str, label: int | str | None, shortcut: str | None, about: str = "") -> None:
        st.button(
            page_style.plain(text),
            key=_button_key(opened, key, kind),
            type="primary" if now is not None and now == _shown(opened, label) else "secondary",
            shortcut=shortcut,
            on_click=lambda: attempt(lambda: give(label)),
            disabled=off,
            help=about or None,
        )

    with st.container(key="desk-classes", horizontal=True, gap="small"):
        for at, (number, text) in enumerate(opened.state.classes.items(), start=1):
            button(f"class {number}", text, number, str(at) if at <= 9 else None)
    with st.container(horizontal=True, gap="small"):
        button("unsure", "Unsure", UNSURE, "u", "You cannot tell: the row is listed for a decision.")
        button("skip", "Skip", SKIPPED, "s", "The row comes back after the others.")
        if now is not None:
            button("back", "Take back", None, None)
        if opened.state.row(key).decision is not None:
            reopen = partial(label_classes.labelling().decide, name, file, key, None)
            st.button(
                "Take back the decision",
                key=_button_key(opened, key, "reopen"),
                type="tertiary",
                on_click=lambda: attempt(reopen),
                disabled=not name,
                help="The row is listed for a decision again if people disagree.",
            )
        st.button(
            "Previous",
            key="desk label previous",
            icon=":material/chevron_left:",
            type="tertiary",
            shortcut="Left",
            on_click=PAGE.change,
            kwargs={"row": _recent(key)},
            disabled=_recent(key) is None,
        )
        if opened.run.spellings:
            about = "Hidden, so that it does not suggest yours."
            st.checkbox("Show the file’s label", key="desk label file", help=about)


def _shown(opened: OpenRun, label: int | str | None) -> str | None:
    return opened.state.classes.get(label) if isinstance(label, int) else _WORDS.get(label or "")


def _button_key(opened: OpenRun, row: str, kind: str) -> str:
    return widget_key(f"label {kind}", (opened.file, row, annotator.name()))


def _note_key(opened: OpenRun, row: str) -> str:
    note = opened.state.row(row).notes.get(annotator.name(), "")
    return widget_key("label note", (opened.file, row, annotator.name()), note)


def _note_and_history(opened: OpenRun, key: str) -> None:
    """The note, other people's labels and notes on the row, and its history."""
    name, own, note_key = annotator.name(), opened.state.row(key), _note_key(opened, key)
    st.text_area(
        "Note",
        own.notes.get(name, ""),
        height=70,
        max_chars=LONGEST_NOTE,
        key=note_key,
        on_change=lambda: attempt(lambda: opened.annotations.note(name, opened.file, key, st.session_state[note_key])),
        disabled=not name,
    )
    lines(_said(opened.state, key, but=name))
    with st.expander("History", key="desk label history", on_change="rerun") as part:
        if part.open:
            events = opened.annotations.history(opened.file, key)
            if opened.state.blind(name) and not own.shown_to(name):
                events = [event for event in events if event.author == name]
            history(opened, events)


def _said(state: FileState, key: str, but: str = "") -> list[str]:
    """People's labels and notes on a row, one line per person."""
    own = state.row(key)
    people = sorted({*own.labels, *own.unsure, *own.notes} - {but})
    said = [f"{by}: {labelled(state, key, by) or 'no label'}" for by in people]
    said = [f"{line} – “{own.notes[by]}”" if by in own.notes else line for line, by in zip(said, people, strict=True)]
    return said + ([f"Decided by {own.decision.by}: {own.decision.label}"] if own.decision else [])


def _remember(key: str, after: str) -> None:
    """Stores the order in which rows were labelled; the row that comes ``after``, which may have been labelled before,
    is removed from it."""
    recent = [one for one in st.session_state.get("desk labelled", []) if one not in (key, after)]
    st.session_state["desk labelled"] = [*recent, *([key] if key != after else [])][-_RECENT:]


def _recent(key: str) -> str | None:
    """The row that was labelled before this one."""
    recent: list[str] = st.session_state.get("desk labelled", [])
    before = recent[: recent.index(key)] if key in recent else recent
    return before[-1] if before else None


def _decider(opened: OpenRun) -> None:
    """The switch for adjudicators, who decide instead of labelling."""
    by = annotator.name()
    decides = by in opened.state.deciders
    switch(
        "Decide on the labels of others",
        decides,
        f"desk decides {decides} {opened.annotations.version()}",
        lambda value: label_classes.labelling().decides(by, opened.file, value),
        help="You see all labels of this file, and label no rows yourself.",
        disabled=not by,
    )


def _to_decide(opened: OpenRun) -> None:
    """Rows on which annotators disagree or are unsure: texts, labels and notes, and a button for each class."""
    unsettled = label_disagreements(opened.state.rows)
    if not unsettled:
        return
    page_style.heading(f"Labels to decide: {len(unsettled):,}")
    page_style.note("Anyone may decide. The decision is stored next to the labels, and goes into the corrected file.")
    shown = unsettled[:MOST_DECIDED]
    places = opened.run.places(shown)

    def decide(row: str, number: int) -> None:
        label_classes.labelling().decide(annotator.name(), opened.file, row, number)

    for key in shown:
        row = opened.run.dataset.rows[places[key]] if key in places else None
        left, right = st.columns([1, 1], gap="medium")
        with left:
            texts = [] if row is None else [f"“{text}”" for text in (row.first, row.second) if text]
            lines([row_title(key), *texts])
        with right:
            lines(_said(opened.state, key))
            with st.container(horizontal=True, gap="small"):
                for number, name in opened.state.classes.items():
                    args = (lambda key=key, number=number: decide(key, number),)
                    one = deciding(key, str(number))
                    off = not annotator.name()
                    st.button(page_style.plain(name), key=one, on_click=attempt, args=args, disabled=off)
                values = {"row": key, "view": "labels", "filter": ""}
                st.button("Open", key=deciding(key, "open"), type="tertiary", on_click=show, kwargs=values)
    if len(unsettled) > len(shown):
        page_style.note(f"{len(unsettled) - len(shown):,} more will appear as these are decided.")


def deciding(row: str, what: str) -> str:
    """The key of a button that decides on a row."""
    return f"desk decide {blake2b(row.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()} {what}"


def keep_unsaved(opened: OpenRun) -> None:
    """Keep labels, notes and decisions in the browser until the log has them."""
    name, place = annotator.name(), _place(opened)
    if not name:
        return
    places = list[unsaved.MarkedPlace]()
    if place is not None:
        key = opened.run.keys[place]
        values = {one: one for one in map(_class, opened.state.classes)}
        values |= {"unsure": _WORDS[UNSURE], "skip": _WORDS[SKIPPED]}
        digits = {_class(number): str(at) for at, number in enumerate(opened.state.classes, start=1) if at <= 9}
        digits |= {"unsure": "u", "skip": "s"}

        def at(kind: str) -> str:
            return f".{unsaved.css_class(_button_key(opened, key, kind))} button"

        controls = [unsaved.Control(at(kind), _MARK, value, digits.get(kind, "")) for kind, value in values.items()]
        note = f".{unsaved.css_class(_note_key(opened, key))} textarea"
        controls.append(unsaved.Control(note, _NOTE))
        places.append(unsaved.MarkedPlace(f"row {key}", _marks(opened.state, key, name), controls))
    known = {one.name for one in places}
    for key in (*st.session_state.get("desk labelled", []), *label_disagreements(opened.state.rows)[:MOST_DECIDED]):
        if f"row {key}" not in known:
            decisions = [
                unsaved.Control(f".{unsaved.css_class(deciding(key, str(number)))} button", _DECISION, _class(number))
                for number in opened.state.classes
            ]
            places.append(unsaved.MarkedPlace(f"row {key}", _marks(opened.state, key, name), decisions))
            known.add(f"row {key}")

    def saved(place: str) -> unsaved.Marks:
        return _marks(opened.annotations.state(opened.file), place.partition(" ")[2], name)

    def text(mark: str, value: str) -> str:
        classes = {_class(number): name for number, name in opened.annotations.state(opened.file).classes.items()}
        return value if mark == _NOTE else classes.get(value, value)

    unsaved.keep(opened.file, places, saved, text)


def _class(number: int) -> str:
    """A class as a mark, which stays the same when the class is renamed."""
    return f"class {number}"


def _marks(state: FileState, row: str, name: str) -> unsaved.Marks:
    own, classes = state.row(row), {text: _class(number) for number, text in state.classes.items()}
    label = classes.get(own.labels[name]) if name in own.labels else labelled(state, row, name)
    decision = classes.get(own.decision.label) if own.decision else None
    return {_MARK: label, _NOTE: own.notes.get(name, ""), _DECISION: decision}
