"""A round of “Break it”: pairs that wait for the lecturer, and pairs that everybody sees."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from app import page_style
from app.rooms.page import PAGE, attempt
from core.rooms.lecturer import Lecturer, Overview
from core.rooms.phones import titles_of
from core.rooms.questions import difference
from core.rooms.room import AGREED, CHECKING, DISPUTED, Round, Sent, equal_pairs
from core.wording import counted, percent

_TEXT = "overflow-wrap: anywhere; unicode-bidi: plaintext"
WAITING, SHOWN = 5, 30
"""Pairs listed at once."""
STATUS = {AGREED: "classmates agree", DISPUTED: "classmates disagree", CHECKING: "being checked"}


def draw(own: Lecturer, seen: Overview, asked: Round) -> None:
    """The round in numbers; the pairs that wait for the lecturer, unless this page is projected; and the pairs let
    through."""
    pairs = seen.of_round()
    page_style.note(_summary(pairs))
    waiting = by_surprise([one for one in pairs if not one.shown])
    if PAGE.state.projector:
        if waiting:
            verb = "waits" if len(waiting) == 1 else "wait"
            page_style.note(f"{counted(len(waiting), 'pair')} {verb} for the lecturer.")
    else:
        _waiting(own, seen, in_place(waiting, asked.id))
        _muted(own, seen)
    _shown(own, seen, asked, [one for one in pairs if one.shown])


def by_surprise(pairs: Sequence[Sent]) -> list[list[Sent]]:
    """The pairs grouped by equal texts; pairs that fool the model come first, the most confident mistakes before
    others."""
    return sorted(equal_pairs(pairs), key=lambda same: (not same[0].fooled, -same[0].chance, same[0].id))


def in_place(waiting: Sequence[list[Sent]], asked: int) -> list[list[Sent]]:
    """The pairs in the order of the list, where pairs that were listed before keep their places: a new pair must not
    slip under a key press that was meant for another one."""
    key = f"waiting in {asked}"
    places = {number: place for place, number in enumerate(st.session_state.get(key, ()))}
    ordered = sorted(waiting, key=lambda same: places.get(same[0].id, len(places)))
    st.session_state[key] = [same[0].id for same in ordered[:WAITING]]
    return ordered


def _summary(pairs: Sequence[Sent]) -> str:
    fooled = [one for one in pairs if one.fooled]
    agreed, disputed = (sum(one.status == status for one in fooled) for status in (AGREED, DISPUTED))
    if not pairs:
        return "No pair has been sent yet."
    return (
        f"{counted(len(pairs), 'pair')}; {len(fooled)} fooled the model: {agreed} with a label that others agree with, "
        f"{disputed} with one that they do not."
    )


def _waiting(own: Lecturer, seen: Overview, waiting: Sequence[Sequence[Sent]]) -> None:
    """The pairs that wait for the lecturer: single keys let the first one through, remove it or mute its author."""
    if not waiting:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        page_style.heading(f"Waiting for you ({len(waiting)})")
        listed = waiting[:WAITING]
        every = [one.id for same in listed for one in same]
        if len(listed) > 1:
            st.button(
                f"Let these {len(listed)} through",
                type="tertiary",
                key=f"these {every}",
                on_click=attempt,
                args=(lambda: own.let_through(every),),
            )
    for place, same in enumerate(listed):
        one, numbers = same[0], [each.id for each in same]
        _line(seen, same)
        with st.container(horizontal=True, gap="small"):
            for label, key, change in (
                ("Let through", "a", lambda numbers=numbers: own.let_through(numbers)),
                ("Remove", "x", lambda numbers=numbers: own.remove(numbers)),
                ("Mute its author", "m", lambda one=one: own.mute(one.author or 0)),
            ):
                st.button(
                    label,
                    key=f"{label} {one.id}",
                    shortcut=None if place else key,
                    on_click=attempt,
                    args=(change,),
                    disabled=one.author is None,
                )


def _muted(own: Lecturer, seen: Overview) -> None:
    """The phones that the lecturer has muted, with buttons to unmute them."""
    if not seen.muted:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for number in sorted(seen.muted):
            st.button(
                f"Unmute {page_style.plain(seen.names.get(number, 'a phone'))}",
                type="tertiary",
                key=f"speaks {number}",
                help="This phone is muted: it cannot send anything, and its waiting pairs were removed.",
                on_click=attempt,
                args=(lambda number=number: own.mute(number, False),),
            )


def _shown(own: Lecturer, seen: Overview, asked: Round, pairs: Sequence[Sent]) -> None:
    """The pairs on the projector, by what differs between their texts; the most surprising first."""
    groups = defaultdict[str, list[list[Sent]]](list)
    listed = by_surprise(pairs)
    for same in listed[:SHOWN]:
        groups[difference(same[0].first, same[0].second)].append(same)
    for name, group in sorted(groups.items(), key=lambda item: -len(item[1])):
        page_style.heading(f"{name} ({len(group)})")
        for same in group:
            _line(seen, same)
            with st.container(horizontal=True, gap="small"):
                _buttons(own, asked, same)
    if len(listed) > SHOWN:
        page_style.note(f"{len(listed) - SHOWN} more are in the file that the sidebar saves.")


def _buttons(own: Lecturer, asked: Round, same: Sequence[Sent]) -> None:
    one, numbers = same[0], [each.id for each in same]
    query = {"model": asked.model, "first": one.first, "second": one.second, "projector": "on"}
    st.link_button("Open in Explore", f"explore?{urlencode(query)}", type="tertiary", icon=":material/open_in_new:")
    if PAGE.state.projector:
        return
    if one.fooled:
        agreed = one.status != AGREED
        label = "Its label is right" if agreed else "Its label is wrong"
        st.button(
            label,
            key=f"decide {one.id} {one.status}",
            type="tertiary",
            help="Your decision replaces the classmates’.",
            on_click=attempt,
            args=(lambda: own.decide(numbers, agreed),),
        )
    st.button(
        "Take off",
        key=f"off {one.id}",
        type="tertiary",
        on_click=attempt,
        args=(lambda: own.let_through(numbers, False),),
    )


def _line(seen: Overview, same: Sequence[Sent]) -> None:
    """A pair, its author's label, the model's verdict and the classmates' checks."""
    one = same[0]
    titles = {} if seen.round is None else titles_of(seen.round)
    label, verdict = (titles.get(name, name) for name in (one.label, one.verdict))
    by = "the lecturer" if one.author is None else seen.names.get(one.author, "somebody")
    verb = f"(and {len(same) - 1} more) say" if len(same) > 1 else "says"
    said = f" {verb} {label}; the model says {verdict} ({percent(one.chance)})"
    if one.fooled:
        said += f"; {STATUS.get(one.status, '')}" if one.author is not None else ""
    texts = "".join(f'<div style="{_TEXT}">{html.escape(text)}</div>' for text in (one.first, one.second))
    line = f"<bdi>{html.escape(by)}</bdi>{html.escape(said)}"
    st.html(f'{texts}<div class="pl-note" style="margin:0">{line}</div>')
