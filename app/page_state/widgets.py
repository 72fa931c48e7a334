"""Widgets that show and change one field of a page's state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import streamlit as st

from app import page_style
from app.page_state.session import PageSession


def choice(page: PageSession[Any], field: str, label: str, names: Mapping[str, str], *, opens: bool = False) -> None:
    """Buttons for the values of a field, labelled with display names; ``opens``: a select box instead."""
    values, value = list(names), getattr(page.state, field)
    index = values.index(value) if value in values else None
    if opens:
        named = page.widget(field, key=labelled(page, names))
        st.selectbox(label, values, index, format_func=names.__getitem__, **named)
    else:
        st.radio(label, values, index, format_func=lambda one: page_style.plain(names[one]), **page.widget(field))


def labelled(page: PageSession[Any], names: Mapping[Any, str]) -> Callable[[str], str]:
    """Keys for a select box over options with these labels. The browser sends back a label, so once one has changed, as
    when somebody renames a model, the box must be a new widget: an old label would count as no choice."""
    return lambda name: f"{page.key(name)} {hash(tuple(names.items()))}"


def segments(page: PageSession[Any], field: str, label: str, names: Mapping[Any, str], **more: Any) -> None:
    """Like :func:`choice`, as a segmented control in which one option is always chosen."""
    value = getattr(page.state, field)
    st.segmented_control(
        label,
        list(names),
        default=value,
        format_func=lambda one: page_style.plain(names[one]),
        required=True,
        **more,
        **page.widget(field),
    )


@contextmanager
def folded(label: str, key: str, *, expanded: bool = False) -> Iterator[bool]:
    """An expander; yields whether it is open. Its content is sent to the browser only while open, because every run of
    a page sends all elements again."""
    with st.expander(label, expanded, key=key, on_change="rerun") as part:
        yield bool(part.open)
