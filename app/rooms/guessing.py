"""A round of guessing: the number of answers, and the class's answers once they are revealed."""

from __future__ import annotations

from typing import Any

import altair as alt
import streamlit as st

from app import charts, page_style
from app.palette import COLOURS, class_colours
from app.rooms.page import PAGE, attempt
from core.json_types import JsonObject
from core.rooms.lecturer import Lecturer, Overview
from core.rooms.phones import titles_of, told
from core.rooms.room import Round
from core.wording import percent, the


def draw(own: Lecturer, seen: Overview, asked: Round) -> None:
    """The question, the answers so far, and the button that reveals them; then the distribution."""
    word = asked.question["word"]
    if word is not None:
        looked = word["tokens"][word["side"]][word["index"]]
        page_style.note(f"Which word of {the(asked.question['roles'][1 - word['side']])} does “{looked}” look at most?")
    total = sum(seen.counts.values())
    if not asked.revealed:
        page_style.hint(f"{seen.answered} of {len(seen.names)} phones have answered.")
    elif total:
        revealed = told(asked, seen.counts)
        charts.draw(_bars(asked, revealed), PAGE.state.projector, width="stretch")
        page_style.note(_said(asked, revealed, total))
    else:
        page_style.note(_said(asked, told(asked, {}), 0))
    if PAGE.state.projector:
        return
    with st.container(horizontal=True, gap="small"):
        label = "Hide the answer again" if asked.revealed else "Reveal"
        st.button(
            label,
            type="secondary" if asked.revealed else "primary",
            key=f"reveal {asked.id} {asked.revealed}",
            shortcut=None if asked.revealed else "v",
            on_click=attempt,
            args=(lambda: own.reveal(asked.id, not asked.revealed),),
        )
        with st.popover("Raised hands"):
            _hands(own, asked)


def _hands(own: Lecturer, asked: Round) -> None:
    """Counters of raised hands for each answer, for networks that phones cannot use."""
    page_style.note("Count hands where phones cannot take part: they are added to the phones’ answers.")
    for value, title in titles_of(asked).items():
        key = f"hands {asked.id} {value}"

        def counted(value: str = value, key: str = key) -> None:
            own.count_hands(asked.id, {**asked.hands, value: int(st.session_state[key])})

        st.number_input(
            page_style.plain(title), 0, 1000, asked.hands.get(value, 0), key=key, on_change=attempt, args=(counted,)
        )


def _bars(asked: Round, revealed: JsonObject) -> Any:
    """The answers with their counts; the model's answer and the gold label are marked."""
    names = {revealed["answer"]: ["the model"]}
    if revealed["people"]:
        names.setdefault(revealed["people"], []).append("people")
    shade = int(st.context.theme.type == "dark")
    colours = [shades[shade] for shades in class_colours([one["title"] for one in revealed["counts"]])]
    if asked.question["word"] is not None:
        colours = [colours[0]] * len(colours)
    rows = [
        {"answer": " ← ".join([one["title"], *(" and ".join(by) for by in [names.get(one["value"])] if by)]), **one}
        for one in revealed["counts"]
    ]
    order = [row["answer"] for row in rows]
    y = alt.Y("answer:N", sort=order, title=None).axis(labelLimit=400, ticks=False, domain=False)
    x = alt.X("count:Q", title="answers").axis(tickMinStep=1, format="d", grid=False)
    base = alt.Chart(alt.Data(values=rows)).encode(y=y, x=x)
    fill = alt.Color("answer:N", scale=alt.Scale(domain=order, range=colours), legend=None)
    numbers = base.mark_text(align="left", dx=5, color=COLOURS["ink"][shade]).encode(text="count:Q")
    return alt.layer(base.mark_bar().encode(color=fill), numbers).properties(height=alt.Step(38))


def _said(asked: Round, revealed: JsonObject, total: int) -> str:
    titles = titles_of(asked)
    chance = "" if revealed["chance"] is None else f" ({percent(revealed['chance'])})"
    sentence = f"The model says {titles[revealed['answer']]}{chance}."
    if asked.question["word"] is not None:
        sentence = f"The model looks at “{titles[revealed['answer']]}” most{chance}."
    if total:
        same = next((one["count"] for one in revealed["counts"] if one["value"] == revealed["answer"]), 0)
        sentence += f" {same} of {total} guesses agree with it."
    if revealed["people"]:
        sentence += f" The data set’s label is {titles.get(revealed['people'], revealed['people'])}."
    return sentence
