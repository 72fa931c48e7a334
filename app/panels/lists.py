"""Small tables of words and numbers; every cell is shown as it is written."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.templates import render


def table(head: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[str] = ()) -> None:
    """A table whose last column is a number. ``below``: the text under each row, across all columns."""
    lines = list(zip(rows, below or [""] * len(rows), strict=True))
    st.html(render("list.html", head=head, rows=lines, by_place=False))


def by_place(head: tuple[str, str], rows: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> None:
    """A table with a line of words for each place, every word with its number."""
    st.html(render("list_by_place.html", head=head, rows=rows, by_place=True))
