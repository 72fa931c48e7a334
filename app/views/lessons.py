"""Lessons: the numbers of a pair's attention, step by step."""

from __future__ import annotations

import copy
import dataclasses
import re
from functools import partial
from pathlib import Path

import streamlit as st

from app import components, page_style
from app.components import Frame
from app.lessons.drawing import drawn
from app.page_state.codec import unusable
from app.page_state.lessons import Changed, LessonsState
from app.page_state.session import PageSession
from app.page_state.widgets import choice
from core.checkpoint import CheckpointError
from core.json_types import JsonObject
from core.lessons import Evaluated, Lesson, LessonError, evaluate, lessons
from core.lessons.handout import handout, numbers_csv
from core.lessons.lesson import Pairs, Values, at
from core.lessons.on_cards import dev, figures
from core.reading.reader import PairError
from core.wording import counted, percent

PLACE_IN_MENU = 5

KEY = "lesson"
"""Key of the component that draws the lesson."""
TEACHING = Path(__file__).resolve().parents[2] / "docs" / "teaching.md"
MADE_FOR = "http://localhost:8501/"
"""The server that the document's links point to."""
REFUSED = "lesson refused a number"
"""Session key of the message about a rejected number."""

PAGE = PageSession(LessonsState)


def main() -> None:
    """Draws the page."""
    PAGE.open({})
    page_style.apply(PAGE)
    lesson = _lesson()
    with st.sidebar:
        choice(PAGE, "lesson", "Lesson", {name: lesson.title for name, lesson in lessons().items()})
        below = st.container()
    problems = PAGE.problems
    if refused := st.session_state.pop(REFUSED, None):
        problems.append(refused)
    if dropped := len(_lines()) - len(_own_pairs()):
        problems.append(f"{counted(dropped, 'line')} left out: each needs two sentences with a tab or | between them.")
    inputs = _inputs(lesson, PAGE.state, problems)
    texts = _texts(lesson, PAGE.state)
    try:
        with st.spinner("Computing the lesson’s numbers …"):
            evaluated = evaluate(lesson, inputs, texts)
        drawing = drawn(lesson, evaluated, texts)
    except (CheckpointError, LessonError, PairError) as error:
        page_style.notice([*problems, str(error)])
        _own()
        PAGE.write_link()
        return
    step = min(PAGE.state.step, len(lesson.steps))
    if step < PAGE.state.step:
        problems += unusable(["step"])
    PAGE.write_link()
    components.draw(
        "lesson",
        drawing,
        Frame(_about(lesson, evaluated), tuple(problems), PAGE.state.projector),
        key=KEY,
        on_selection_change=_picked,
        id=lesson.name,
        step=step,
    )
    _pairs()
    _teach()
    with below:
        stem = f"pairlens-lesson-{lesson.name}"
        for label, name, blanks in (("with blanks", "blanks", True), ("with the key", "key", False)):
            make = partial(handout, lesson, evaluated, texts, blanks)
            page_style.download(f"Handout {label}", make, f"{stem}-{name}.html", ":material/print:", framed=True)
        numbers = partial(numbers_csv, lesson, evaluated)
        page_style.download("Numbers (CSV)", numbers, f"{stem}.csv", ":material/table:", framed=True)
        # The step's model and sentences. Without them, a room begins with Explore's.
        model = lesson.steps[step - 1].opens or evaluated.checkpoint
        room = ({"model": model} if model else {}) | lesson.texts | texts
        page_style.page_link("classroom", room, "Open a room for a class")


def _lines() -> list[str]:
    """The non-empty lines of the class's own pairs."""
    return [line for line in PAGE.state.pairs.splitlines() if line.strip()]


def _own_pairs() -> Pairs:
    """The class's own pairs."""
    split = ([part.strip() for part in re.split(r"[\t|]", line)] for line in _lines())
    return tuple((pair[0], pair[1]) for pair in split if len(pair) == 2 and all(map(_has_word, pair)))


def _has_word(text: str) -> bool:
    return any(map(str.isalnum, text))


def _lesson() -> Lesson:
    """The lesson of the state; its pairs are replaced by the class's own, if there are any, at most as many."""
    lesson, own = lessons()[PAGE.state.lesson], _own_pairs()
    return dataclasses.replace(lesson, pairs=own[: len(lesson.pairs)] or lesson.pairs)


def _pairs() -> None:
    """A text box for the class's own pairs, if the lesson uses a class of pairs."""
    if not (pairs := lessons()[PAGE.state.lesson].pairs):
        return
    with st.expander("The class’s own pairs"):
        st.text_area(
            f"Up to {len(pairs)} pairs, one per line, a tab or | between the sentences",
            PAGE.state.pairs,
            height=220,
            placeholder="\n".join(" | ".join(pair) for pair in pairs),
            **PAGE.widget("pairs"),
        )
        if PAGE.state.pairs and "pairs" not in PAGE.state.address():
            page_style.note("This list is too long for a link: keep it where you copied it from.")


def _teach() -> None:
    """The plans of docs/teaching.md, with links to this server."""
    about, *plans = TEACHING.read_text(encoding="utf-8").replace(MADE_FOR, "./").split("\n## ")
    with st.expander("Teach: three plans of ninety minutes"):
        st.markdown(about.partition("\n")[2])
        titles, texts = zip(*(plan.split("\n", 1) for plan in plans), strict=True)
        for tab, text in zip(st.tabs(titles), texts, strict=True):
            tab.markdown(text)


def _texts(lesson: Lesson, state: LessonsState) -> dict[str, str]:
    """The user's sentences that replace the lesson's."""
    typed = {"first": state.first, "second": state.second}
    return {side: text for side, text in typed.items() if text and side in lesson.texts}


def _inputs(lesson: Lesson, state: LessonsState, problems: list[str]) -> Values:
    """The lesson's inputs, updated with the state's numbers; reports each number that does not fit."""
    out = copy.deepcopy(lesson.inputs)
    for name, number in state.inputs:
        parent, _, place = name.rpartition(".")
        try:
            if name.partition(".")[0] not in out or isinstance(at(out, name), list):
                raise LessonError("no number")
        except LessonError:
            problems += unusable(["inputs"])
            continue
        inner = at(out, parent) if parent else None
        if isinstance(inner, list):
            inner[int(place) - 1] = number
        else:
            out[name] = number
    return out


def _about(lesson: Lesson, evaluated: Evaluated) -> tuple[str, ...]:
    """Notes: the source of the numbers, and the accuracies of the compared models unless a step has them guessed."""
    about = f"Numbers: {evaluated.model}" if evaluated.checkpoint else "Numbers: an example with weights set by hand"
    names, accuracy = figures(lesson.compared, dev)
    compared = ", ".join(f"{name} {percent(share)}" for name, share in zip(names, accuracy, strict=True))
    notes = [about, *([f"Accuracy on SNLI dev: {compared}"] if names and "dev" not in evaluated.values else [])]
    if lesson.checkpoints and evaluated.checkpoint != lesson.checkpoints[0]:
        notes.append(f"{lesson.checkpoints[0]} is not installed: its numbers would fit the screen")
    return tuple(notes)


def _own() -> None:
    """A link back to the lesson's numbers and sentences if the user's cannot be used."""
    own = LessonsState(lesson=PAGE.state.lesson, projector=PAGE.state.projector)
    st.button("The lesson’s own numbers and sentences", on_click=lambda: PAGE.set(own))


def _with(name: str, number: float) -> Changed:
    """The changed numbers with this one added; if the lesson cannot compute with it, returns them without it and leaves
    a message for the next run, so that the display and the other numbers are unchanged."""
    changed = tuple({**dict(PAGE.state.inputs), name: number}.items())
    lesson, state = _lesson(), dataclasses.replace(PAGE.state, inputs=changed)
    try:
        evaluate(lesson, _inputs(lesson, state, []), _texts(lesson, state))
    except LessonError:
        st.session_state[REFUSED] = (
            f"With {name} = {number:g} the lesson divides by 0 or has numbers too large for a computer, so the old "
            "one stays: choose another."
        )
        return PAGE.state.inputs
    except (CheckpointError, PairError):
        pass  # the page reports it
    return changed


def _picked() -> None:
    """Takes over the browser's step, number or sentence."""
    picked = components.picked(PAGE, KEY)
    if picked.get("id") != PAGE.state.lesson:
        return
    changes: JsonObject = {"step": picked.get("step", PAGE.state.step)}
    if picked.get("input"):
        changes["inputs"] = _with(*picked["input"])
    if picked.get("own"):
        changes |= {"inputs": (), "first": "", "second": ""}
    changes |= {side: picked["texts"][side] for side in ("first", "second") if side in picked.get("texts", {})}
    PAGE.change(**changes)


main()
